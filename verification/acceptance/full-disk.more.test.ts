import { randomBytes } from 'node:crypto'
import { type Action, assert } from '@countersign/core'
import { expect, inject, test } from 'vitest'
import { findOwner } from '../testing/postgres.ts'
import { mountSmallDisk, type SmallDisk } from '../testing/small-disk.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { openTestDatabase } from '../testing/test-database.ts'
import { startTestServer, temporaryFolder } from '../testing/test-server.ts'

const isPostgres = inject('database') === 'postgres'
const WHY_SKIPPED = 'no small file system can be mounted here (needs root)'

/** Puts a server's data on a small disk. */
async function placeOn({ path }: SmallDisk, stack: AsyncDisposableStack) {
  if (!isPostgres) return { dataDir: path, environment: {} }
  const { url } = stack.use(await openTestDatabase({ folder: path }))
  return { dataDir: stack.use(temporaryFolder()).path, environment: { DATABASE_URL: url } }
}

function mount(bytes: number): SmallDisk | undefined {
  const { uid, gid } = findOwner()
  return mountSmallDisk(bytes, isPostgres && uid !== undefined && gid !== undefined ? { uid, gid } : undefined)
}

test('on a full disk nothing is granted and nothing half stored, and readyz and the metrics say so; with room again the same decision counts, and runs once', async ({
  skip,
}) => {
  await using stack = new AsyncDisposableStack()
  using disk = mount(isPostgres ? 40_000_000 : 6_000_000)
  if (!disk) return skip(WHY_SKIPPED)
  const target = stack.use(await startTarget(() => ({ status: 200, body: { id: 1 } })))
  const server = stack.use(await startTestServer({ config: { tools: toolsOf(target) }, place: await placeOn(disk, stack) }))
  const isInTrouble = async () => (await server.admin.send('GET', '/metrics')).text.includes('\ncountersign_trouble 1\n')
  const propose = (what: string) => server.admin.send('POST', '/api/actions', { body: { tool: 'keyed', arguments: { what } } })
  const waiting: Action[] = []
  while (waiting.length < 20) {
    waiting.push(await server.admin.post('/api/actions', { tool: 'keyed', arguments: { what: `early ${waiting.length}` } }))
  }
  const approve = ({ id }: Action) => server.admin.send('POST', `/api/actions/${id}/decision`, { body: { verdict: 'approve' } })

  disk.leave(300_000)
  const accepted: string[] = []
  let refused: Awaited<ReturnType<typeof propose>> | undefined
  for (let n = 0; !refused && n < 200; n++) {
    const answer = await propose(`${n} ${randomBytes(30_000).toString('hex')}`)
    if (answer.status === 507) refused = answer
    else accepted.push(answer.body.id)
  }
  expect(refused?.body).toMatchObject({ code: 'storage_full', status: 507 })
  expect((await server.admin.send('GET', '/readyz')).body).toMatchObject({ code: 'not_ready', status: 503 })
  expect(await isInTrouble()).toBe(true)
  // Small writes may still fit for a while. An approval counts only if it was stored.
  let ungranted: Action | undefined
  for (const action of waiting) {
    const { status } = await approve(action)
    if (status === 507) ungranted = action
    else expect(status).toBe(200)
    if (ungranted) break
  }
  if (!isPostgres) expect(ungranted).toBeDefined()
  const { items } = await server.admin.get('/api/actions?limit=200')
  expect(items.map(({ id }: Action) => id).sort()).toEqual([...waiting.map(({ id }) => id), ...accepted].sort())
  const writesOf = ({ arguments: { what } }: Action) => target.writes.filter(({ body }) => (body as { what: string }).what === what)
  if (ungranted) {
    expect(await server.admin.get(`/api/actions/${ungranted.id}`)).toMatchObject({ state: 'proposed' })
    expect(writesOf(ungranted)).toEqual([])
  }

  disk.free()
  await expect.poll(() => server.admin.get('/readyz')).toEqual({ status: 'ok' })
  expect(await isInTrouble()).toBe(false)
  const last = ungranted ?? waiting.at(-1)
  assert(last, 'something waits')
  await approve(last)
  // One that was approved while there was room may have had an answer that no longer fitted: it was sent again under its key.
  const settled = await server.admin.get(`/api/actions/${last.id}?wait=60&until=settled`)
  expect(settled).toMatchObject({ state: 'succeeded', ...(ungranted && { attempt: 1 }) })
  expect(writesOf(last)).toHaveLength(1)
  // Actions approved while there was room were sent, none of them twice.
  const sent = target.writes.map(({ body }) => (body as { what: string }).what)
  expect(sent).toHaveLength(new Set(sent).size)
  await server.admin.post('/api/actions', { tool: 'keyed', arguments: { what: 'late' } })
})
