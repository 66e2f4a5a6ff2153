import { Logger as GraphileLogger, runMigrations } from 'graphile-worker'
import { Pool } from 'pg'
import { inMigrationLock } from '../store/index.ts'
import { createJobDispatch, type JobDispatch, type JobDispatchOptions } from './job-dispatch.ts'
import { openJobPool } from './job-pool.ts'

/** Connections for jobs: two that hear of new ones, and enough to fetch and end them. */
const CONNECTIONS = 5

/**
 * The dispatch of a process among others, over graphile-worker.
 * @param url Of the database itself, not of a pooler.
 * @throws Error when the tables of graphile-worker cannot be made.
 */
export async function openGraphile({
  url,
  ...options
}: Omit<JobDispatchOptions, 'openPool' | 'close'> & { url: string }): Promise<JobDispatch> {
  const pg = await openConnections(url)
  return createJobDispatch({ ...options, openPool: (pool) => openJobPool({ ...pool, pg }), close: () => pg.end() })
}

async function openConnections(url: string): Promise<Pool> {
  const pg = new Pool({
    connectionString: url,
    application_name: 'countersign jobs',
    max: CONNECTIONS,
    connectionTimeoutMillis: 5_000,
    // Who has a job means nothing after a crash of the database; what is to be done was written by the transaction that called for it.
    options: '-c synchronous_commit=off',
  })
  // Whoever uses a broken connection hears of it from the query.
  pg.on('error', () => {})
  pg.on('connect', (client) => void client.on('error', () => {}))
  const client = await pg.connect()
  try {
    // Its own migrations do not expect company.
    await inMigrationLock(client, () => runMigrations({ pgPool: pg, logger: new GraphileLogger(() => () => {}) }))
  } finally {
    client.release()
  }
  return pg
}
