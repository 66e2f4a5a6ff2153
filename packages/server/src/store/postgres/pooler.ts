import { randomUUID } from 'node:crypto'
import { Client, DatabaseError } from 'pg'
import type { Clock } from '../../clock.ts'
import { LASTING_OPTIONS } from './lasting-connection.ts'

const ANSWER_MS = 5_000
const AWAY_MS = 10_000
const RETRY_MS = 250
/** Beside busy clients up to 17 of 40 tries showed nothing: 20 in a row are one in 27 million. */
const TRIES = 20

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
      return await tryStatements(url)
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

/** Looks until a statement was prepared on one backend and used on another, or twice on one by two clients. */
async function tryStatements(url: string): Promise<void> {
  await onConnection(url, {}, (first) =>
    onConnection(url, {}, async (second) => {
      for (let i = 0; i < TRIES; i++) if (await showsThatStatementsAreKept(first, second)) return
      // Each client has a backend to itself, which is what a pooler in session mode gives.
    }),
  )
}

/**
 * @returns false when it shows nothing: beside other clients, the first may get its old backend back, where the statement exists anyway.
 * @throws DatabaseError when the statement is missing on another backend, or exists already on the same one.
 */
async function showsThatStatementsAreKept(first: Client, second: Client): Promise<boolean> {
  const statement = { name: `countersign-${randomUUID()}`, text: 'select pg_backend_pid() as pid' }
  const runOn = async (client: Client): Promise<number> => (await client.query(statement)).rows[0].pid
  const backend = await runOn(first)
  // A pooler that takes its backends in turn gives another one here.
  if ((await runOn(first)) !== backend) return true
  await second.query('begin')
  try {
    // A pooler that takes the backend that was used last gives the same one here.
    if ((await runOn(second)) === backend) return true
    return (await runOn(first)) !== backend
  } finally {
    await second.query('rollback')
  }
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
