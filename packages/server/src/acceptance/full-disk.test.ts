import { randomBytes } from 'node:crypto'
import type { Action } from '@countersign/core'
import { expect, inject, test } from 'vitest'
import { findOwner } from '../testing/postgres.ts'
import { mountSmallDisk, type SmallDisk } from '../testing/small-disk.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { openTestDatabase } from '../testing/test-database.ts'
import { startTestServer, temporaryFolder } from '../testing/test-server.ts'

const isPostgres = inject('database') === 'postgres'
const WHY_SKIPPED = 'no small file system can be mounted here (needs root)'

/** Puts a server's data on a disk. */
async function placeOn({ path }: SmallDisk, stack: AsyncDisposableStack) {
  if (!isPostgres) return { dataDir: path, environment: {} }
  const { url } = stack.use(await openTestDatabase({ folder: path }))
  return { dataDir: stack.use(temporaryFolder()).path, environment: { DATABASE_URL: url } }
}

function mount(bytes: number): SmallDisk | undefined {
  const { uid, gid } = findOwner()
  return mountSmallDisk(bytes, isPostgres && uid !== undefined && gid !== undefined ? { uid, gid } : undefined)
}

test('D1.3 on a full disk nothing is granted and nothing half stored; with room again the same decision counts, and runs once', async ({
  skip,
}) => {
  await using stack = new AsyncDisposableStack()
  using disk = mount(isPostgres ? 40_000_000 : 6_000_000)
  if (!disk) return skip(WHY_SKIPPED)
  const target = stack.use(await startTarget(() => ({ status: 200, body: { id: 1 } })))
  const server = stack.use(await startTestServer({ config: { tools: toolsOf(target) }, place: await placeOn(disk, stack) }))
  const propose = (what: string) => server.admin.send('POST', '/api/actions', { body: { tool: 'keyed', arguments: { what } } })
  const waiting: Action = await server.admin.post('/api/actions', { tool: 'keyed', arguments: { what: 'early' } })

  disk.leave(300_000)
  const accepted: string[] = []
  let refused: Awaited<ReturnType<typeof propose>> | undefined
  for (let n = 0; !refused && n < 200; n++) {
    const answer = await propose(`${n} ${randomBytes(30_000).toString('hex')}`)
    if (answer.status === 507) refused = answer
    else accepted.push(answer.body.id)
  }
  expect(refused?.body).toMatchObject({ code: 'storage_full', status: 507 })
  // Small things may still find room. Granted is only what was stored, and what was not stored is not granted.
  const decision = await server.admin.send('POST', `/api/actions/${waiting.id}/decision`, { body: { verdict: 'approve' } })
  const { state } = await server.admin.get(`/api/actions/${waiting.id}`)
  if (decision.status === 507) {
    expect(state).toBe('proposed')
    expect(target.writes).toEqual([])
  } else expect(decision.status).toBe(200)
  if (!isPostgres) expect(decision.status).toBe(507)
  const { items } = await server.admin.get('/api/actions?limit=200')
  expect(items.map(({ id }: Action) => id).sort()).toEqual([waiting.id, ...accepted].sort())

  disk.free()
  await server.admin.post(`/api/actions/${waiting.id}/decision`, { verdict: 'approve' })
  expect(await server.admin.get(`/api/actions/${waiting.id}?wait=10&until=settled`)).toMatchObject({ state: 'succeeded', attempt: 1 })
  expect(target.writes).toHaveLength(1)
  await server.admin.post('/api/actions', { tool: 'keyed', arguments: { what: 'late' } })
})
