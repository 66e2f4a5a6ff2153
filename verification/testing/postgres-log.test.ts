import { Client } from 'pg'
import { expect, test } from 'vitest'
import { openTestDatabase, takeCircles } from './test-database.ts'

const WAITING = `select 1 from pg_locks where locktype = 'advisory' and not granted
  and database = (select oid from pg_database where datname = current_database())`

test('a test fails in whose database transactions waited for each other in a circle, also when nobody was ended for it', async () => {
  const clients: Client[] = []
  const connect = async (url: string) => {
    const client = new Client({ connectionString: url })
    await client.connect()
    clients.push(client)
    return (text: string) => client.query(text)
  }
  const database = await openTestDatabase({ isEmpty: true })
  const [one, two, three] = [await connect(database.url), await connect(database.url), await connect(database.url)]
  for (const run of [one, two, three]) await run('begin')
  await one('select pg_advisory_xact_lock_shared(1)')
  await two('select pg_advisory_xact_lock(2)')
  const changes = three('select pg_advisory_xact_lock(1)')
  // The second waits only because it queues behind the third: the server lets it pass, and everybody goes on.
  await waitingIn(database.url, 1)
  const both = [two('select pg_advisory_xact_lock_shared(1)'), one('select pg_advisory_xact_lock(2)')] as const
  await both[0]
  await two('commit')
  await both[1]
  await one('commit')
  await changes
  await Promise.all(clients.map((client) => client.end()))
  await expect(database[Symbol.asyncDispose]()).rejects.toThrow(/waited for each other in a circle:\n.*avoided deadlock/)
  expect(await takeCircles(database.url)).toEqual([])
})

async function waitingIn(url: string, count: number): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  const waiting = async () => (await client.query(WAITING)).rowCount
  await expect.poll(waiting, { interval: 5 }).toBe(count)
  await client.end()
}
