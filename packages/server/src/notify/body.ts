import type { AssignTo } from '@countersign/core'
import { type DeliveryFacts, type DeliveryWords, isoTime } from '../gate/index.ts'
import { principals, type Tx, type WebhookDeliveryRow } from '../store/index.ts'

/** Replaces the text of a redacted action. */
const REDACTED_HEADLINE = 'Redacted'

/**
 * Returns the body of a delivery: `{type, timestamp, data}`. It never contains arguments, previews, results or errors: they may hold
 * secrets, and the receiver can read the action over the API.
 * @param publicUrl Where people reach the console; without one there is no link.
 */
export function* bodyOf(row: WebhookDeliveryRow, publicUrl: string | undefined): Tx<string> {
  const data = row.action_id === null ? JSON.parse(row.facts) : yield* dataOf(row, row.action_id, publicUrl)
  return JSON.stringify({ type: row.type, timestamp: isoTime(row.created_at), data })
}

function* dataOf({ type, facts, words, redacted }: WebhookDeliveryRow, actionId: string, publicUrl: string | undefined) {
  const { requestedBy, decision, assignment, proposedAt, expiresAt, ...said }: DeliveryFacts = JSON.parse(facts)
  const { headline, reason }: DeliveryWords = words === null ? { headline: REDACTED_HEADLINE } : JSON.parse(words)
  return {
    actionId,
    ...said,
    headline,
    ...(redacted && { redacted: true }),
    requestedBy: yield* nameOf(requestedBy),
    proposedAt: isoTime(proposedAt),
    expiresAt: expiresAt === null ? null : isoTime(expiresAt),
    ...(assignment && { assignment: { to: yield* assigneeOf(assignment.to), by: yield* nameOf(assignment.by) } }),
    ...(type === 'action.decided' &&
      decision && {
        decision: {
          by: yield* nameOf(decision.by),
          for: decision.for === null ? null : yield* nameOf(decision.for),
          verdict: decision.verdict,
          reason: reason ?? null,
        },
      }),
    url: publicUrl === undefined ? null : new URL(`/actions/${encodeURIComponent(actionId)}`, publicUrl).href,
  }
}

function* assigneeOf(to: AssignTo | null) {
  if (to === null) return null
  return 'person' in to ? { person: yield* nameOf(to.person) } : to
}

function* nameOf(id: string): Tx<{ id: string; name: string }> {
  return { id, name: (yield* principals.findPrincipal.first({ id }))?.name ?? id }
}
