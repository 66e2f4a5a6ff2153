import { CountersignError } from '@countersign/core'
import { Client } from 'pg'
import { type Clock, systemClock } from '../../clock.ts'
import { watchDamage } from '../damage-watch.ts'
import type { OnMigrate } from '../migrate.ts'
import type { Tx } from '../query.ts'
import { ALWAYS_WELL, type Outbox, type Store } from '../store.ts'
import { isInLog } from '../tables/events.ts'
import { watchHealth } from '../watch-health.ts'
import { ConnectionLost, failureOf, postgresDamage, WHAT_TO_DO_ABOUT_DAMAGE } from './errors.ts'
import { createPool } from './pool.ts'
import { requireOwnSession, requirePreparedStatements } from './pooler.ts'
import { prepareDatabase } from './prepare.ts'
import { createPatience } from './retry.ts'
import { postgresRoom } from './room.ts'
import type { Session } from './session.ts'
import { CommitUnanswered, findFate, NotAsExpected, Transaction } from './transaction.ts'
import { WrittenSessions } from './written-sessions.ts'

/** Longer than any transaction may take: after that, the other side has disappeared. */
const ATTEMPT_LIMIT_MS = 35_000

export interface PostgresOptions {
  /** `postgres://…`, as `DATABASE_URL`. */
  url: string
  /** The same database without the pooler in transaction mode that `url` goes through. */
  directUrl?: string | undefined
  /** Called after each commit with its outbox. Commits of several connections arrive in any order. */
  onCommitted(outbox: Outbox): void
  /** Called when the result of a commit stays unknown: there may be news that {@link onCommitted} never reports. Default: does nothing. */
  onUnknown?: () => void
  /** The last part of each transaction: records the next work, for any process. */
  enqueue?: (outbox: Outbox) => Tx<void>
  /** Receives, as a sentence, settings that make the database unsafe but are not refused. */
  warn?: (sentence: string) => void
  /** Receives, as a sentence, that the database is damaged. Default: none. */
  onDamage?: ((sentence: string) => void) | undefined
  /** Is told before each migration of a database that has data. Default: does nothing. */
  onMigrate?: OnMigrate | undefined
  /** Connections at most, default 10. */
  maxSessions?: number
  clock?: Clock
}

/**
 * Opens (and migrates) a Postgres database, which any number of processes may share.
 * @throws Error when it cannot be reached, is too old, read-only or newer than this code, may lose commits, or is behind a pooler that
 * loses session state.
 */
export async function openPostgres(options: PostgresOptions): Promise<Store> {
  const {
    url,
    directUrl,
    onCommitted,
    onUnknown = () => undefined,
    enqueue,
    warn,
    onDamage,
    onMigrate,
    maxSessions = 10,
    clock = systemClock,
  } = options
  const ownUrl = directUrl ?? url
  const firstTransaction = await onOneConnection(ownUrl, async (client) => {
    await requireOwnSession(client, ownUrl, directUrl === undefined ? 'DATABASE_URL' : 'DATABASE_DIRECT_URL')
    return prepareDatabase(client, { warn, onMigrate })
  })
  if (directUrl !== undefined) await requirePreparedStatements(url, clock)
  const pool = createPool({ url, isPooled: directUrl !== undefined }, maxSessions, clock)
  const patience = createPatience(clock)
  const inFlight = new Set<Promise<unknown>>()
  const sessions = new WrittenSessions()
  let isClosed = false

  /** Runs `work` with a connection, which is closed when even the server's own timeouts do not end it. */
  const inSession = <T>(work: (session: Session) => Promise<T>): Promise<T> =>
    pool.use(async (session) => {
      const stop = clock.after(ATTEMPT_LIMIT_MS, () => session.destroy())
      try {
        return await work(session)
      } catch (error) {
        // The server may have become a standby, or the tables may have changed since statements were prepared: the next caller gets a new
        // connection.
        if (failureOf(error) === 'lost' || error instanceof CommitUnanswered) session.destroy()
        throw error
      } finally {
        stop()
      }
    })

  async function transactOnce<T>(work: (outbox: Outbox) => Tx<T>, isExpecting = true): Promise<T> {
    const outbox: Outbox = { events: [], sessions: new Set(), actions: new Set() }
    const left = sessions.begin()
    const result: { value?: T } = {}
    const tx = function* (): Tx<void> {
      result.value = yield* work(outbox)
      if (enqueue) yield* enqueue(outbox)
    }
    try {
      await inSession((session) => new Transaction(session, { isExpecting, memory: left.memory }).write(tx(), firstTransaction))
    } catch (error) {
      if (error instanceof NotAsExpected) return transactOnce(work, false)
      if (!(error instanceof CommitUnanswered)) throw error
      const ask = () => inSession((session) => isDurable(session, error.transactionId, outbox))
      const isCommitted = await patience.untilKnown(ask).catch((reason) => {
        onUnknown()
        throw reason
      })
      if (!isCommitted) throw new ConnectionLost(error)
    }
    left.keep()
    onCommitted(outbox)
    return result.value as T
  }

  function start<T>(work: () => Promise<T>): Promise<T> {
    if (isClosed) return Promise.reject(new CountersignError('not_ready', 'the server is shutting down'))
    const promise = patience.insist(work)
    inFlight.add(promise)
    const done = () => inFlight.delete(promise)
    promise.then(done, done)
    return promise
  }

  const store: Store = {
    health: ALWAYS_WELL,
    transact: (work) => start(() => transactOnce(work)),
    lastWritten: (sessionId) => sessions.find(sessionId),
    read: (work) => start(() => inSession((session) => new Transaction(session).read(work))),
    async close() {
      isClosed = true
      await Promise.allSettled(inFlight)
      await pool.close()
    },
  }
  const watch = watchDamage({ damageOf: postgresDamage, whatToDo: WHAT_TO_DO_ABOUT_DAMAGE, onDamage })
  return watchHealth(store, { watch, findRoom: postgresRoom(store, clock) })
}

/**
 * Returns whether a transaction was committed; undefined while it is open. A database that crashed reuses the numbers of lost transactions,
 * so its events have to be in the log, too.
 */
async function isDurable(session: Session, transactionId: string, { events: said }: Outbox): Promise<boolean | undefined> {
  const fate = await findFate(session, transactionId)
  const last = said.findLast(({ id }) => id > 0)
  return fate && last ? new Transaction(session).read(() => isInLog(last)) : fate
}

/** Longer than the 5 s of a running server: at a start nobody waits for an answer, and a database on a busy machine took more than 5 s. */
const START_PATIENCE_MS = 30_000

async function onOneConnection<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url, application_name: 'countersign', connectionTimeoutMillis: START_PATIENCE_MS })
  // Connection errors surface in the query that they break.
  client.on('error', () => undefined)
  await client.connect().catch((cause) => {
    const { host, pathname } = new URL(url)
    // The library names a step of the protocol where there is no password to answer with.
    const isWithoutPassword = /client password must be a/.test(cause.message)
    const why = isWithoutPassword ? 'it asks for a password: put it into DATABASE_URL or PGPASSWORD' : cause.message || cause.code || cause
    throw new Error(`the database ${pathname.slice(1)} at ${host || 'this machine'} cannot be opened: ${why}`, { cause })
  })
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
