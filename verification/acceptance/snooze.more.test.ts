import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ActionList } from '@countersign/core'
import { expect, test } from 'vitest'
import { startChildServer } from '../testing/child-server.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { temporaryFolder } from '../testing/test-server.ts'

test('a killed server remembers what was snoozed, and until when', async () => {
  using folder = temporaryFolder()
  await using target = await startTarget(() => ({ status: 200, body: { id: 1 } }))
  const configFile = join(folder.path, 'countersign.json')
  writeFileSync(configFile, JSON.stringify({ tools: toolsOf(target), policy: { rules: [{ name: 'all', match: {}, verdict: 'ask' }] } }))
  const start = () => startChildServer({ configFile, dataDir: join(folder.path, 'data') })
  const first = await start()
  const [long, short] = [
    await first.admin.post('/api/actions', { tool: 'keyed', arguments: { what: 'x' } }),
    await first.admin.post('/api/actions', { tool: 'keyed', arguments: { what: 'y' } }),
  ]
  const snooze = await first.admin.post(`/api/actions/${long.id}/snooze`, { for: 'PT1H' })
  await first.admin.post(`/api/actions/${short.id}/snooze`, { for: 'PT1S' })
  await first.kill()

  await using second = await start()
  const mine = async () => ((await second.admin.get('/api/actions?mine=true')) as ActionList).items.map(({ id }) => id)
  await expect.poll(mine).toEqual([short.id])
  expect((await second.admin.get('/api/snoozes')).items).toEqual([snooze])
})
