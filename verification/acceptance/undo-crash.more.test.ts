import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Action } from '@countersign/core'
import { expect, test } from 'vitest'
import { CRASH_VARIABLES } from '../crash/crash-at.ts'
import { startChildServer } from '../testing/child-server.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { openServerDatabase } from '../testing/test-database.ts'
import { temporaryFolder } from '../testing/test-server.ts'

const CRASH_AT = new URL('../crash/crash-at.ts', import.meta.url).href

test('a server that is killed in the grace period starts the action once after it, and an approval that was taken back never', async () => {
  await using target = await startTarget(() => ({ status: 200, body: { id: 1 } }))
  using data = temporaryFolder()
  await using database = await openServerDatabase()
  const configFile = join(data.path, 'countersign.json')
  writeFileSync(configFile, JSON.stringify({ tools: toolsOf(target), policy: { rules: [] } }))
  const options = { configFile, dataDir: data.path, environment: database.environment }
  // It dies as soon as the second approval is stored: however slow this machine is, that is within the grace period.
  const crash = {
    [CRASH_VARIABLES.reached]: join(data.path, 'reached.txt'),
    [CRASH_VARIABLES.crash]: JSON.stringify({ point: 'decide.after_store', nth: 2 }),
  }
  let server = await startChildServer({
    ...options,
    environment: { ...options.environment, ...crash },
    nodeArgs: ['--import', CRASH_AT],
  })
  const propose = (): Promise<Action> => server.admin.post('/api/actions', { tool: 'unkeyed', arguments: { what: 'x' } })
  const [kept, undone] = [await propose(), await propose()]
  await server.admin.post(`/api/actions/${undone.id}/decision`, { verdict: 'approve', startAfter: 'PT10M' })
  await server.admin.post(`/api/actions/${undone.id}/undo`)
  const decided = server.admin.post(`/api/actions/${kept.id}/decision`, { verdict: 'approve', startAfter: 'PT3S' })
  await expect(decided).rejects.toThrow()
  await server.kill()
  expect(target.writes).toEqual([])

  server = await startChildServer(options)
  await using _ = server
  const ended: Action = await server.admin.get(`/api/actions/${kept.id}?wait=60&until=settled`)
  expect(ended).toMatchObject({ state: 'succeeded', attempt: 1, revision: 1 })
  expect(await server.admin.get(`/api/actions/${undone.id}`)).toMatchObject({ state: 'proposed', revision: 2, votes: [] })
  expect(target.writes).toHaveLength(1)
})
