import { type ActionErrorView, type ActionEvent, assert, type EventDataOf } from '@countersign/core'
import {
  type ActionRow,
  afterMove,
  endUnstarted,
  type MovedAsRead,
  type MovedById,
  moveAction,
  type PatchOf,
  startAtOnce,
  type Tx,
} from '../store/index.ts'
import type { SessionContext } from './context.ts'
import { lookAgainAt } from './deadlines.ts'
import { type Cause, emitUpdate, noteResult, writeToolResult } from './events.ts'
import { endReuse } from './propose/reuse.ts'

/** The kinds of rows of the record that each event may have. */
interface Kinds {
  approve: 'approved'
  decline: 'declined'
  expire: 'expired'
  cancel: 'cancelled' | 'withdrawn' | 'voided'
  revise: 'asked_again'
  start: 'executing' | 'claimed'
  retry: 'retried' | 'claimed'
  resend: 'resent' | 'claimed'
  succeed: 'succeeded' | 'resolved' | 'verified'
  fail: 'failed' | 'resolved' | 'verified'
  lose: 'outcome_unknown'
}

/** The consequences of each event, independent of its cause. A new event does not compile until it is answered here. */
const FOLLOWS: Readonly<
  Record<
    ActionEvent,
    {
      /** The server carries the action out next. */
      isDue?: true
      /** Cached reads of the session at the action's destination may be out of date. */
      touchesTarget?: true
      /** The model receives the result, and the session continues. */
      givesResult?: true
    }
  >
> = {
  approve: { isDue: true },
  decline: { givesResult: true },
  expire: { givesResult: true },
  cancel: { givesResult: true },
  revise: {},
  start: { touchesTarget: true },
  retry: { touchesTarget: true },
  resend: { touchesTarget: true },
  succeed: { touchesTarget: true, givesResult: true },
  fail: { touchesTarget: true, givesResult: true },
  lose: { touchesTarget: true, givesResult: true },
}

type Changed = Partial<EventDataOf<'action_update'>>

interface Announced<E extends ActionEvent> {
  /** The cause of the transition. */
  cause: Omit<Cause, 'kind'> & { kind: Kinds[E] }
  /** The data of the event besides state and time, or a function that makes it from the new row. */
  changed?: Changed | ((moved: ActionRow) => Tx<Changed> | Changed)
  /** The reason that the model is given, or a function that is called when all else is stored. */
  reason?: string | (() => string)
  /** The note for a model that received an earlier result. */
  sentence?: string | ((moved: ActionRow) => string)
  /** False where the session does not continue by itself. */
  wakes?: false
}

/** How an action moves, beyond what follows from the event. */
export type Change<E extends ActionEvent> = Announced<E> & {
  /** The new values of the row. `result_delivered` follows from the event. */
  patch: Omit<PatchOf<E>, 'result_delivered'>
  /** False when the model receives no result, because the action continues in the same transaction. */
  givesResult?: false
}

/**
 * Moves an action that was read. Every change of a state goes through here, or through {@link transitionById}: the table of states guards the update, one
 * patch makes the row in the database and the one in memory, and event, record, webhooks, timers, wake-ups and the model's result follow
 * from the event.
 * @returns The action as it is then; undefined when it is no longer as it was read, or may not move: then nothing changed.
 */
export function* transition<E extends MovedAsRead>(
  context: SessionContext,
  row: ActionRow,
  event: E,
  change: Change<E>,
): Tx<ActionRow | undefined> {
  const moved = yield* moveAction(row, event, wholePatch(row, event, change), context.nowMs)
  if (moved) yield* followMove(context, { row, moved }, event, change)
  return moved
}

/** A start that follows an approval. */
export interface StartAtOnce {
  nowMs: number
  change: Change<'start'>
}

/**
 * Approves an action that was read, and starts it in the same update where that may be: one write of the row, with the events and the rows of
 * the record of both.
 * @param startOf Returns the start of the action as it will be approved; undefined where it does not start now.
 * @returns As {@link transition}. Without `started` it is approved only, as it may not start.
 */
export function* approveAndStart(
  context: SessionContext,
  row: ActionRow,
  change: Change<'approve'>,
  startOf: (approved: ActionRow) => Tx<StartAtOnce | undefined>,
): Tx<{ approved: ActionRow; started?: ActionRow } | undefined> {
  const approved = row.state === 'proposed' ? afterMove(row, 'approve', wholePatch(row, 'approve', change), context.nowMs) : undefined
  const start = approved && (yield* startOf(approved))
  if (start) {
    const started = afterMove(approved, 'start', wholePatch(approved, 'start', start.change), start.nowMs)
    if (yield* startAtOnce(row, started)) {
      yield* followMove(context, { row, moved: approved }, 'approve', change)
      yield* followMove({ ...context, nowMs: start.nowMs, caller: undefined }, { row: approved, moved: started }, 'start', start.change)
      return { approved, started }
    }
  }
  const only = yield* transition(context, row, 'approve', change)
  return only && { approved: only }
}

const givesResultOf = <E extends MovedAsRead>(event: E, { givesResult }: Change<E>): boolean =>
  FOLLOWS[event].givesResult === true && givesResult !== false

const wholePatch = <E extends MovedAsRead>(row: ActionRow, event: E, change: Change<E>): PatchOf<E> =>
  ({ ...change.patch, result_delivered: givesResultOf(event, change) ? 1 : row.result_delivered }) as unknown as PatchOf<E>

const followMove = <E extends MovedAsRead>(
  context: SessionContext,
  { row, moved }: { row: ActionRow; moved: ActionRow },
  event: E,
  change: Change<E>,
): Tx<void> =>
  follow(context, moved, event, { ...change, givesResult: givesResultOf(event, change), wasDelivered: row.result_delivered === 1 })

/**
 * Expires or cancels an action that has not started, in whatever state it is since it was read.
 * @param atAnyTime True when it may be cancelled after its deadline.
 */
export function* transitionById<E extends MovedById>(
  context: SessionContext,
  actionId: string,
  event: E,
  { error = null, atAnyTime = false, ...change }: Announced<E> & { error?: ActionErrorView | null; atAnyTime?: boolean },
): Tx<ActionRow | undefined> {
  const patch = { error: error && JSON.stringify(error), atAnyTime }
  const moved = yield* endUnstarted(actionId, event, patch, context.nowMs)
  if (moved) yield* follow(context, moved, event, { ...change, givesResult: true, wasDelivered: false })
  return moved
}

/**
 * Loses an attempt that is sent again in the same transaction. It is not announced, because the next transition is.
 * @returns As {@link transition}.
 */
export function* loseUnannounced(
  context: SessionContext,
  row: ActionRow,
  patch: Omit<PatchOf<'lose'>, 'result_delivered'>,
): Tx<ActionRow | undefined> {
  const lost = yield* moveAction(row, 'lose', { ...patch, result_delivered: row.result_delivered }, context.nowMs)
  if (lost) context.session?.noteAction(lost)
  return lost
}

function* follow<E extends ActionEvent>(
  context: SessionContext,
  moved: ActionRow,
  event: E,
  {
    cause,
    changed = {},
    reason,
    sentence,
    wakes,
    givesResult,
    wasDelivered,
  }: Announced<E> & { givesResult: boolean; wasDelivered: boolean },
): Tx<void> {
  const { outbox, session } = context
  const { isDue, touchesTarget } = FOLLOWS[event]
  assert(session || moved.session_id === null, `the session of ${moved.id} is open`)
  session?.noteAction(moved)
  if (moved.due_at !== null) lookAgainAt(outbox, moved.due_at)
  if (touchesTarget) yield* endReuse(context, moved)
  const said = typeof changed === 'function' ? changed(moved) : changed
  yield* emitUpdate(context, moved, isTx(said) ? yield* said : said, cause)
  if (isDue && moved.executor === 'server' && moved.due_at === null) outbox.actions.add(moved.id)
  if (!givesResult) return
  if (wasDelivered && sentence !== undefined) yield* noteResult(context, moved, typeof sentence === 'string' ? sentence : sentence(moved))
  else yield* writeToolResult(context, moved, typeof reason === 'function' ? reason() : reason)
  if (moved.session_id !== null && wakes !== false) outbox.sessions.add(moved.session_id)
}

const isTx = (said: Tx<Changed> | Changed): said is Tx<Changed> => Symbol.iterator in said
