import { type ActionEvent, type ActionState, AFTER, assert, statesBefore } from '@countersign/core'
import { sql } from 'kysely'
import type { Dialect } from '../dialect.ts'
import { lit, question, type Tx } from '../query.ts'
import type { ActionRow } from './action-rows.ts'
import { notedUpdate } from './action-update.ts'
import { findAction, isInTime } from './actions.ts'
import { currentEpoch, mayStart } from './instance.ts'
import { REVISED_COLUMNS } from './revisions.ts'
import { listOfStates } from './state-in.ts'

const ENDED = ['result_delivered', 'due_at'] as const
// A first attempt has the key that the action was stored with: its index is not written again.
const STARTED = ['attempt', 'epoch', 'first_send', 'checks', 'runner', 'due_at', 'target_version', 'error', 'resolution'] as const
const ATTEMPTED = [...STARTED, 'idempotency_key'] as const
const ANSWERED = ['result', 'result_url', 'error', 'in_doubt', 'checks', 'result_delivered', 'runner', 'due_at', 'resolution'] as const

/** The times of an action that each event writes: its own time, or null where an earlier time no longer counts. */
const TIMES: Readonly<Record<MovedAsRead, Partial<Record<Time, 'now' | null>>>> = {
  approve: { decided_at: 'now' },
  decline: { decided_at: 'now', settled_at: 'now' },
  revise: { decided_at: null, started_at: null, settled_at: null },
  start: { started_at: 'now' },
  retry: { started_at: 'now', settled_at: null },
  resend: { started_at: 'now', settled_at: null },
  succeed: { settled_at: 'now' },
  fail: { settled_at: 'now' },
  lose: { settled_at: 'now' },
}

type Time = 'decided_at' | 'started_at' | 'settled_at'

const timesOf = (event: MovedAsRead, now: number): Partial<Record<Time, number | null>> =>
  Object.fromEntries(Object.entries(TIMES[event]).map(([name, value]) => [name, value === 'now' ? now : value]))

/** The columns that each event writes besides `state`, `updated_at` and its times. */
const COLUMNS = {
  approve: ['due_at', 'starts_at', 'expires_at'],
  decline: ENDED,
  expire: ENDED,
  cancel: ['error', ...ENDED],
  revise: REVISED_COLUMNS,
  start: STARTED,
  retry: ATTEMPTED,
  resend: ATTEMPTED,
  succeed: ANSWERED,
  fail: ANSWERED,
  lose: ANSWERED,
} as const satisfies Readonly<Record<ActionEvent, readonly (keyof ActionRow)[]>>

/** The values that an event writes into the row of an action besides `state` and `updated_at`. */
export type PatchOf<E extends ActionEvent> = Pick<ActionRow, (typeof COLUMNS)[E][number]>

interface Given {
  /** The action as it was read: the update requires that both still match. */
  revision: number
  epoch: number
  now: number
  /** By how many ms its deadline moves. */
  later_by: number
  [name: string]: string | number | null
}

type Conditions = (p: Pick<Given, 'now'>, dialect: Dialect) => ReturnType<typeof sql<boolean>>[]

const notClosed = sql<boolean>`(archived_at is null and redacted_at is null)`
const inTime: Conditions = ({ now }, dialect) => [isInTime(dialect, now)]
const always: Conditions = () => []
const maySend: Conditions = (_, dialect) => [notClosed, mayStart(dialect)]

/** By the clock of the database, as deadlines are: nothing starts while its approval can still be taken back. */
const isGraceOver = (dialect: Dialect, now: number) => sql<boolean>`(starts_at is null or starts_at <= ${dialect.nowMs(now)})`

/** The conditions besides the state, the revision and the epoch, for an action that is read before it is moved. */
const CONDITIONS: Readonly<Record<MovedAsRead, Partial<Record<ActionState, Conditions>>>> = {
  approve: { proposed: inTime },
  decline: { proposed: inTime },
  revise: {
    proposed: (p, dialect) => [notClosed, ...inTime(p, dialect)],
    approved: () => [notClosed],
    failed: () => [notClosed],
  },
  // A client that claims too late is refused like a person who decides too late.
  start: {
    approved: (p, dialect) => [
      ...maySend(p, dialect),
      sql<boolean>`(executor = 'server' or ${isInTime(dialect, p.now)})`,
      isGraceOver(dialect, p.now),
    ],
  },
  retry: { failed: maySend },
  resend: { outcome_unknown: maySend },
  succeed: { executing: always, outcome_unknown: always },
  fail: { executing: always, outcome_unknown: always },
  lose: { executing: always },
}

/**
 * The events of actions that are read after they were moved: an update waits for another transaction that moves the action, a read does
 * not.
 */
export type MovedById = 'expire' | 'cancel'
/** The events of actions that were read before. */
export type MovedAsRead = Exclude<ActionEvent, MovedById>

const begins = (event: ActionEvent): boolean => event === 'start' || event === 'retry' || event === 'resend'

/** The update of an action in the state `from` that one event makes, or several that follow each other. */
function moveFrom(from: ActionState, ...events: readonly MovedAsRead[]) {
  let to = from
  const steps = events.map((event) => {
    const conditions = CONDITIONS[event][to]
    const next = AFTER[to][event]
    assert(next !== 'same' && next !== 'no' && conditions, `the conditions of ${event} know the state ${to}`)
    to = next
    return { columns: COLUMNS[event], times: Object.keys(TIMES[event]) as Time[], conditions }
  })
  const columns = new Set<Exclude<keyof ActionRow, 'state'>>(steps.flatMap((step) => [...step.columns, ...step.times]))
  // An approval moves the deadline, whatever it is by then: it may have been extended since the action was read. Nothing that starts at once
  // has one any more.
  const movesDeadline = events.includes('approve') && columns.delete('expires_at') && !events.some(begins)
  return notedUpdate<Exclude<keyof ActionRow, 'state'>, Given>([...columns, 'updated_at'], (update, p, dialect) => {
    let guarded = update
      .set({
        state: lit(to),
        ...(events.some(begins) && { instance_epoch: currentEpoch }),
        ...(movesDeadline && { expires_at: sql<number | null>`expires_at + ${p.later_by}` }),
        ...(events.includes('revise') && { revision: sql<number>`revision + 1` }),
      })
      // A literal, so that SQLite does not prepare the statement again for each value.
      .where('state', '=', lit(from))
      .where('revision', '=', p.revision)
      .where('epoch', '=', p.epoch)
    for (const { conditions } of steps) for (const condition of conditions(p, dialect)) guarded = guarded.where(condition)
    return guarded
  })
}

type Move = ReturnType<typeof moveFrom>
const EVENTS = Object.keys(CONDITIONS) as MovedAsRead[]

const MOVES = Object.fromEntries(
  EVENTS.map((event) => [event, Object.fromEntries(statesBefore(event).map((from) => [from, moveFrom(from, event)]))]),
) as Readonly<Record<MovedAsRead, Partial<Record<ActionState, Move>>>>

/** Returns the action as an event leaves it, according to the state table. Nothing is written. */
export function afterMove<E extends MovedAsRead>(row: ActionRow, event: E, patch: PatchOf<E>, nowMs: number): ActionRow {
  const to = AFTER[row.state][event]
  assert(to !== 'same' && to !== 'no', `${event} moves an action that is ${row.state}`)
  const updated_at = Math.max(nowMs, row.updated_at)
  const revision = row.revision + (event === 'revise' ? 1 : 0)
  // The row gets only the columns that the update writes, even where the patch has more.
  const written = Object.fromEntries(COLUMNS[event].map((column) => [column, (patch as Partial<ActionRow>)[column]]))
  return { ...row, ...written, ...timesOf(event, updated_at), updated_at, state: to, revision }
}

const asRead = ({ revision, epoch, expires_at }: ActionRow, moved: ActionRow): Given => ({
  revision,
  epoch,
  now: moved.updated_at,
  later_by: (moved.expires_at ?? 0) - (expires_at ?? 0),
})

/**
 * Moves an action that was read, according to the state table. Returns undefined, and changes nothing, when the action has changed since or
 * may not move.
 */
export function* moveAction<E extends MovedAsRead>(row: ActionRow, event: E, patch: PatchOf<E>, nowMs: number): Tx<ActionRow | undefined> {
  const move = MOVES[event][row.state]
  if (!move) return undefined
  const moved = afterMove(row, event, patch, nowMs)
  return (yield* move(row, moved, asRead(row, moved))) && moved
}

const approveAndStart = moveFrom('proposed', 'approve', 'start')

/**
 * Approves an action that was read and starts it, in one update under the conditions of both. False, and nothing changed, when the action
 * has changed since, or may not be approved and started.
 * @param started The action as both leave it.
 */
export function* startAtOnce(row: ActionRow, started: ActionRow): Tx<boolean> {
  return (yield* approveAndStart(row, started, asRead(row, started))) !== undefined
}

/** The events that end an action before its start, whatever changed since it was read. */
interface EndPatch {
  error: string | null
  /** True where an action may end although its deadline has passed. */
  atAnyTime: boolean
}

/** The state that an event leads to, whatever state it moves an action from. */
function stateAfter(event: MovedById): ActionState {
  const [to, ...others] = new Set(statesBefore(event).map((from) => AFTER[from][event]))
  assert(to !== undefined && to !== 'same' && to !== 'no' && others.length === 0, `${event} leads to one state`)
  return to
}

/** Not before what was written last, maybe by a process whose clock is ahead: a reader keeps the later of two views. */
const notBefore = (now: number) => sql<number>`case when updated_at > ${now} then updated_at else ${now} end`

const isLate = (dialect: Dialect, now: number) => sql<boolean>`expires_at <= ${dialect.nowMs(now)}`

const expireAction = question<{ id: string; now: number }>((db, p, dialect) =>
  db
    .updateTable('action')
    .set({
      state: lit(stateAfter('expire')),
      result_delivered: 1,
      due_at: null,
      settled_at: notBefore(p.now),
      updated_at: notBefore(p.now),
    })
    .where('id', '=', p.id)
    .where(sql<boolean>`state in ${listOfStates(statesBefore('expire'))}`)
    .where(sql<boolean>`(state <> 'approved' or executor = 'client')`)
    .where(isLate(dialect, p.now)),
)

const cancelAction = question<{ id: string; error: string | null; any_time: number; now: number }>((db, p, dialect) =>
  db
    .updateTable('action')
    .set({
      state: lit(stateAfter('cancel')),
      error: p.error,
      result_delivered: 1,
      due_at: null,
      settled_at: notBefore(p.now),
      updated_at: notBefore(p.now),
    })
    .where('id', '=', p.id)
    .where(sql<boolean>`state in ${listOfStates(statesBefore('cancel'))}`)
    .where(sql<boolean>`(state <> 'proposed' or ${p.any_time} = 1 or ${isInTime(dialect, p.now)})`),
)

/**
 * Ends an action that has not started, and returns it. Returns undefined when it had started, was settled, or its deadline says otherwise:
 * the deadline is compared in the update that moves the action, by the clock of the database, so that no answer slips in between.
 */
export function* endUnstarted(id: string, event: MovedById, { error, atAnyTime }: EndPatch, now: number): Tx<ActionRow | undefined> {
  const changed =
    event === 'expire'
      ? yield* expireAction.change({ id, now })
      : yield* cancelAction.change({ id, error, any_time: atAnyTime ? 1 : 0, now })
  if (!changed) return undefined
  const row = yield* findAction.first({ id })
  assert(row, 'an action that was moved is there')
  return row
}
