import { type Action, assert, CountersignError, type VoidBody } from '@countersign/core'
import type { Accepter } from '../../audit/index.ts'
import { type ActionRow, actions, instance, type Outbox, type Tx } from '../../store/index.ts'
import type { Caller } from '../caller.ts'
import { type GateContext, openSession, type SessionContext } from '../context.ts'
import { findForDecision } from '../decide/decide.ts'
import { recordCause } from '../events.ts'
import type { GateDeps } from '../gate.ts'
import { isoTime, viewAction } from '../read/view.ts'
import { transactOnce } from '../transact-once.ts'
import { transitionById } from '../transition.ts'
import { execute } from './execute.ts'
import { settle } from './settle.ts'

const PAGE = 100

const MAY_HAVE_ACTED = 'This was under way in the installation that the database was copied from, which may have carried it out.'

/**
 * Lets an approved action go on although everything else is held: it starts now, if it is still what was decided. Saying so again changes
 * nothing.
 * @throws CountersignError `not_found`, `forbidden`; `illegal_transition` with the current action when nothing is held, or it is not
 *   approved, or its grace period lasts, or a client carries it out.
 */
export async function release(deps: GateDeps, actionId: string, caller: Caller): Promise<Action> {
  const action = await transactOnce(deps, caller, function* ({ outbox, nowMs }) {
    const { row: found, heldAt } = yield* findHeld(actionId, caller, nowMs)
    const isReleased = (found.released_at ?? 0) >= heldAt
    if (isReleased && !actions.isInGrace(found)) return yield* viewAction(found, { nowMs })
    if (found.state !== 'approved')
      throw yield* refusal(found, `action ${actionId} is ${found.state}; only an approved action can be released`, nowMs)
    if (found.executor === 'client') {
      throw yield* refusal(found, `action ${actionId} is carried out by a client: it can be claimed once this copy is accepted`, nowMs)
    }
    const context = yield* openSession({ outbox, nowMs, caller }, found)
    const row = actions.isInGrace(found) ? yield* endGrace(context, found) : found
    // The hold of a restored copy has the time of the machine that restored it, whose clock may be ahead of this one.
    const released = isReleased
      ? row
      : yield* instance.releaseAction(row, { released_at: Math.max(nowMs, heldAt), updated_at: Math.max(nowMs, row.updated_at) }, {})
    if (!released) throw yield* refusal(row, `action ${actionId} changed just now`, nowMs)
    if (!isReleased) yield* recordCause(context, released, { kind: 'released', by: caller })
    if (context.session) yield* context.session.save()
    return yield* viewAction(released, { nowMs })
  })
  deps.background(execute(deps, actionId))
  return action
}

/** Ends a grace period whose time is over: while everything is held, no timer does. @throws CountersignError while it lasts. */
function* endGrace({ session, nowMs }: SessionContext, { id }: ActionRow): Tx<ActionRow> {
  yield* actions.endGrace.change({ id, now: nowMs })
  const row = yield* actions.findAction.first({ id })
  assert(row, 'an action that was read is there')
  if (actions.isInGrace(row)) {
    const startsAt = isoTime(row.starts_at ?? nowMs)
    throw yield* refusal(row, `action ${id} starts at ${startsAt} at the earliest: it can be released from then on`, nowMs)
  }
  session?.noteAction(row)
  return row
}

/**
 * Cancels what a held server has not started, because a person says that the original has done it, or that nobody wants it any more.
 * @throws CountersignError `not_found`, `forbidden`; `illegal_transition` with the current action when nothing is held, or it has started.
 */
export async function voidHeld(deps: GateDeps, actionId: string, { note }: VoidBody, caller: Caller): Promise<Action> {
  const action = await transactOnce(deps, caller, function* ({ outbox, nowMs }) {
    const { row } = yield* findHeld(actionId, caller, nowMs)
    const context = yield* openSession({ outbox, nowMs, caller }, row)
    const voided = yield* transitionById(context, actionId, 'cancel', {
      cause: { kind: 'voided', by: caller, data: { note } },
      reason: `Voided by ${caller.principal.name}: ${note}`,
      atAnyTime: true,
    })
    if (!voided)
      throw yield* refusal(row, `action ${actionId} is ${row.state}; only what has not started can be voided: say what came of it`, nowMs)
    if (context.session) yield* context.session.finish()
    return yield* viewAction(voided, { nowMs })
  })
  return action
}

/**
 * Ends every attempt that was under way when everything was held: the installation that it was started in may have gone on with it, so its
 * outcome is unknown, whatever its tool can do. It ends none once that hold has ended.
 * @param by The person who accepts the copy; each attempt is ended only while they may still do so. Absent for the command line.
 */
export async function endAttemptsBefore(deps: GateDeps, heldAtMs: number, by?: Accepter): Promise<void> {
  for (let after: string | undefined = ''; after !== undefined; ) {
    const from: string = after
    const rows = await deps.store.read(() => instance.attemptsBefore.all({ held_at: heldAtMs, after: from, limit: PAGE }))
    for (const row of rows) {
      if (!(await deps.store.transact((outbox) => endWhileHeld(deps, outbox, row, { heldAtMs, by })))) return
    }
    after = rows.at(-1)?.id
  }
}

/** Ends an attempt that was found under way. False when the hold has ended: the attempt may have been started since. */
function* endWhileHeld(deps: GateDeps, outbox: Outbox, row: ActionRow, { heldAtMs, by }: { heldAtMs: number; by?: Accepter | undefined }) {
  if ((yield* heldSince()) !== heldAtMs) return false
  const nowMs = deps.clock.nowMs()
  yield* endAttempt(deps, { outbox, nowMs, caller: undefined }, row)
  if (by?.requireStanding) yield* by.requireStanding(nowMs)
  return true
}

/** Ends an attempt of before. False when it has ended already. */
export function* endAttempt(
  deps: Pick<GateDeps, 'executionsPerSession' | 'tools'>,
  { outbox, nowMs }: GateContext,
  row: ActionRow,
): Tx<boolean> {
  const canLook = deps.tools.byName(row.tool)?.verify !== undefined
  const error = { kind: 'ambiguous', message: MAY_HAVE_ACTED, retryable: canLook }
  // No person is named here. A person who settles it later is named in the row that settles it.
  return yield* settle(deps, { outbox, nowMs, caller: undefined }, row, { to: 'outcome_unknown', error })
}

/** When everything was held, epoch ms; undefined while nothing is. */
export function* heldSince(): Tx<number | undefined> {
  return (yield* instance.readInstance()).held_at ?? undefined
}

function* findHeld(actionId: string, caller: Caller, nowMs: number): Tx<{ row: ActionRow; heldAt: number }> {
  const row = yield* findForDecision(actionId, caller, nowMs)
  const heldAt = yield* heldSince()
  if (heldAt === undefined) throw yield* refusal(row, 'this server is not held: actions go on by themselves', nowMs)
  return { row, heldAt }
}

function* refusal({ id }: ActionRow, why: string, nowMs: number): Tx<CountersignError> {
  const current = yield* actions.findAction.first({ id })
  return new CountersignError('illegal_transition', why, current && { action: yield* viewAction(current, { nowMs }) })
}
