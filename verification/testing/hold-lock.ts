import { Client } from 'pg'
import { expect } from 'vitest'
import type { TestServer } from './test-server.ts'

/**
 * Whoever waits for a lock of this database: the server of the test run has the databases of other tests, too. Those who sign the record
 * wait for each other at any time, and for nothing that a test holds.
 */
export const WAITING = `select 1 from pg_locks where locktype = 'advisory' and not granted
  and database = (select oid from pg_database where datname = current_database())
  and (classid::bigint << 32 | objid::bigint) <> hashtextextended('audit_head', 4319)`

/** Holds what transactions wait for before they write about an action or a session, or before they act by a right: `rights`. */
export async function holdLock(server: Pick<TestServer, 'database'>, id: string) {
  if (server.database.kind !== 'postgres') throw new Error('only on Postgres does a transaction wait')
  const client = new Client({ connectionString: server.database.url })
  await client.connect()
  await client.query('begin')
  await client.query('select pg_advisory_xact_lock(hashtextextended($1, 4319))', [id])
  const waiting = async () => (await client.query(WAITING)).rowCount
  return {
    isWaitedFor: (by = 1) => expect.poll(waiting, { interval: 10 }).toBe(by),
    /** Changes something as another process does, which others see once it lets go. */
    change: (text: string, values: unknown[]) => client.query(text, values),
    async commit() {
      await client.query('commit')
      await client.end()
    },
    async letGo() {
      await client.query('rollback')
      await client.end()
    },
  }
}

/** Revokes a key as another process does while it holds the lock, and lets go with that. */
export async function endKey(held: Awaited<ReturnType<typeof holdLock>>, keyId: string): Promise<void> {
  await held.change('update api_key set revoked_at = 1 where id = $1', [keyId])
  await held.commit()
}
