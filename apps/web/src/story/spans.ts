import type { Action, ActionState, ActionStory, AuditKind } from '@countersign/client'

/** The phase of a span: people decide, the action is about to start, it runs, or nothing happens. */
export type SpanKind = 'waiting' | 'starting' | 'running' | 'resting'

export interface Span {
  kind: SpanKind
  fromMs: number
  toMs: number
}

const KIND_OF: Readonly<Record<ActionState, SpanKind | null>> = {
  proposed: 'waiting',
  approved: 'starting',
  executing: 'running',
  failed: 'resting',
  outcome_unknown: 'resting',
  // It ended.
  succeeded: null,
  declined: null,
  expired: null,
  cancelled: null,
}

/** The state that a row leads to, where a redaction took away what the row itself says. */
const STATE_AFTER: Partial<Record<AuditKind, ActionState>> = {
  proposed: 'proposed',
  approved: 'approved',
  asked_again: 'proposed',
  claimed: 'executing',
  executing: 'executing',
  resent: 'executing',
  retried: 'executing',
  declined: 'declined',
  expired: 'expired',
  cancelled: 'cancelled',
  withdrawn: 'cancelled',
  voided: 'cancelled',
  succeeded: 'succeeded',
  failed: 'failed',
  outcome_unknown: 'outcome_unknown',
}

/** The state of the action after a step; undefined where the step says nothing of it. */
function stateAfter({ data, kind }: ActionStory['steps'][number]): ActionState | undefined {
  const state = data?.state
  return typeof state === 'string' && Object.hasOwn(KIND_OF, state) ? (state as ActionState) : STATE_AFTER[kind]
}

/**
 * Splits the time of an action into spans, from its proposal to its end, or to now where it goes on. An action that failed or is of unknown
 * outcome ends there, unless something followed.
 */
export function spansOf(steps: ActionStory['steps'], action: Pick<Action, 'createdAt'>, nowMs: number): Span[] {
  const spans: Span[] = []
  let kind: SpanKind | null = 'waiting'
  let fromMs = Date.parse(action.createdAt)
  const end = (toMs: number): void => {
    if (kind === null) return
    const last = spans.at(-1)
    if (last?.kind === kind) last.toMs = Math.max(last.toMs, toMs)
    else spans.push({ kind, fromMs, toMs: Math.max(fromMs, toMs) })
  }
  for (const step of steps) {
    const state = stateAfter(step)
    if (state === undefined) continue
    const atMs = Date.parse(step.at)
    if (step.kind !== 'proposed') end(atMs)
    kind = KIND_OF[state]
    fromMs = Math.max(fromMs, atMs)
  }
  if (kind !== 'resting') end(nowMs)
  return spans
}
