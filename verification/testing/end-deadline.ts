import { sql } from 'kysely'
import { type Database, openBeside } from '../../packages/server/src/store/index.ts'
import { settled, waiting } from './decisions.ts'
import { raw } from './temp-store.ts'
import type { TestServer } from './test-server.ts'

/**
 * Ends the deadline of an action, or the hold of a client that is carrying it out. One so short that it passes during a test may pass on a slow
 * machine before the test has come to it. The server notices with its next look at what is due.
 */
export async function endDeadline(database: Database, actionId: string): Promise<void> {
  const store = await openBeside(database)
  try {
    // The server's clock may be behind this one, because on Postgres it estimates the database's.
    const past = Date.now() - 60_000
    await store.transact(() => raw(sql`update action set expires_at = ${past}, due_at = ${past} where id = ${actionId}`))
  } finally {
    await store.close()
  }
}

/** Lets the one action that waits expire. @param server With the tools of a target. */
export async function expireWaiting(server: TestServer): Promise<void> {
  const { id } = await waiting(server)
  await endDeadline(server.database, id)
  // A new deadline makes the server look for everything due.
  await server.admin.post('/api/actions', { tool: 'keyed', arguments: { what: 'soon' }, expiresIn: 'PT1S' })
  const { state } = await settled(server, id)
  if (state !== 'expired') throw new Error(`the action ${id} is ${state}, not expired`)
}
