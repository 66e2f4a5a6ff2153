import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { retention } from '../store/index.ts'
import { openConfig } from './index.ts'

const DAY_MS = 86_400_000
const open = async (retention?: unknown) =>
  (await openConfig({ ...(retention ? { retention } : {}) }, { environment: {}, folder: '/' })).retention

test('every time in the example of the documentation is the default, and another one is taken', async () => {
  const page = readFileSync(new URL('../../../../docs/guides/retention.md', import.meta.url), 'utf8')
  const [, example = ''] = /```yaml\nretention:\n(.*?)```/s.exec(page) ?? []
  const written = Object.fromEntries([...example.matchAll(/^ {2}(\w+): (\S+)/gm)].map(([, name, value]) => [name, value]))
  expect(Object.keys(written)).toHaveLength(7)
  expect(await open(written)).toEqual(retention.DEFAULT_RETENTION)
  expect(await open({ modelCalls: 'P90D' })).toEqual({ modelCallsMs: 90 * DAY_MS })
  expect(await open()).toEqual({})
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
