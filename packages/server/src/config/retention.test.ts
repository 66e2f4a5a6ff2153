import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { configurationSections } from '../../../../scripts/docs/configuration.ts'
import { retention } from '../store/index.ts'
import { openConfig } from './index.ts'

const DAY_MS = 86_400_000
const open = async (retention?: unknown) =>
  (await openConfig({ ...(retention ? { retention } : {}) }, { environment: {}, folder: '/' })).retention

test('the reference says the default and the least of every time, as the server takes them', async () => {
  const sections = await configurationSections(fileURLToPath(new URL('../../../../', import.meta.url)))
  const times = (sections.find(({ title }) => title === 'retention')?.fields ?? []).filter(({ path }) => path !== 'retention')
  const said = (word: string) =>
    times.map(({ path, text }): [string, unknown] => [path.replace('retention.', ''), new RegExp(`${word} \`(\\w+)\``).exec(text)?.[1]])
  expect(await open(Object.fromEntries(said('Default')))).toEqual(retention.DEFAULT_RETENTION)
  for (const [name, least] of said('At least')) {
    await open({ [name]: least })
    await expect(open({ [name]: 'PT59M' })).rejects.toThrow(`retention.${name}: must be at least ${least}, not PT59M`)
  }
  expect(await open()).toEqual({})
})

test('one time is changed and the others stay as they are', async () => {
  expect(await open({ modelCalls: 'P90D' })).toEqual({ modelCallsMs: 90 * DAY_MS })
})

test.each([
  [{ idempotencyKeys: '1 day' }, 'retention.idempotencyKeys: must be an ISO 8601 duration of at most P400D, for example P30D, not "1 day"'],
  [{ usedSignIns: 'PT10M' }, 'retention.usedSignIns: must be at least PT1H, not PT10M'],
  [{ modelCalls: 'P401D' }, 'retention.modelCalls: must be an ISO 8601 duration of at most P400D, for example P30D, not "P401D"'],
  [{ modelCalls: 30 }, 'retention.modelCalls'],
  [{ records: 'P1D' }, 'retention.records'],
])('a time that cannot be used is refused with its place: %j', async (section, message) => {
  await expect(open(section)).rejects.toThrow(message)
})
