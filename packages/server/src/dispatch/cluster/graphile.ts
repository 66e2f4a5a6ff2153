import { Logger as GraphileLogger, runMigrations } from 'graphile-worker'
import { Pool } from 'pg'
import { claims, inMigrationLock } from '../../store/index.ts'
import { createFetches } from './fetches.ts'
import { createJobDispatch, type JobDispatch, type JobDispatchOptions } from './job-dispatch.ts'
import { openJobPool } from './job-pool.ts'
import { watchFetches } from './watch-fetches.ts'

/** Connections for jobs: two that hear of new ones, and enough to fetch and end them. */
const CONNECTIONS = 5
/** A connection that answers nothing for this long is given up: the machine behind it may have vanished without a word. */
const ANSWER_MS = 15_000

/**
 * The dispatch of a process among others, over graphile-worker.
 * @param url Of the database itself, not of a pooler.
 * @throws Error when the tables of graphile-worker cannot be made.
 */
export async function openGraphile({
  url,
  answerMs,
  ...options
}: Omit<JobDispatchOptions, 'openPool' | 'close' | 'fetches'> & { url: string; answerMs?: number }): Promise<JobDispatch> {
  const fetches = createFetches()
  const pg = await openJobConnections(url, answerMs, fetches)
  return createJobDispatch({ ...options, fetches, openPool: (pool) => openJobPool({ ...pool, pg }), close: () => pg.end() })
}

/**
 * Connections that jobs come over, to a database that has graphile-worker's tables: they are made where they are not there.
 * @param fetches Is told of each job fetch over them.
 */
export async function openJobConnections(url: string, answerMs = ANSWER_MS, fetches = createFetches()): Promise<Pool> {
  const pg = new Pool({
    connectionString: url,
    application_name: 'countersign jobs',
    max: CONNECTIONS,
    connectionTimeoutMillis: 5_000,
    query_timeout: answerMs,
    // Only with this is a connection given up, not the query alone.
    pipeline: true,
    // For those that only listen.
    keepAlive: true,
    keepAliveInitialDelayMillis: 5_000,
    // Who has a job means nothing after a crash of the database; what is to be done was written by the transaction that called for it.
    options: '-c synchronous_commit=off',
  })
  // Whoever uses a broken connection hears of it from the query.
  pg.on('error', () => {})
  pg.on('connect', (client) => {
    client.on('error', () => {})
    watchFetches(client, fetches)
  })
  try {
    const client = await pg.connect()
    // Its own migrations do not expect company.
    const work = inMigrationLock(client, async () => {
      await runMigrations({ pgPool: pg, logger: new GraphileLogger(() => () => {}) })
      await claims.addJobIndexes(client)
    })
    await work.finally(() => client.release())
    return pg
  } catch (error) {
    await pg.end()
    throw error
  }
}
