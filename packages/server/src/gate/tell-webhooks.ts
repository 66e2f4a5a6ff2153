import { type Action, type AssignTo, type AuditKind, hasEnded, type JsonObject, type WebhookEventType } from '@countersign/core'
import { endsAction } from '../audit/index.ts'
import { type ActionRow, newId, type Outbox, pushDeliveries, snoozes, stored, type Tx, webhookDeliveries } from '../store/index.ts'
import type { Cause } from './events.ts'
import { assigneeOf } from './read/view.ts'

/** Cuts what a tool or a person wrote: a payload stays below the 20 kB that Standard Webhooks recommends. */
const MOST_CHARACTERS = 1_000

/** The facts about an action in a delivery. They are stored when the event happens; names are looked up when it is sent. */
export interface DeliveryFacts {
  sessionId: string | null
  state: ActionRow['state']
  revision: number
  digest: string
  tool: string
  effect: ActionRow['effect']
  risk: Action['risk']['level']
  agent: string | null
  requestedBy: string
  attempt: number
  /** Epoch milliseconds, as all times here. */
  proposedAt: number
  expiresAt: number | null
  assignment?: { to: AssignTo | null; by: string }
  decision?: { by: string; for: string | null; verdict: 'approve' | 'decline' }
}

/** The texts of a delivery, which may contain arguments. */
export interface DeliveryWords {
  headline: string
  reason?: string
}

/** Tells webhooks, and the action's callback, of a new action that waits, or that ended at once. */
export function* tellOfProposal(outbox: Outbox, row: ActionRow, nowMs: number): Tx<void> {
  if (row.state === 'proposed') {
    yield* tell({ outbox, nowMs }, 'action.proposed', row)
    yield* lookWhomItWaitsFor(outbox, row, nowMs)
  }
  if (hasEnded(row.state)) yield* tell({ outbox, nowMs }, 'action.settled', row)
}

/** Tells webhooks, and the action's callback, what an action came to. */
export function* tellOfMove(outbox: Outbox, row: ActionRow, { kind, by, data }: Cause, nowMs: number): Tx<void> {
  if (WAKES.has(kind)) yield* snoozes.wakeAll.run({ action_id: row.id })
  if (kind === 'asked_again') yield* tell({ outbox, nowMs }, 'action.proposed', row)
  if (kind === 'assigned' && by) {
    yield* tell({ outbox, nowMs }, 'action.assigned', row, { assignment: { to: assigneeOf(row), by: by.principal.id } })
  }
  if ((kind === 'approved' || kind === 'declined') && by) {
    const verdict = kind === 'approved' ? 'approve' : 'decline'
    const decision = { by: by.principal.id, for: typeof data?.for === 'string' ? data.for : null, verdict } as const
    yield* tell({ outbox, nowMs }, 'action.decided', row, { decision, reason: data?.reason })
  }
  if (kind === 'outcome_unknown') yield* tell({ outbox, nowMs }, 'action.outcome_unknown', row)
  if (endsAction(kind) && hasEnded(row.state)) yield* tell({ outbox, nowMs }, 'action.settled', row)
  if (CHANGES_WAITING.has(kind)) yield* lookWhomItWaitsFor(outbox, row, nowMs)
}

/** After these events an action is no longer what people snoozed, so it returns to their inboxes. */
const WAKES: ReadonlySet<AuditKind> = new Set<AuditKind>(['asked_again', 'escalated', 'outcome_unknown'])

/** After these events an action may wait for other people, or for nobody. */
const CHANGES_WAITING: ReadonlySet<AuditKind> = new Set<AuditKind>([
  'voted',
  'vote_voided',
  'approved',
  'declined',
  'expired',
  'cancelled',
  'withdrawn',
  'voided',
  'asked_again',
  'escalated',
  'assigned',
])

/**
 * Enqueues a look at the people whom an action waits for, now or at a later time: their browsers are notified, or a
 * notification is withdrawn.
 */
export function* lookWhomItWaitsFor(outbox: Outbox, row: ActionRow, nowMs: number, at = nowMs): Tx<void> {
  if (!stored.wasAsked(row)) return
  yield* pushDeliveries.insertLook.run({ id: newId('evt', nowMs), type: 'push.look', action_id: row.id, now: nowMs, at })
  outbox.deliveriesAt ??= nowMs
}

/** Tells webhooks that nobody has decided for a while. It ends no snooze: the reminder may come five minutes after the proposal. */
export const tellOfDelay = (outbox: Outbox, row: ActionRow, nowMs: number): Tx<void> => tell({ outbox, nowMs }, 'action.overdue', row)

interface Said {
  decision?: DeliveryFacts['decision']
  assignment?: DeliveryFacts['assignment']
  reason?: JsonObject[string] | undefined
}

function* tell(
  { outbox, nowMs }: { outbox: Outbox; nowMs: number },
  type: WebhookEventType,
  row: ActionRow,
  { decision, assignment, reason }: Said = {},
): Tx<void> {
  const callback = isForCallback(type, row) ? stored.callbackOf(row) : null
  // A read that policy allows happens many times a minute, and nobody has to know.
  const isForAll = stored.wasAsked(row) || row.effect === 'write'
  if (!isForAll && callback === null) return
  const facts: DeliveryFacts = {
    sessionId: row.session_id,
    state: row.state,
    revision: row.revision,
    digest: row.digest,
    tool: row.tool,
    effect: row.effect,
    risk: stored.riskOf(row).level,
    agent: row.agent,
    requestedBy: row.requested_by,
    attempt: row.attempt,
    proposedAt: row.created_at,
    expiresAt: row.expires_at,
    ...(decision && { decision }),
    ...(assignment && { assignment }),
  }
  const words: DeliveryWords = { headline: cut(row.description), ...(typeof reason === 'string' && { reason: cut(reason) }) }
  const event = () => ({
    id: newId('evt', nowMs),
    type,
    action_id: row.id,
    // Most servers have no webhook: then nobody reads these.
    get facts() {
      return JSON.stringify(facts)
    },
    get words() {
      return JSON.stringify(words)
    },
    now: nowMs,
  })
  if (isForAll) yield* webhookDeliveries.insertDeliveries.run(event())
  // With an id of its own: the webhook may subscribe to the same event.
  if (callback) yield* webhookDeliveries.insertCallback.run({ ...event(), webhook_id: callback.webhook })
  outbox.deliveriesAt ??= nowMs
}

/** A callback is told when the proposer has something to do: to carry it out, or to go on with how it ended. */
const isForCallback = (type: WebhookEventType, { state, executor }: ActionRow): boolean =>
  type === 'action.settled' ||
  type === 'action.outcome_unknown' ||
  (type === 'action.decided' && state === 'approved' && executor === 'client')

const cut = (text: string): string => (text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS - 1)}…` : text).toWellFormed()
