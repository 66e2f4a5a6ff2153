import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, inject, test } from 'vitest'
import { type ChildServer, startChildServer } from '../testing/child-server.ts'
import { type Receiver, startReceiver } from '../testing/receiver.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { openServerDatabase } from '../testing/test-database.ts'
import { temporaryFolder } from '../testing/test-server.ts'

// Only Postgres allows several processes on one database.
const onPostgres = test.skipIf(inject('database') !== 'postgres')

/** Opens server processes on one database. */
async function openProcesses() {
  const stack = new AsyncDisposableStack()
  const folder = stack.use(temporaryFolder())
  const { environment } = stack.use(await openServerDatabase())
  const target = stack.use(await startTarget(() => ({ status: 200, body: { id: 1 } })))
  const configFile = join(folder.path, 'countersign.json')
  writeFileSync(configFile, JSON.stringify({ tools: toolsOf(target), network: { allow: ['127.0.0.1'] } }))
  return {
    start: async () => stack.use(await startChildServer({ configFile, dataDir: join(folder.path, 'data'), environment })),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

const add = ({ admin }: ChildServer, { url }: Receiver) =>
  admin.post('/api/webhooks', { url, events: ['action.proposed', 'action.settled'] })
const propose = ({ admin }: ChildServer, what: number) => admin.post('/api/actions', { tool: 'keyed', arguments: { what: `${what}` } })
const told = ({ events }: Receiver) => new Set(events.map(({ body }) => body.data.actionId))

test('no event is lost when the server is killed between what happened and its delivery', { timeout: 600_000 }, async () => {
  await using all = await openProcesses()
  // The first deliveries get no answer, so the process that claimed them dies while they are open.
  let isSilent = true
  await using receiver = await startReceiver((response) => (isSilent ? undefined : response.writeHead(204).end()))
  let server = await all.start()
  const { id } = await add(server, receiver)
  const proposed: string[] = []
  for (let round = 0; round < 5; round++) {
    const made = await Promise.all([0, 1, 2].map((n) => propose(server, 10 * round + n)))
    proposed.push(...made.map((action) => action.id))
    // Kills at once, or with some requests active.
    if (round % 2 === 1) await expect.poll(() => receiver.events.length).toBeGreaterThan(0)
    await server.kill()
    server = await all.start()
  }
  isSilent = false
  await server.kill()
  server = await all.start()
  await expect
    .poll(async () => (await server.admin.get(`/api/webhooks/${id}/deliveries?state=delivered&limit=200`)).items.length)
    .toBe(proposed.length)
  expect([...told(receiver)].sort()).toEqual(proposed.sort())
})

onPostgres(
  'of several processes one sends each event, and what one that died had claimed another sends',
  { timeout: 600_000 },
  async () => {
    await using all = await openProcesses()
    let isSilent = false
    await using receiver = await startReceiver((response) => (isSilent ? undefined : response.writeHead(204).end()))
    const [one, two, three] = [await all.start(), await all.start(), await all.start()]
    await add(one, receiver)
    const servers = [one, two, three]
    await Promise.all(Array.from({ length: 60 }, (_, n) => propose(servers[n % 3] ?? one, n)))
    await expect.poll(() => told(receiver).size).toBe(60)
    for (const { admin } of servers) await admin.get('/api/webhooks')
    expect(receiver.ids()).toHaveLength(60)

    isSilent = true
    const action = await propose(two, 100)
    await expect.poll(() => told(receiver).has(action.id)).toBe(true)
    await two.kill()
    isSilent = false
    const tries = () => receiver.events.filter(({ body }) => body.data.actionId === action.id)
    await expect.poll(() => tries().length).toBe(2)
    expect(new Set(tries().map(({ headers }) => headers['webhook-id'])).size).toBe(1)
  },
)
