import type { DatabaseSync } from 'node:sqlite'
import { assert, CountersignError } from '@countersign/core'
import { checkpoint } from '@countersign/toolkit/internal'
import type { DamageWatch } from './damage-watch.ts'
import { SQLITE } from './dialect.ts'
import type { Tx } from './query.ts'
import { cacheQueries } from './query-cache.ts'
import { OwnSessions } from './session-memory.ts'
import { isLocked } from './sqlite/errors.ts'
import { holdInserts } from './sqlite/held-inserts.ts'
import { findLastPlace } from './sqlite/last-place.ts'
import { drive, queryRunner } from './sqlite/statements.ts'
import { whenNoneJoins } from './sqlite/when-none-joins.ts'
import { ALWAYS_WELL, type Outbox, type Store } from './store.ts'

export interface GroupCommitOptions {
  db: DatabaseSync
  /** Called after each commit with the outboxes of its transactions, in their order. */
  onCommitted(outbox: Outbox): void
  /** Called after each commit with the place of its last event, before any caller gets an answer. Default: does nothing. */
  onStored?: ((position: number) => void) | undefined
  /** Called before each commit. If it throws, every member of the batch gets the error, and nothing is written. Default: does nothing. */
  requirePlace?: (() => void) | undefined
  /** Learns from every error. Once it refuses, everything in the queue is rejected with that error. Default: does nothing. */
  watch?: Pick<DamageWatch, 'refusal' | 'learn'>
  /** Runs `commit` a little later; transactions that begin until then share it. Default `whenNoneJoins`. */
  schedule?: (commit: () => void, size: () => number) => void
}

interface Waiting {
  /** When it began, by the steady clock, ms. */
  since: number
  work(outbox: Outbox): Tx<unknown>
  resolve(value: unknown): void
  reject(error: unknown): void
}

type Outcome = { ok: true; value: unknown; outbox: Outbox } | { ok: false; error: unknown }

/** How long SQLite waits for another program that writes to the file. The whole server stands still then, so it is asked again instead. */
const LOCK_WAIT_MS = 5
const LOCK_RETRY_MS = 20
/** From then on a transaction fails: somebody's program left the file locked. The last one of a server that stops waits as long. */
const LOCKED_MS = 5_000

/**
 * Creates a store on a migrated SQLite connection: transactions in flight together share one commit. Closing it leaves the connection open.
 */
export function groupCommit({
  db,
  onCommitted,
  onStored,
  requirePlace,
  watch = NO_WATCH,
  schedule = whenNoneJoins,
}: GroupCommitOptions): Store {
  const runQuery = queryRunner(db, SQLITE, (table, { isNoted, rows }) => {
    // The writer of a session updates one row at a time.
    memory.forget(table, isNoted ? (rows ?? 1) : undefined)
    if (!isNoted) sessions.bypass(table)
  })
  const memory = cacheQueries(runQuery, (table) => db.prepare(`select 1 from "${table}" limit 1`).get() === undefined)
  const held = holdInserts(memory.run)
  const sessions = new OwnSessions()
  const begin = db.prepare('BEGIN IMMEDIATE')
  const commit = db.prepare('COMMIT')
  const rollback = db.prepare('ROLLBACK')
  const savepoint = db.prepare('SAVEPOINT member')
  const release = db.prepare('RELEASE member')
  const undo = db.prepare('ROLLBACK TO member')
  const otherWrites = db.prepare('PRAGMA data_version')
  db.exec(`PRAGMA busy_timeout = ${LOCK_WAIT_MS}`)
  let writtenByOthers = otherWrites.get()?.data_version
  let lastPlace = findLastPlace(db)
  let waiting: Waiting[] = []
  let scheduled = false
  let closed = false

  const takePlaces = (count: number): number => {
    lastPlace += count
    return lastPlace
  }

  function forget(): void {
    memory.forget()
    sessions.forget()
  }

  /** Nothing of the batch was written. */
  function undoBatch(): void {
    memory.forget()
    sessions.undo()
  }

  /**
   * Reads the last place again, because a command beside this process may have used places; the write lock then prevents that. Costs 4 µs
   * per batch.
   */
  function joinOthers(): void {
    const now = otherWrites.get()?.data_version
    if (now === writtenByOthers) return
    writtenByOthers = now
    forget()
    lastPlace = Math.max(lastPlace, findLastPlace(db))
  }

  function run(member: Waiting): Outcome {
    const outbox: Outbox = { events: [], sessions: new Set(), actions: new Set() }
    sessions.begin()
    try {
      const value = drive(member.work(outbox), held.run, takePlaces, sessions)
      held.writeAll()
      return { ok: true, value, outbox }
    } catch (caught) {
      held.drop()
      const error = watch.learn(caught)
      // A full disk ends the whole transaction by itself: then nothing of the batch is written, and nothing more may be. On a damaged
      // database the members that succeeded are not committed either.
      if (!db.isTransaction || watch.refusal) throw error
      return { ok: false, error }
    }
  }

  function runApart(member: Waiting): Outcome {
    savepoint.run()
    const outcome = run(member)
    if (!outcome.ok) {
      undo.run()
      forget()
    }
    release.run()
    return outcome
  }

  /** Runs a batch in the open transaction. A savepoint each costs a sixth of the throughput, so they are only taken once one has failed. */
  function runBatch(batch: readonly Waiting[]): Outcome[] {
    const outcomes: Outcome[] = []
    for (const member of batch) {
      const outcome = run(member)
      outcomes.push(outcome)
      if (outcome.ok) continue
      rollback.run()
      undoBatch()
      begin.run()
      return batch.length === 1 ? outcomes : batch.map(runApart)
    }
    return outcomes
  }

  /** Another program has the lock: what has waited too long for it fails, and the rest is tried again. */
  function waitForLock(batch: readonly Waiting[], error: unknown): void {
    const oldest = performance.now() - LOCKED_MS
    waiting = batch.filter(({ since }) => since > oldest)
    scheduled = waiting.length > 0
    if (scheduled) setTimeout(flush, LOCK_RETRY_MS)
    for (const { since, reject } of batch) if (since <= oldest) reject(asStorageError(error))
  }

  function flush(): void {
    scheduled = false
    const batch = waiting
    waiting = []
    if (batch.length === 0) return
    if (watch.refusal) {
      for (const { reject } of batch) reject(watch.refusal)
      return
    }
    let outcomes: Outcome[] = []
    checkpoint('batch.before_begin')
    try {
      begin.run()
      joinOthers()
      outcomes = runBatch(batch)
      checkpoint('batch.before_commit')
      requirePlace?.()
      commit.run()
      sessions.committed()
      checkpoint('batch.after_commit')
    } catch (caught) {
      if (isLocked(caught) && !db.isTransaction && !closed) {
        waitForLock(batch, caught)
        return
      }
      const error = watch.learn(caught)
      // A batch that broke, or whose commit failed, leaves nothing durable: every member gets the error, and no result is returned.
      if (db.isTransaction) rollback.run()
      forget()
      outcomes = batch.map(() => ({ ok: false, error }))
    }
    onStored?.(lastPlaceOf(outcomes))
    for (const outcome of outcomes) if (outcome.ok) onCommitted(outcome.outbox)
    checkpoint('batch.before_resolve')
    batch.forEach((member, i) => {
      const outcome = outcomes[i]
      assert(outcome, 'every member of a batch has an outcome')
      if (outcome.ok) member.resolve(outcome.value)
      else member.reject(asStorageError(outcome.error))
    })
  }

  return {
    health: ALWAYS_WELL,
    transact: <T>(work: (outbox: Outbox) => Tx<T>) => {
      if (closed) return Promise.reject(new CountersignError('not_ready', 'the server is shutting down'))
      return new Promise<T>((resolve, reject) => {
        waiting.push({ since: performance.now(), work, resolve: resolve as (value: unknown) => void, reject })
        if (!scheduled) {
          scheduled = true
          schedule(flush, () => waiting.length)
        }
      })
    },
    // Reading a session costs nothing here.
    lastWritten: () => undefined,
    // Between batches no transaction is open on the connection, so a read sees exactly what is committed.
    read: async (work) => {
      joinOthers()
      return drive(work(), memory.run, takePlaces, sessions)
    },
    close: async () => {
      closed = true
      if (waiting.length > 0) db.exec(`PRAGMA busy_timeout = ${LOCKED_MS}`)
      flush()
    },
  }
}

function lastPlaceOf(outcomes: readonly Outcome[]): number {
  let last = 0
  for (const outcome of outcomes) if (outcome.ok) for (const { id } of outcome.outbox.events) if (id > last) last = id
  return last
}

const NO_WATCH: Pick<DamageWatch, 'refusal' | 'learn'> = { refusal: undefined, learn: (error) => error }

/** Messages for callers by SQLite's error codes. */
const STORAGE_ERRORS: Record<number, string> = {
  8: 'the database takes no writes: nothing was changed',
  10: 'there is no room: nothing was changed',
  13: 'the disk is full: nothing was changed',
}

function asStorageError(error: unknown): unknown {
  const why = error instanceof Error && 'errcode' in error ? STORAGE_ERRORS[Number(error.errcode) & 0xff] : undefined
  if (why !== undefined) return new CountersignError('storage_full', why, {}, { cause: error })
  return isLocked(error) ? new CountersignError('not_ready', LOCKED, {}, { cause: error }) : error
}

const LOCKED = 'another program has locked the database file, so nothing was changed: close it there, then try again'
