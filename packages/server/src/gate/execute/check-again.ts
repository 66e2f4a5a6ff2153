import type { Verification } from '@countersign/core'
import { checkpoint } from '../../checkpoints.ts'
import { type ActionRow, actions, attempts, type Outbox, type Tx } from '../../store/index.ts'
import type { Caller } from '../caller.ts'
import { lookAgainAt } from '../deadlines.ts'
import { type Cause, emitUpdate, writeSessionOf } from '../events.ts'
import type { GateDeps } from '../gate.ts'
import { viewChecks } from '../read/view.ts'
import type { Settled } from './attempt.ts'
import { type Checks, type Found, foundOf, nextCheckAt } from './checks.ts'
import { askOnce, readFinding } from './reconcile.ts'
import { retryUntilStored } from './retry.ts'
import { settleUnknown } from './settle.ts'
import { verifyBinding } from './verify-binding.ts'

/** A check that this process does not finish within its tool's timeout and this time is made by another. */
const SPARE_MS = 15_000

/** A check of an unknown outcome that this process makes: nobody else does until `until`. */
export interface TakenCheck {
  row: ActionRow
  checks: Checks
  until: number
}

/** Takes a due check of an unknown outcome. Undefined when it is not due any more: somebody else makes it, or the outcome is known. */
export function* takeCheck(
  { tools }: Pick<GateDeps, 'tools'>,
  outbox: Outbox,
  due: Pick<ActionRow, 'id' | 'due_at'>,
  nowMs: number,
): Tx<TakenCheck | undefined> {
  const row = yield* actions.findAction.first({ id: due.id })
  if (!row?.checks || row.due_at === null || row.due_at !== due.due_at) return undefined
  const { id, epoch, due_at } = row
  const until = nowMs + (tools.byName(row.tool)?.timeoutMs ?? 0) + SPARE_MS
  if (!(yield* attempts.takeCheck.change({ id, epoch, due_at, until, now: nowMs }))) return undefined
  checkpoint('check.taking')
  lookAgainAt(outbox, until)
  return { row, checks: JSON.parse(row.checks), until }
}

/**
 * Asks the tool once more what came of an action whose outcome is unknown, by itself. What it finds settles the action; else the next check
 * is planned, or after the last one people are told that it is up to them.
 */
export async function checkAgain(deps: GateDeps, { row, checks, until }: TakenCheck): Promise<void> {
  const beganAt = deps.clock.nowMs()
  const bound = verifyBinding(deps, row)
  // A tool that is gone, or another one, may be back before the last check.
  const found: Verification = 'tool' in bound ? await askOnce(deps, bound.tool, row) : { done: 'unknown' }
  const settled = 'tool' in bound ? readFinding(deps, bound.tool, row, found) : undefined
  checkpoint('check.before_store')
  await retryUntilStored(deps, row.id, function* (outbox) {
    const nowMs = deps.clock.nowMs()
    if (settled) return yield* settleFound(outbox, row, settled, { kind: 'verified' }, nowMs)
    const next = nextCheckAt(checks, beganAt)
    if (next === null) return yield* endChecks(outbox, row, { at: beganAt, found: foundOf(found) }, until, nowMs)
    if (yield* attempts.planCheck.change({ id: row.id, epoch: row.epoch, was: until, due_at: next })) {
      lookAgainAt(outbox, next)
    }
    return undefined
  })
  checkpoint('check.after_store')
}

/** Settles an unknown outcome with what its tool found. */
export const settleFound = (outbox: Outbox, row: ActionRow, settled: Settled, deed: Cause, nowMs: number): Tx<ActionRow | undefined> => {
  const found = settled.to === 'succeeded' ? `it was carried out. Result: ${JSON.stringify(settled.output)}` : 'it was not carried out.'
  const sentence = `was of unknown outcome. The tool looked: ${found}`
  return settleUnknown(outbox, row, { settled, resolution: null, sentence, deed }, nowMs)
}

/** A look-up that settled nothing. */
interface Revalidation {
  /** When it began, epoch ms. */
  at: number
  found: Found
}

/** The checks of an action with one more look-up; undefined where there are none, or the last look-up was later. */
function withLook(row: ActionRow | undefined, { at, found }: Revalidation): Checks | undefined {
  if (!row?.checks) return undefined
  const checks: Checks = JSON.parse(row.checks)
  return checks.lastAt !== null && checks.lastAt > at ? undefined : { ...checks, lastAt: at, lastFound: found }
}

/** Notes when a person had the tool look, and that it settled nothing. Nothing is noted when the outcome is known by now. */
export function* noteLook(outbox: Outbox, { id, epoch, session_id }: ActionRow, look: Revalidation, by: Caller, nowMs: number): Tx<void> {
  const writer = yield* writeSessionOf(outbox, { id, session_id }, nowMs)
  const row = yield* actions.findAction.first({ id })
  const checks = withLook(row, look)
  if (!row?.checks || !checks) return
  const text = JSON.stringify(checks)
  if (!(yield* attempts.noteLook.change({ id, epoch, was: row.checks, checks: text }))) return
  const looked: ActionRow = { ...row, checks: text }
  const deed: Cause = { kind: 'verified', by, data: { found: look.found } }
  yield* emitUpdate(outbox, writer, looked, { checks: viewChecks(looked) }, deed, nowMs)
  if (writer) yield* writer.save()
}

/** Tells people that from now on only they can find out. */
function* endChecks(outbox: Outbox, { id, epoch, session_id }: ActionRow, look: Revalidation, was: number, nowMs: number): Tx<undefined> {
  const writer = yield* writeSessionOf(outbox, { id, session_id }, nowMs)
  // A person may have had the tool look meanwhile.
  const row = yield* actions.findAction.first({ id })
  if (!row?.checks) return undefined
  const checks = withLook(row, look)
  const text = checks ? JSON.stringify(checks) : row.checks
  if (!(yield* attempts.endChecks.change({ id, epoch, was, checks: text }))) return undefined
  const ended: ActionRow = { ...row, checks: text, due_at: null }
  const deed: Cause = { kind: 'checks_ended', data: { found: look.found } }
  yield* emitUpdate(outbox, writer, ended, { checks: viewChecks(ended) }, deed, nowMs)
  if (writer) yield* writer.save()
  return undefined
}
