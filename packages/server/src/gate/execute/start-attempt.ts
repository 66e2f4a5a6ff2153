import { CountersignError } from '@countersign/core'
import { checkpoint } from '../../checkpoints.ts'
import { type ActionRow, actions, attempts, type Outbox, type Tx } from '../../store/index.ts'
import { type Cause, emitUpdate, writeSessionOf } from '../events.ts'
import { endReuse } from '../propose/reuse.ts'
import type { SessionWriter } from '../session-writer.ts'

/** The states that an attempt begins in. */
const BEGIN = { approved: attempts.startAction, failed: attempts.retryAction, outcome_unknown: attempts.resendAction }

/** A row as it was read, in a state that an attempt begins in. */
export type Startable = ActionRow & { state: keyof typeof BEGIN }

export interface NewAttempt {
  key: string
  /** The process that carries it out; null for a client, whose hold ends at `dueAtMs`. */
  runner: string | null
  dueAtMs: number | null
  /** The version of the target that was read just before; the attempt is held against it. */
  version: string | null
  /** What makes it begin. */
  deed: Cause
}

/**
 * Writes the intent to carry an action out (attempt, epoch, key, runner) and announces it. Nothing is sent before this is committed.
 * Undefined when the action is no longer as it was read: somebody else has it.
 * @param writer The action's session, opened before.
 */
export function* beginAttempt(
  outbox: Outbox,
  writer: SessionWriter | undefined,
  row: Startable,
  { key, runner, dueAtMs, version, deed }: NewAttempt,
  nowMs: number,
): Tx<ActionRow | undefined> {
  const { id, revision, epoch } = row
  const intent = { id, revision, epoch, idempotency_key: key, runner, due_at: dueAtMs, target_version: version, now: nowMs }
  if (!(yield* BEGIN[row.state].change(intent))) return undefined
  yield* endReuse(row)
  const started: ActionRow = {
    ...row,
    state: 'executing',
    attempt: row.attempt + 1,
    epoch: epoch + 1,
    idempotency_key: key,
    first_send: row.state === 'outcome_unknown' ? row.first_send : row.attempt + 1,
    checks: null,
    runner,
    due_at: dueAtMs,
    target_version: version,
    error: null,
    resolution: null,
    updated_at: nowMs,
  }
  const changed = {
    attempt: started.attempt,
    idempotencyKey: key,
    error: null,
    ...(row.resolution !== null && { resolution: null }),
    ...(row.checks !== null && { checks: null }),
  }
  const tookMs = row.state === 'approved' ? { tookMs: nowMs - row.updated_at } : {}
  yield* emitUpdate(outbox, writer, started, changed, { ...deed, ...tookMs }, nowMs)
  // A first attempt changes nothing about the session's status: approved or executing, it is at work.
  if (writer) yield* row.told ? writer.finish() : writer.save()
  return started
}

/** Puts up what waits for its turn in a session in which something has settled. @param open What is open there now, oldest first. */
export function enqueueNext(outbox: Outbox, open: readonly actions.OpenAction[], executionsPerSession: number): void {
  const waiting = open.filter(({ state, executor }) => state === 'approved' && executor === 'server')
  for (const { id } of waiting.slice(0, Math.max(executionsPerSession - countUnderWay(open), 0))) outbox.actions.add(id)
}

/** How many of these the server carries out at the moment. */
export const countUnderWay = (open: readonly actions.OpenAction[]): number =>
  open.filter(({ state, executor }) => state === 'executing' && executor === 'server').length

/** Sends an executing attempt again: its answer is lost, the next one begins under the same key. */
export function* resendAttempt(
  outbox: Outbox,
  row: ActionRow,
  { runner, isRepeat }: { runner: string; isRepeat: boolean },
  nowMs: number,
): Tx<ActionRow | undefined> {
  const writer = yield* writeSessionOf(outbox, row, nowMs)
  checkpoint('resend.storing')
  const { id, epoch, told } = row
  const ended = { result: null, result_url: null, error: null, in_doubt: 1, checks: null, due_at: null }
  if (!(yield* attempts.settleAction.change({ id, epoch, to: 'outcome_unknown', ...ended, told, now: nowMs }))) {
    return isRepeat ? yield* findHeld(id, runner, epoch + 1) : undefined
  }
  const lost: Startable = { ...row, state: 'outcome_unknown', in_doubt: 1 }
  const again = { key: row.idempotency_key, runner, dueAtMs: null, version: row.target_version, deed: { kind: 'resent' } } as const
  const begun = yield* beginAttempt(outbox, writer, lost, again, nowMs)
  // It was ours a moment ago: only a hold keeps it from being sent again. Undone and tried until that ends.
  if (!begun) throw new CountersignError('not_ready', `action ${id} is not sent again while everything is held`)
  return begun
}

/** The action, when `runner` holds its attempt of `epoch`: what a try wrote whose answer was lost. */
export function* findHeld(actionId: string, runner: string, epoch: number): Tx<ActionRow | undefined> {
  const row = yield* actions.findAction.first({ id: actionId })
  return row?.state === 'executing' && row.runner === runner && row.epoch === epoch ? row : undefined
}
