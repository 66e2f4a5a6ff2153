import { randomUUID } from 'node:crypto'
import { Client, DatabaseError } from 'pg'
import type { Clock } from '../../clock.ts'
import { LASTING_OPTIONS } from './lasting-connection.ts'

const ANSWER_MS = 5_000
const AWAY_MS = 10_000
const RETRY_MS = 250

/**
 * Checks that session state stays with a connection, which locks and notices require.
 * @param client Connected to `url`.
 * @param variable The setting that named the address, for the error.
 * @throws Error when a pooler assigns each transaction another connection, or rejects settings.
 */
export async function requireOwnSession(client: Client, url: string, variable: 'DATABASE_URL' | 'DATABASE_DIRECT_URL'): Promise<void> {
  const backend = await backendOf(client)
  // The database names the process that serves a connection when it opens. A pooler invents a number.
  if ('processID' in client && client.processID === backend) return
  let cause: unknown
  try {
    // While a transaction holds the first backend, a second connection through a pooler shares it or not.
    const isShared = await onConnection(url, { options: LASTING_OPTIONS }, async (second) => {
      await second.query('begin')
      return (await backendOf(second)) === backend || (await backendOf(client)) !== backend
    })
    if (!isShared) return
  } catch (error) {
    cause = error
  }
  const why = cause instanceof Error ? ` (it says: ${cause.message})` : ''
  throw new Error(
    variable === 'DATABASE_URL'
      ? `DATABASE_URL leads to a pooler${why}: set DATABASE_DIRECT_URL to the same database without the pooler, beside it`
      : `DATABASE_DIRECT_URL leads to a pooler${why}: it has to be the address of the database itself`,
    { cause },
  )
}

/**
 * Checks that a pooler in transaction mode keeps prepared statements. Waits up to 10 seconds for an unreachable pooler.
 * @throws Error when it does not keep them or stays unreachable.
 */
export async function requirePreparedStatements(url: string, clock: Clock): Promise<void> {
  const giveUpAt = clock.nowMs() + AWAY_MS
  for (;;) {
    try {
      return await tryStatement(url)
    } catch (error) {
      if (isForgetful(error)) {
        throw new Error(
          'the pooler of DATABASE_URL loses prepared statements between transactions: it has to be PgBouncer 1.21 or newer ' +
            'with max_prepared_statements = 200, or another one that keeps them',
          { cause: error },
        )
      }
      if (clock.nowMs() > giveUpAt) {
        const why = error instanceof Error ? error.message : error
        throw new Error(`the database cannot be reached through the pooler of DATABASE_URL: ${why}`, { cause: error })
      }
      await new Promise<void>((resolve) => clock.after(RETRY_MS, resolve))
    }
  }
}

const isForgetful = (error: unknown): boolean =>
  // duplicate_prepared_statement, invalid_sql_statement_name
  error instanceof DatabaseError && (error.code === '42P05' || error.code === '26000')

async function tryStatement(url: string): Promise<void> {
  const statement = { name: `countersign-${randomUUID()}`, text: 'select 1' }
  await onConnection(url, {}, async (first) => {
    await first.query(statement)
    await onConnection(url, {}, async (second) => {
      await second.query('begin')
      // On the same backend the statement would exist already, and on another one it would be missing.
      await second.query(statement)
      await first.query(statement)
    })
  })
}

async function backendOf(client: Client): Promise<number> {
  const { rows } = await client.query('select pg_backend_pid() as pid')
  return rows[0].pid
}

async function onConnection<T>(url: string, more: { options?: string }, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({
    connectionString: url,
    application_name: 'countersign',
    connectionTimeoutMillis: ANSWER_MS,
    query_timeout: ANSWER_MS,
    ...more,
  })
  client.on('error', () => undefined)
  try {
    await client.connect()
    return await work(client)
  } finally {
    await client.end().catch(() => undefined)
  }
}
