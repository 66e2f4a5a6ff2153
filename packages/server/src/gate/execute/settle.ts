import type { ActionErrorView, ActionEvent, Resolution, Tool } from '@countersign/core'
import { checkpoint } from '@countersign/toolkit/internal'
import { type ActionRow, stored, type Tx } from '../../store/index.ts'
import { type GateContext, openSession } from '../context.ts'
import { revise } from '../decide/revise.ts'
import type { Cause } from '../events.ts'
import type { GateDeps } from '../gate.ts'
import { keepForReuse } from '../propose/reuse.ts'
import { viewChecks } from '../read/view.ts'
import { transition } from '../transition.ts'
import type { Settled } from './attempt.ts'
import { beginChecks, nextCheckAt, withinLongest } from './checks.ts'
import type { Revalidation } from './revalidate.ts'
import { enqueueNext } from './start-attempt.ts'
import { noteOfResult } from './tool-result.ts'

/** An end as the row has it. */
const columnsOf = (settled: Settled) => {
  const succeeded = settled.to === 'succeeded'
  return {
    result: succeeded ? JSON.stringify(settled.output) : null,
    result_url: succeeded ? (settled.url ?? null) : null,
    error: succeeded ? null : JSON.stringify(settled.error),
    runner: null,
  }
}

/** Whether an attempt leaves its key in doubt, and how its outcome is checked from then on. */
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
  const { looked, askedMs = 0 } = settled
  const dueAt = looked ? nextCheckAt(checks, nowMs, askedMs) : nowMs + withinLongest(askedMs)
  return { in_doubt: 1, checks: JSON.stringify(checks), due_at: dueAt }
}

const EVENT_OF = { succeeded: 'succeed', failed: 'fail', outcome_unknown: 'lose' } as const satisfies Readonly<
  Record<Settled['to'], ActionEvent>
>

/**
 * Ends an attempt, by compare-and-set on its epoch. False when a later one owns the action: then nothing is written, whatever the answer.
 * @param context Its caller is the client that reports the result; undefined when the server carried it out.
 * @param attempted The action as it was started.
 */
export function* settle(
  { executionsPerSession, tools }: Pick<GateDeps, 'executionsPerSession' | 'tools'>,
  context: GateContext,
  attempted: ActionRow,
  settled: Settled,
): Tx<boolean> {
  const { outbox, nowMs, caller } = context
  const opened = yield* openSession(context, attempted)
  const tool = tools.byName(attempted.tool)
  checkpoint('settle.storing')
  const row = yield* transition(opened, attempted, EVENT_OF[settled.to] as 'succeed', {
    patch: { ...columnsOf(settled), ...doubtOf(attempted, settled, tool, nowMs), resolution: null },
    changed: function* (moved) {
      if (tool?.cacheForMs !== undefined && settled.to === 'succeeded') yield* keepForReuse(opened, attempted, tool.cacheForMs)
      return {
        ...(settled.to === 'succeeded' ? { result: settled.output, resultUrl: moved.result_url } : { error: settled.error }),
        ...(moved.checks !== null && { checks: viewChecks(moved) }),
      }
    },
    cause: { kind: settled.to as 'succeeded', by: caller, data: { runner: attempted.runner }, tookMs: nowMs - attempted.updated_at },
    sentence: (moved) => `was tried again and ${endingOf(moved)}`,
  })
  if (!row) return false
  if (opened.session) enqueueNext(outbox, yield* opened.session.finish(), executionsPerSession)
  return true
}

/**
 * Ends an attempt that the target refused because it no longer was as shown, and requests approval with the current values. The model waits
 * with them. False when a later attempt owns the action.
 */
export function* settleStale(
  { executionsPerSession }: Pick<GateDeps, 'executionsPerSession'>,
  context: GateContext,
  attempted: ActionRow,
  { error, look }: { error: ActionErrorView; look: Extract<Revalidation, { to: 'ask' }> },
): Tx<boolean> {
  const opened = yield* openSession(context, attempted)
  const ended = columnsOf({ to: 'failed', error })
  const row = yield* transition(opened, attempted, 'fail', {
    patch: { ...ended, in_doubt: attempted.in_doubt, checks: null, due_at: null, resolution: null },
    changed: { error },
    cause: { kind: 'failed' },
    givesResult: false,
  })
  if (!row) return false
  yield* revise(opened, { ...row, state: 'failed' }, look.prepared, look.why)
  if (opened.session) enqueueNext(context.outbox, yield* opened.session.finish(), executionsPerSession)
  return true
}

/** The result of finding out about an attempt with an unknown outcome. */
export interface FoundOut {
  settled: Exclude<Settled, { to: 'outcome_unknown' }>
  /** How a person settled it; null when the tool found out. */
  resolution: Resolution | null
  /** Returns the result that the model receives. */
  sentence: string
  cause: Omit<Cause, 'kind'> & { kind: 'succeeded' | 'failed' | 'resolved' | 'verified' }
}

/**
 * Ends what was of unknown outcome, with what a person says or the tool found, by compare-and-set on the epoch of the attempt it is
 * about. Undefined when somebody else was first.
 */
export function* settleUnknown(
  context: GateContext,
  unknown: ActionRow,
  { settled, resolution, sentence, cause }: FoundOut,
): Tx<ActionRow | undefined> {
  const opened = yield* openSession(context, unknown)
  const row = yield* transition(opened, unknown, EVENT_OF[settled.to] as 'succeed', {
    patch: {
      ...columnsOf(settled),
      in_doubt: unknown.in_doubt,
      checks: null,
      due_at: null,
      resolution: resolution && JSON.stringify(resolution),
    },
    changed: (moved) => ({
      ...(settled.to === 'succeeded' ? { result: settled.output, resultUrl: moved.result_url, error: null } : { error: settled.error }),
      ...(unknown.checks !== null && { checks: null }),
      resolution,
    }),
    cause: cause as { kind: 'succeeded' },
    sentence,
  })
  if (row && opened.session) yield* opened.session.finish()
  return row
}

function endingOf(row: ActionRow): string {
  const { state } = row
  if (state === 'succeeded') return `succeeded. ${noteOfResult(stored.resultOf(row))}`
  return state === 'failed' ? `failed again: ${stored.errorOf(row)?.message ?? 'the reason is not known'}` : 'ended without a known outcome'
}
