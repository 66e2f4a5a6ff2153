import { CountersignError } from '@countersign/core'
import type { DatabaseClient, Machine } from '../machine.ts'
import type { OwnConnection } from '../tables/processes.ts'

/** A connection without an answer for this long is closed. So is an attempt to open one: it hangs when the address is dead. */
const ANSWER_MS = 5_000
const FIRST_RETRY_MS = 50
const LAST_RETRY_MS = 500
/** The longest time from when the database is back until the next attempt begins: one that hangs has to end first. */
export const LONGEST_ATTEMPT_MS = ANSWER_MS + LAST_RETRY_MS

// Rows written here report liveness and mean nothing after a crash of the database. A peer that disappeared is noticed in 5 s.
// It is idle for long, and its end means to others that this process is gone: limits that an administrator set for clients are not for it.
export const LASTING_OPTIONS =
  '-c synchronous_commit=off -c tcp_keepalives_idle=2 -c tcp_keepalives_interval=1 -c tcp_keepalives_count=3 -c idle_session_timeout=0 -c statement_timeout=5s -c lock_timeout=0'

export interface LastingConnectionOptions {
  /** A direct address of the database: this is a session that no pooler may share. */
  url: string
  /** Shown in `pg_stat_activity`. */
  name: string
  machine: Machine
  /** Prepares the session after each connect. The connection does not count as open before. */
  onOpen(connection: OwnConnection): Promise<void>
  onLost?(): void
  onNotification?(payload: string): void
}

/** A dedicated session that is restored whenever it breaks; until then its queries are rejected. They run in their order. */
export interface LastingConnection extends OwnConnection, AsyncDisposable {
  readonly isOpen: boolean
}

/** @throws Error when the first connection cannot be opened. */
export async function openLastingConnection({
  url,
  name,
  machine,
  onOpen,
  onLost,
  onNotification,
}: LastingConnectionOptions): Promise<LastingConnection> {
  let client: DatabaseClient | undefined
  let isOpen = false
  let isClosed = false
  let stopWaiting: (() => void) | undefined

  async function connect(): Promise<void> {
    const attempt = machine.newClient({
      connectionString: url,
      application_name: name,
      connectionTimeoutMillis: ANSWER_MS,
      // Queries are sent at once, in their order, and a hanging connection is closed.
      pipeline: true,
      query_timeout: ANSWER_MS,
      // A connection that only listens sends no queries: a database that disappeared is noticed in 15 s.
      keepAlive: true,
      keepAliveInitialDelayMillis: ANSWER_MS,
      options: LASTING_OPTIONS,
    })
    // The 'end' event reports the end of the connection, whatever the reason.
    attempt.on('error', () => {})
    attempt.on('notification', ({ payload = '' }) => onNotification?.(payload))
    try {
      await attempt.connect()
      await onOpen(attempt)
    } catch (error) {
      attempt.end().catch(() => {})
      throw error
    }
    if (isClosed) return void attempt.end().catch(() => {})
    client = attempt
    isOpen = true
    attempt.once('end', () => {
      if (!isOpen || client !== attempt) return
      isOpen = false
      onLost?.()
      reconnect(FIRST_RETRY_MS)
    })
  }

  function reconnect(delayMs: number): void {
    if (isClosed) return
    stopWaiting = machine.clock.after(delayMs, () => {
      connect().catch(() => reconnect(Math.min(delayMs * 2, LAST_RETRY_MS)))
    })
  }

  await connect()

  return {
    get isOpen() {
      return isOpen
    },
    query: async (query) => {
      if (!client || !isOpen) throw new CountersignError('not_ready', 'the database does not answer, try again')
      return client.query(query)
    },
    async [Symbol.asyncDispose]() {
      isClosed = true
      isOpen = false
      stopWaiting?.()
      await client?.end().catch(() => {})
    },
  }
}
