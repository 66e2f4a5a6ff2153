import { Logger as GraphileLogger, runMigrations } from 'graphile-worker'
import { Pool } from 'pg'
import { claims, inMigrationLock } from '../../store/index.ts'
import { createFetches, type Fetches } from './fetches.ts'
import { createJobDispatch, type JobDispatch, type JobDispatchOptions } from './job-dispatch.ts'
import { openJobPool } from './job-pool.ts'
import { watchFetches } from './watch-fetches.ts'

/** Connections for jobs: two that listen for new jobs, and enough to fetch and complete them. */
const CONNECTIONS = 5
/** A connection without an answer for this long is closed: the machine behind it may have disappeared. */
const ANSWER_MS = 15_000

/**
 * Creates the dispatch of one of several processes, on graphile-worker.
 * @param url Of the database itself, not of a pooler.
 * @throws Error when the tables of graphile-worker cannot be created.
 */
export async function openGraphile({
  url,
  answerMs,
  fetches = createFetches(),
  ...options
}: Omit<JobDispatchOptions, 'openPool' | 'close' | 'fetches'> & {
  url: string
  answerMs?: number
  fetches?: Fetches
}): Promise<JobDispatch> {
  const pg = await openJobConnections(url, answerMs, fetches)
  return createJobDispatch({ ...options, fetches, openPool: (pool) => openJobPool({ ...pool, pg }), close: () => pg.end() })
}

/**
 * Opens connections for jobs to a database, and creates graphile-worker's tables where they are missing.
 * @param fetches Receives each job fetch over these connections.
 */
export async function openJobConnections(url: string, answerMs = ANSWER_MS, fetches = createFetches()): Promise<Pool> {
  const pg = new Pool({
    connectionString: url,
    application_name: 'countersign jobs',
    max: CONNECTIONS,
    connectionTimeoutMillis: 5_000,
    query_timeout: answerMs,
    // This setting closes the connection; the others only cancel the query.
    pipeline: true,
    // For connections that only listen.
    keepAlive: true,
    keepAliveInitialDelayMillis: 5_000,
    // Job ownership means nothing after a crash of the database; the transaction that required the work has recorded it durably.
    options: '-c synchronous_commit=off',
  })
  // Pool errors surface in the next query, so the event is ignored here.
  pg.on('error', () => {})
  pg.on('connect', (client) => {
    client.on('error', () => {})
    watchFetches(client, fetches)
  })
  try {
    const client = await pg.connect()
    // Its own migrations do not expect concurrent runs.
    const work = inMigrationLock(client, async () => {
      await runMigrations({ pgPool: pg, logger: new GraphileLogger(() => () => {}) })
      await claims.addJobIndexes(client)
      await claims.addJobKinds(client, ['advance', 'execute'])
    })
    await work.finally(() => client.release())
    return pg
  } catch (error) {
    await pg.end()
    throw error
  }
}
