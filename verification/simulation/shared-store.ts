import { CountersignError } from '@countersign/core'
import type { Clock } from '../../packages/server/src/clock.ts'
import { type Dialect, SQLITE } from '../../packages/server/src/store/dialect.ts'
import type { ClaimedStep, Outbox, Store, Tx } from '../../packages/server/src/store/index.ts'
import { ConnectionLost } from '../../packages/server/src/store/postgres/errors.ts'
import { createPatience } from '../../packages/server/src/store/postgres/retry.ts'
import { type LeftSessions, WrittenSessions } from '../../packages/server/src/store/postgres/written-sessions.ts'
import { type BoundQuery, prepareForSqlite, type Request, type Row } from '../../packages/server/src/store/query.ts'
import { drive, queryRunner } from '../../packages/server/src/store/sqlite/statements.ts'
import { ALWAYS_WELL } from '../../packages/server/src/store/store.ts'
import type { WorldDatabase } from './database.ts'
import type { Jobs } from './jobs.ts'
import type { SimulatedProcess } from './process.ts'
import type { Random } from './random.ts'
import type { Timeline } from './timeline.ts'

/** The fate of a commit. */
export type CommitFate =
  | 'well'
  /** The connection broke before: nothing is written, and the same is tried again. */
  | 'lost'
  /** It is written, and the answer does not come; what became of it is found out later. */
  | 'unanswered'
  /** It is written, the answer does not come, and nobody can be asked for too long. */
  | 'unknown'
  /** Nothing is written, and the database is away for too long. */
  | 'refused'

export interface SharedStoreParts {
  process: SimulatedProcess
  timeline: Timeline
  random: Random
  clock: Clock
  database: WorldDatabase
  dialect: Dialect
  jobs: Jobs
  takePlaces(count: number): number
  /** Called at the end of each transaction, see `JobDispatch.hold`. */
  hold(outbox: Outbox): void
  /** See `SimulatedPostgres.claimDueStep`. */
  claimDueStep(step: ClaimedStep): boolean
  onCommitted(outbox: Outbox): void
  onUnknown(): void
  /** Draws what becomes of a commit. */
  fateOf(): CommitFate
  /** Sees what has just been committed; may let the process die of it. */
  committed(process: SimulatedProcess): void
}

const AWAY = 'the simulated database is away'
/** The error of a commit that fails on the embedded database. */
export const BROKEN_DISK = new Error('the simulated disk is broken')

/**
 * The store of one of several processes on one database. A transaction reads, query by query, while others commit; from its first lock or
 * write on it is alone, as it is on Postgres with all others of the same session. So what it read before may be older than what it
 * writes to. Its commit and the moment when its process hears of it are events of their own.
 */
export function openSharedStore(parts: SharedStoreParts): Store {
  const { process, timeline, random, clock, database, jobs } = parts
  const runQuery = queryRunner(database.connection, parts.dialect)
  const patience = createPatience(clock)
  const written = new WrittenSessions()
  let isClosed = false

  const pass = (): Promise<void> =>
    new Promise((resolve) => timeline.after(random.chance(0.05) ? random.next() * 40 : 0.05 + random.next(), '', resolve, process))

  async function transactOnce<T>(work: (outbox: Outbox) => Tx<T>): Promise<T> {
    const outbox: Outbox = { events: [], sessions: new Set(), actions: new Set() }
    const left = written.begin()
    const tx = work(outbox)
    await pass()
    let next = tx.next([])
    while (!next.done && (isRead(next.value) || 'recall' in next.value)) {
      const rows: Row[] = answer(next.value, left)
      if (random.chance(0.3)) await pass()
      next = tx.next(rows)
    }
    if (!next.done) await pass()
    const { fate, value } = finish(tx, next, { outbox, left })
    await pass()
    if (fate === 'lost') throw new ConnectionLost(new Error(AWAY))
    if (fate === 'unanswered') await new Promise<void>((resolve) => timeline.after(25 + random.next() * 300, '', resolve, process))
    if (fate === 'unknown') parts.onUnknown()
    if (fate === 'refused' || fate === 'unknown') throw new CountersignError('not_ready', AWAY)
    left.keep()
    parts.onCommitted(outbox)
    return value as T
  }

  /** From the first write to the end, at one moment. */
  function finish<T>(
    tx: Tx<T>,
    first: IteratorResult<Request, T>,
    { outbox, left }: { outbox: Outbox; left: LeftSessions },
  ): { fate: CommitFate; value: T | undefined } {
    database.connection.exec('BEGIN IMMEDIATE')
    try {
      let next = first
      while (!next.done) next = tx.next(answer(next.value, left))
      parts.hold(outbox)
      const fate = parts.fateOf()
      const isWritten = fate !== 'lost' && fate !== 'refused'
      database.connection.exec(isWritten ? 'COMMIT' : 'ROLLBACK')
      timeline.say(`${process.name} ${isWritten ? 'commits' : 'cannot commit'}${fate === 'well' ? '' : ` (${fate})`}`)
      if (isWritten) {
        if (outbox.ended) jobs.endHeld(outbox.ended.holder, outbox.ended.keys)
        for (const job of outbox.held ?? []) {
          jobs.addHeld(job)
          const run = job.name === 'advance' && outbox.runner !== undefined && left.memory.dueStep(job.id)
          if (!run) continue
          const step = { session_id: run.session_id, id: run.id, steps: run.steps, runner: outbox.runner ?? '' }
          if (parts.claimDueStep(step)) job.claimed = step
        }
        if (!outbox.held) {
          for (const id of outbox.actions) jobs.add('execute', id)
          for (const id of outbox.sessions) jobs.add('advance', id)
        }
        parts.committed(process)
      }
      return { fate, value: next.value }
    } catch (error) {
      if (database.connection.isTransaction) database.connection.exec('ROLLBACK')
      // Two did the same for the first time; run again, the second one finds what the first one wrote.
      throw isDuplicate(error) ? new Duplicate() : error
    }
  }

  function answer(request: Request, { memory }: LeftSessions): Row[] {
    if ('recall' in request) return [{ value: request.recall(memory) }]
    if ('places' in request) return [{ last: parts.takePlaces(request.places) }]
    if ('together' in request) return [{ answers: request.together.map(runQuery) }]
    return 'definition' in request ? runQuery(request) : []
  }

  async function insist<T>(attempt: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await patience.insist(attempt)
      } catch (error) {
        if (!(error instanceof Duplicate)) throw error
      }
    }
  }

  return {
    health: ALWAYS_WELL,
    transact: (work) => (isClosed ? Promise.reject(stopping()) : insist(() => transactOnce(work))),
    async read(work) {
      if (isClosed) throw stopping()
      await pass()
      const value = drive(work(), runQuery, parts.takePlaces)
      await pass()
      return value
    },
    lastWritten: (sessionId) => written.find(sessionId),
    async close() {
      isClosed = true
    },
  }
}

class Duplicate extends Error {}

const stopping = () => new CountersignError('not_ready', 'the server is shutting down')

const isDuplicate = (error: unknown): boolean =>
  error instanceof Error && 'errcode' in error && (error.errcode === 1555 || error.errcode === 2067)

const reads = new WeakMap<object, boolean>()

/** True for a query that only looks: others may commit before the next one. */
function isRead(request: Request): request is BoundQuery {
  if (!('definition' in request)) return false
  const known = reads.get(request.definition)
  if (known !== undefined) return known
  const isSelect = /^(select|with)\b/.test(prepareForSqlite(request, SQLITE).sql)
  reads.set(request.definition, isSelect)
  return isSelect
}

const INJECTED = [AWAY, BROKEN_DISK.message, 'the database does not answer', 'Connection terminated unexpectedly']

/** True for what the simulation itself made happen. */
export const isInjected = (line: string): boolean => INJECTED.some((text) => line.includes(text))
