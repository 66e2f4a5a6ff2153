import type { ActionErrorView, Tool } from '@countersign/core'
import { checkpoint } from '../../checkpoints.ts'
import { type ActionRow, type actions, attempts, type Outbox, type Tx } from '../../store/index.ts'
import type { Caller } from '../caller.ts'
import { lookAgainAt } from '../deadlines.ts'
import { revise } from '../decide/revise.ts'
import { type Cause, emitUpdate, noteResult, writeSessionOf, writeToolResult } from '../events.ts'
import type { GateDeps } from '../gate.ts'
import { endReuse, keepForReuse } from '../propose/reuse.ts'
import { viewChecks } from '../read/view.ts'
import type { SessionWriter } from '../session-writer.ts'
import type { Settled } from './attempt.ts'
import { beginChecks, nextCheckAt } from './checks.ts'
import type { Revalidation } from './revalidate.ts'
import { enqueueNext } from './start-attempt.ts'

/** An end as the row has it. */
const columnsOf = (settled: Settled) => {
  const succeeded = settled.to === 'succeeded'
  return {
    result: succeeded ? JSON.stringify(settled.output) : null,
    result_url: succeeded ? (settled.url ?? null) : null,
    error: succeeded ? null : JSON.stringify(settled.error),
  }
}

/** Whether an attempt leaves its key in doubt, and how it is checked from now on what became of it. */
function doubtOf(
  { in_doubt }: ActionRow,
  settled: Settled,
  tool: Tool | undefined,
  nowMs: number,
): Pick<ActionRow, 'in_doubt' | 'checks' | 'due_at'> {
  if (settled.to !== 'outcome_unknown') {
    const wasLost = settled.to === 'failed' && settled.wasLost
    return { in_doubt: wasLost ? 1 : in_doubt, checks: null, due_at: null }
  }
  if (!tool?.verify || !settled.error.retryable) return { in_doubt: 1, checks: null, due_at: null }
  const checks = beginChecks(tool, settled.looked, nowMs)
  return { in_doubt: 1, checks: JSON.stringify(checks), due_at: settled.looked ? nextCheckAt(checks, nowMs) : nowMs }
}

/**
 * Ends an attempt, by compare-and-set on its epoch. False when a later one owns the action: then nothing is written, whatever the answer.
 * @param attempted The action as it was started.
 * @param by The client that says so; the server says so itself without one.
 */
export function* settle(
  { executionsPerSession, tools }: Pick<GateDeps, 'executionsPerSession' | 'tools'>,
  outbox: Outbox,
  attempted: ActionRow,
  settled: Settled,
  nowMs: number,
  by?: Caller,
): Tx<boolean> {
  const { id, epoch } = attempted
  const writer = yield* writeSessionOf(outbox, attempted, nowMs)
  const tool = tools.byName(attempted.tool)
  const ended = { ...columnsOf(settled), ...doubtOf(attempted, settled, tool, nowMs) }
  checkpoint('settle.storing')
  if (!(yield* attempts.settleAction.change({ id, epoch, to: settled.to, ...ended, told: 1, now: nowMs }))) return false
  if (ended.due_at !== null) lookAgainAt(outbox, ended.due_at)
  yield* endReuse(attempted)
  if (tool?.cacheForMs !== undefined && settled.to === 'succeeded') yield* keepForReuse(attempted, tool.cacheForMs, nowMs)
  const row: ActionRow = { ...attempted, ...ended, state: settled.to, runner: null, updated_at: nowMs }
  const changed = {
    ...(settled.to === 'succeeded' ? { result: settled.output, resultUrl: row.result_url } : { error: settled.error }),
    ...(row.checks !== null && { checks: viewChecks(row) }),
  }
  const deed = { kind: settled.to, by, data: { runner: attempted.runner }, tookMs: nowMs - attempted.updated_at }
  yield* emitUpdate(outbox, writer, row, changed, deed, nowMs)
  const open = yield* tellModel(outbox, writer, row, `was tried again and ${endingOf(row)}`, nowMs)
  enqueueNext(outbox, open, executionsPerSession)
  return true
}

/**
 * Ends an attempt that its target refused because it is not what was shown any more, and asks people about what it is now. The model waits
 * with them. False when a later attempt owns the action.
 */
export function* settleStale(
  { executionsPerSession }: Pick<GateDeps, 'executionsPerSession'>,
  outbox: Outbox,
  attempted: ActionRow,
  { error, look }: { error: ActionErrorView; look: Extract<Revalidation, { to: 'ask' }> },
  nowMs: number,
): Tx<boolean> {
  const { id, epoch, told } = attempted
  const writer = yield* writeSessionOf(outbox, attempted, nowMs)
  const ended = { result: null, result_url: null, error: JSON.stringify(error), in_doubt: attempted.in_doubt, checks: null, due_at: null }
  if (!(yield* attempts.settleAction.change({ id, epoch, to: 'failed', ...ended, told, now: nowMs }))) return false
  yield* endReuse(attempted)
  const row = { ...attempted, ...ended, state: 'failed' as const, runner: null, updated_at: nowMs }
  yield* emitUpdate(outbox, writer, row, { error }, { kind: 'failed' }, nowMs)
  yield* revise(outbox, writer, row, look.prepared, look.why, nowMs)
  if (writer) enqueueNext(outbox, yield* writer.finish(), executionsPerSession)
  return true
}

/**
 * Ends what was of unknown outcome, with what a person says or the tool found, by compare-and-set on the epoch of the attempt it is
 * about. Undefined when somebody else was first.
 * @param resolution JSON of the person's; null when the tool found out.
 * @param sentence Tells the model, after the name of the action.
 * @param deed Whose finding it is, for the record.
 */
export function* settleUnknown(
  outbox: Outbox,
  unknown: ActionRow,
  { settled, resolution, sentence, deed }: { settled: Settled; resolution: string | null; sentence: string; deed: Cause },
  nowMs: number,
): Tx<ActionRow | undefined> {
  const { id, epoch } = unknown
  const writer = yield* writeSessionOf(outbox, unknown, nowMs)
  const ended = { ...columnsOf(settled), resolution }
  if (!(yield* attempts.resolveAction.change({ id, epoch, to: settled.to, ...ended, now: nowMs }))) return undefined
  yield* endReuse(unknown)
  const row: ActionRow = { ...unknown, ...ended, state: settled.to, checks: null, due_at: null, told: 1, updated_at: nowMs }
  const ending = {
    ...(settled.to === 'succeeded' ? { result: settled.output, resultUrl: row.result_url, error: null } : { error: settled.error }),
    ...(unknown.checks !== null && { checks: null }),
  }
  yield* emitUpdate(outbox, writer, row, { ...ending, resolution: resolution && JSON.parse(resolution) }, deed, nowMs)
  yield* tellModel(outbox, writer, { ...row, told: unknown.told }, sentence, nowMs)
  return row
}

/**
 * Gives the model the result of its call, or a note where it was told of an earlier attempt. Answers what is still open in the session.
 */
function* tellModel(
  outbox: Outbox,
  writer: SessionWriter | undefined,
  row: ActionRow,
  sentence: string,
  nowMs: number,
): Tx<readonly actions.OpenAction[]> {
  if (!writer) return []
  if (row.told) {
    yield* noteResult(writer, row, sentence, nowMs)
  } else yield* writeToolResult(writer, row, undefined, nowMs)
  const open = yield* writer.finish()
  outbox.sessions.add(writer.row.id)
  return open
}

function endingOf({ state, result }: ActionRow): string {
  if (state === 'succeeded') return `succeeded. Result: ${result}`
  return state === 'failed' ? 'failed again' : 'ended without a known outcome'
}
