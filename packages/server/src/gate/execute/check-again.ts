import { checkpoint } from '@countersign/toolkit/internal'
import { type ActionRow, actions, attempts, stored, type Tx } from '../../store/index.ts'
import { type CallerContext, type GateContext, openSession } from '../context.ts'
import { lookAgainAt } from '../deadlines.ts'
import { type Cause, emitUpdate } from '../events.ts'
import type { GateDeps } from '../gate.ts'
import { viewChecks } from '../read/view.ts'
import { type Found, foundOf, nextCheckAt } from './checks.ts'
import { type Answered, askOnce, NO_ANSWER, readFinding } from './reconcile.ts'
import { retryUntilStored } from './retry.ts'
import { type FoundOut, settleUnknown } from './settle.ts'
import { noteOfResult } from './tool-result.ts'
import { verifyBinding } from './verify-binding.ts'

/** A check that this process does not finish within its tool's timeout and this time is made by another. */
const SPARE_MS = 15_000

/** A check of an unknown outcome that this process makes: nobody else does until `until`. */
export interface TakenCheck {
  row: ActionRow
  checks: stored.StoredChecks
  until: number
}

/** Takes a due check of an unknown outcome. Undefined when it is not due any more: somebody else makes it, or the outcome is known. */
export function* takeCheck(
  { tools }: Pick<GateDeps, 'tools'>,
  { outbox, nowMs }: GateContext,
  due: Pick<ActionRow, 'id' | 'due_at'>,
): Tx<TakenCheck | undefined> {
  const row = yield* actions.findAction.first({ id: due.id })
  const checks = row && stored.checksOf(row)
  if (!checks || row.due_at === null || row.due_at !== due.due_at) return undefined
  const { epoch, due_at } = row
  const until = nowMs + (tools.byName(row.tool)?.timeoutMs ?? 0) + SPARE_MS
  if (!(yield* attempts.takeCheck(row, { due_at: until }, { epoch, due_at, now: nowMs }))) return undefined
  checkpoint('check.taking')
  lookAgainAt(outbox, until)
  return { row, checks, until }
}

/**
 * Asks the tool again for the outcome of an action whose outcome is unknown. An answer settles the action; otherwise the next check is
 * planned, or after the last one people have to settle it.
 */
export async function checkAgain(deps: GateDeps, { row, checks, until }: TakenCheck): Promise<void> {
  const beganAt = deps.clock.nowMs()
  const bound = verifyBinding(deps, row)
  // A tool that is gone, or another one, may be back before the last check.
  const { found, askedMs }: Answered = 'tool' in bound ? await askOnce(deps, bound.tool, row) : NO_ANSWER
  const settled = 'tool' in bound ? readFinding(deps, bound.tool, row, found) : undefined
  checkpoint('check.before_store')
  await retryUntilStored(deps, row.id, function* (outbox) {
    const context = { outbox, nowMs: deps.clock.nowMs(), caller: undefined }
    if (settled) return yield* settleFound(context, row, settled)
    const next = nextCheckAt(checks, beganAt, askedMs)
    if (next === null) return yield* endChecks(context, row, { at: beganAt, found: foundOf(found) }, until)
    if (yield* attempts.planCheck(row, { due_at: next }, { epoch: row.epoch, due_at: until })) lookAgainAt(outbox, next)
    return undefined
  })
  checkpoint('check.after_store')
}

/** Settles an unknown outcome with what its tool found. The caller of the context is who had it look. */
export const settleFound = (context: GateContext, row: ActionRow, settled: FoundOut['settled']): Tx<ActionRow | undefined> => {
  const found = settled.to === 'succeeded' ? `it was carried out. ${noteOfResult(settled.output)}` : 'it was not carried out.'
  const sentence = `was of unknown outcome. The tool looked: ${found}`
  return settleUnknown(context, row, { settled, resolution: null, sentence, cause: { kind: 'verified', by: context.caller } })
}

/** A look-up that settled nothing. */
interface LookUp {
  /** When it began, epoch ms. */
  at: number
  found: Found
}

/** The checks of an action with one more look-up; undefined where there are none, or the last look-up was later. */
function withLook(row: ActionRow | undefined, { at, found }: LookUp): stored.StoredChecks | undefined {
  const checks = row && stored.checksOf(row)
  if (!checks) return undefined
  return checks.lastAt !== null && checks.lastAt > at ? undefined : { ...checks, lastAt: at, lastFound: found }
}

/** Records that a person had the tool check the outcome and that this settled nothing. Records nothing when the outcome is known by now. */
export function* noteLook(context: CallerContext, { id, epoch, session_id }: ActionRow, look: LookUp): Tx<void> {
  const opened = yield* openSession(context, { id, session_id })
  const row = yield* actions.findAction.first({ id })
  const checks = withLook(row, look)
  if (!row?.checks || !checks) return
  const looked = yield* attempts.noteLook(row, { checks: JSON.stringify(checks) }, { epoch, checks: row.checks })
  if (!looked) return
  const cause: Cause = { kind: 'verified', by: context.caller, data: { found: look.found } }
  yield* emitUpdate(opened, looked, { checks: viewChecks(looked) }, cause)
  if (opened.session) yield* opened.session.save()
}

/** Tells people that from now on only they can find out. */
function* endChecks(context: GateContext, { id, epoch, session_id }: ActionRow, look: LookUp, until: number): Tx<undefined> {
  const opened = yield* openSession(context, { id, session_id })
  // A person may have had the tool look meanwhile.
  const row = yield* actions.findAction.first({ id })
  if (!row?.checks) return undefined
  const checks = withLook(row, look)
  const patch = { due_at: null, checks: checks ? JSON.stringify(checks) : row.checks }
  const ended = yield* attempts.endChecks(row, patch, { epoch, due_at: until })
  if (!ended) return undefined
  const cause: Cause = { kind: 'checks_ended', data: { found: look.found } }
  yield* emitUpdate(opened, ended, { checks: viewChecks(ended) }, cause)
  if (opened.session) yield* opened.session.save()
  return undefined
}
