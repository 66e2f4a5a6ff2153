import { assert, CountersignError } from '@countersign/core'
import { checkpoint } from '@countersign/toolkit/internal'
import { type ActionRow, actions, type Outbox, type Tx } from '../../store/index.ts'
import { type GateContext, openSession, type SessionContext } from '../context.ts'
import type { Cause } from '../events.ts'
import { type Change, loseUnannounced, transition } from '../transition.ts'

/** The event that an attempt begins with, by the state it begins in. */
const BEGINNINGS = { approved: 'start', failed: 'retry', outcome_unknown: 'resend' } as const

/** A row as it was read, in a state that an attempt begins in. */
export type Startable = ActionRow & { state: keyof typeof BEGINNINGS }

export interface NewAttempt {
  key: string
  /** The process that carries it out; null for a client, whose hold ends at `dueAtMs`. */
  runner: string | null
  dueAtMs: number | null
  /** The version of the target that was read just before; the attempt is held against it. */
  version: string | null
  /** The event that begins it. */
  cause: Omit<Cause, 'kind'> & { kind: 'executing' | 'claimed' | 'retried' | 'resent' }
}

/**
 * Stores the intent to execute an action (attempt, epoch, key, runner) and announces it. Nothing is sent before this is committed. Returns
 * undefined when the action is no longer as it was read, because another process has it. Finishes the session.
 */
export function* beginAttempt(context: SessionContext, row: Startable, attempt: NewAttempt): Tx<ActionRow | undefined> {
  const { session, nowMs } = context
  const event: 'start' | 'retry' | 'resend' = BEGINNINGS[row.state]
  const started = yield* transition(context, row, event, attemptOf(row, attempt, nowMs) as Change<typeof event>)
  // A first attempt changes nothing about the session's status: approved or executing, it is at work.
  if (started && session) yield* row.result_delivered ? session.finish() : session.save()
  return started
}

/** Returns the values that an attempt writes into its action, and the cause that it reports. */
export function attemptOf(
  row: Startable,
  { key, runner, dueAtMs, version, cause }: NewAttempt,
  nowMs: number,
): Change<'start' | 'retry' | 'resend'> {
  const attempt = row.attempt + 1
  assert(row.state !== 'approved' || key === row.idempotency_key, `the first attempt of ${row.id} has its key`)
  const patch = {
    attempt,
    epoch: row.epoch + 1,
    idempotency_key: key,
    // A resent attempt belongs to the series of sends that began it.
    first_send: row.state === 'outcome_unknown' ? row.first_send : attempt,
    checks: null,
    runner,
    due_at: dueAtMs,
    target_version: version,
    error: null,
    resolution: null,
  }
  const changed = {
    attempt,
    idempotencyKey: key,
    error: null,
    ...(row.resolution !== null && { resolution: null }),
    ...(row.checks !== null && { checks: null }),
  }
  const tookMs = row.state === 'approved' ? { tookMs: nowMs - Math.max(row.updated_at, row.starts_at ?? 0) } : {}
  return { patch, changed, cause: { ...cause, ...tookMs } }
}

/** Puts up what waits for its turn in a session in which something has settled. @param open What is open there now, oldest first. */
export function enqueueNext(outbox: Outbox, open: readonly actions.OpenAction[], executionsPerSession: number): void {
  const waiting = open.filter((action) => action.state === 'approved' && action.executor === 'server' && !actions.isInGrace(action))
  for (const { id } of waiting.slice(0, Math.max(executionsPerSession - countUnderWay(open), 0))) outbox.actions.add(id)
}

/** How many of these the server carries out at the moment. */
export const countUnderWay = (open: readonly actions.OpenAction[]): number =>
  open.filter(({ state, executor }) => state === 'executing' && executor === 'server').length

/** Sends an executing attempt again: its answer is lost, the next one begins under the same key. */
export function* resendAttempt(
  context: GateContext,
  row: ActionRow,
  { runner, isRepeat }: { runner: string; isRepeat: boolean },
): Tx<ActionRow | undefined> {
  const opened = yield* openSession(context, row)
  checkpoint('resend.storing')
  const { id, epoch } = row
  const ended = { result: null, result_url: null, error: null, in_doubt: 1, checks: null, runner: null, due_at: null, resolution: null }
  const lost = yield* loseUnannounced(opened, row, ended)
  if (!lost) return isRepeat ? yield* findHeld(id, runner, epoch + 1) : undefined
  const again = { key: row.idempotency_key, runner, dueAtMs: null, version: row.target_version, cause: { kind: 'resent' } } as const
  const begun = yield* beginAttempt(opened, { ...lost, state: 'outcome_unknown' }, again)
  // It was ours a moment ago: only a hold keeps it from being sent again. Undone and tried until that ends.
  if (!begun) throw new CountersignError('not_ready', `action ${id} is not sent again while everything is held`)
  return begun
}

/** The action, when `runner` holds its attempt of `epoch`: what a try wrote whose answer was lost. */
export function* findHeld(actionId: string, runner: string, epoch: number): Tx<ActionRow | undefined> {
  const row = yield* actions.findAction.first({ id: actionId })
  return row?.state === 'executing' && row.runner === runner && row.epoch === epoch ? row : undefined
}
