import {
  type ChangeWebhookBody,
  CountersignError,
  type CreatedWebhook,
  type CreateWebhookBody,
  type DisabledWhy,
  type Webhook,
  type WebhookDelivery,
} from '@countersign/core'
import { recordAudit } from '../audit/index.ts'
import { type CallerContext, isoOrNull, isoTime, requireStanding, viewPrincipal } from '../gate/index.ts'
import { lockKey, newId, type Tx, type WebhookDeliveryRow, type WebhookRow, webhookDeliveries, webhooks } from '../store/index.ts'
import { hostOf } from './host-of.ts'

/** Serializes changes of webhooks: their number is limited, and so is that of their secrets. */
const LOCK = 'webhooks'

/** The most earlier secrets that sign beside the current one: each is a signature in the header of every request. */
const MOST_EARLIER_SECRETS = 4

export function* viewWebhook(row: WebhookRow, nowMs: number): Tx<Webhook> {
  const [earlier] = yield* webhooks.earlierSecrets.all({ id: row.id, now: nowMs })
  return {
    id: row.id,
    url: row.url,
    description: row.description,
    events: JSON.parse(row.events),
    callbacks: row.callbacks === 1,
    disabledAt: isoOrNull(row.disabled_at),
    disabledWhy: row.disabled_why as DisabledWhy | null,
    failingSince: isoOrNull(row.failing_since),
    earlierSecretUntil: isoOrNull(earlier?.until ?? null),
    createdBy: yield* viewPrincipal(row.created_by),
    createdAt: isoTime(row.created_at),
  }
}

export const viewDelivery = (row: WebhookDeliveryRow): WebhookDelivery => ({
  id: row.id,
  type: row.type as WebhookDelivery['type'],
  actionId: row.action_id,
  toCallback: row.is_callback === 1,
  state: row.state,
  attempts: (JSON.parse(row.attempts) as { at: number; durationMs: number; status: number | null; error: string | null }[]).map(
    ({ at, ...attempt }) => ({ at: isoTime(at), ...attempt }),
  ),
  answer: row.answer,
  nextAttemptAt: isoOrNull(row.next_at),
  createdAt: isoTime(row.created_at),
  endedAt: isoOrNull(row.ended_at),
})

/** @throws CountersignError `not_found`. */
export function* findWebhook(id: string): Tx<WebhookRow> {
  const row = yield* webhooks.findWebhook.first({ id })
  if (!row) throw new CountersignError('not_found', `there is no webhook ${id}`)
  return row
}

/** Serializes changes of webhooks, and checks after the wait that the caller is still an admin. */
function* inTurn({ caller, nowMs }: CallerContext): Tx<void> {
  yield* lockKey(LOCK)
  yield* requireStanding(caller, nowMs)
}

/**
 * Creates a webhook. It receives the events from this transaction on.
 * @param body Its URL is checked already.
 * @throws CountersignError `bad_request` when there are 50, or when nothing would ever be sent there.
 */
export function* createWebhook(
  context: CallerContext,
  { url, events, callbacks = false, description = '' }: CreateWebhookBody,
  secret: string,
): Tx<Omit<CreatedWebhook, 'secret'>> {
  const { outbox, caller, nowMs } = context
  yield* inTurn(context)
  const id = newId('whk', nowMs)
  const count = Number((yield* webhooks.countWebhooks.first({}))?.count ?? 0)
  if (count >= webhooks.MOST_WEBHOOKS) {
    throw new CountersignError('bad_request', `there are ${webhooks.MOST_WEBHOOKS} webhooks, and there can be no more: delete one first`)
  }
  requireUse(events, callbacks)
  const data = { webhook: id, host: hostOf(url), events, callbacks }
  yield* recordAudit(outbox, { kind: 'webhook_made', actor: caller.principal.id, data }, nowMs)
  yield* webhooks.insertWebhook.run({
    id,
    url,
    description,
    events: JSON.stringify(events),
    callbacks: Number(callbacks),
    secret,
    created_by: caller.principal.id,
    now: nowMs,
  })
  return yield* viewWebhook(yield* findWebhook(id), nowMs)
}

function requireUse(events: readonly string[], callbacks: boolean): void {
  if (events.length === 0 && !callbacks) {
    throw new CountersignError('bad_request', 'events: must name at least one event, unless the webhook takes callbacks')
  }
}

/** @throws CountersignError `not_found`; `bad_request` when nothing would ever be sent there. */
export function* changeWebhook(context: CallerContext, id: string, body: ChangeWebhookBody): Tx<Webhook> {
  const { outbox, caller, nowMs } = context
  yield* inTurn(context)
  const found = yield* findWebhook(id)
  const { url = found.url, description = found.description, events, callbacks = found.callbacks === 1, disabled } = body
  const told: readonly string[] = events ?? JSON.parse(found.events)
  requireUse(told, callbacks)
  const data = { webhook: id, host: hostOf(url), events: [...told], callbacks, disabled: disabled ?? found.disabled_at !== null }
  yield* recordAudit(outbox, { kind: 'webhook_changed', actor: caller.principal.id, data }, nowMs)
  yield* webhooks.changeWebhook.run({ id, url, description, events: JSON.stringify(told), callbacks: Number(callbacks) })
  if (url !== found.url) {
    // Pending deliveries were delayed because of the previous address: by hours after failures, by up to a day after a Retry-After.
    yield* webhookDeliveries.bringForward.run({ webhook_id: id, now: nowMs })
    outbox.deliveriesAt = nowMs
  }
  if (disabled === true && (yield* webhooks.disableWebhook.change({ id, why: 'admin', now: nowMs }))) {
    yield* webhookDeliveries.endWaiting.run({ webhook_id: id, now: nowMs })
  }
  if (disabled === false) yield* webhooks.enableWebhook.run({ id })
  return yield* viewWebhook(yield* findWebhook(id), nowMs)
}

/**
 * Gives a webhook a new secret. The previous one also signs for `overlapMs`, and those before it until their own time; with an overlap of 0
 * the new one alone signs from now on.
 * @throws CountersignError `not_found`; `bad_request` while the most earlier secrets sign.
 */
export function* rotateSecret(
  context: CallerContext,
  id: string,
  { secret, overlapMs }: { secret: string; overlapMs: number },
): Tx<Omit<CreatedWebhook, 'secret'>> {
  const { outbox, caller, nowMs } = context
  yield* inTurn(context)
  const { url, secret: previous } = yield* findWebhook(id)
  const until = nowMs + overlapMs
  const earlier = overlapMs === 0 ? [] : yield* webhooks.earlierSecrets.all({ id, now: nowMs })
  const next = earlier[MOST_EARLIER_SECRETS - 1]
  if (next) {
    throw new CountersignError(
      'bad_request',
      `${MOST_EARLIER_SECRETS} earlier secrets of this webhook still sign: rotate it after ${isoTime(next.until)}, or with the overlap PT0S, which ends them now`,
    )
  }
  yield* recordAudit(
    outbox,
    { kind: 'webhook_rotated', actor: caller.principal.id, data: { webhook: id, host: hostOf(url), until } },
    nowMs,
  )
  if (overlapMs === 0) yield* webhooks.endEarlierSecrets.run({ id })
  else yield* webhooks.insertEarlierSecret.run({ webhook_id: id, secret: previous, until })
  yield* webhooks.setSecret.run({ id, secret })
  return yield* viewWebhook(yield* findWebhook(id), nowMs)
}

/** Deletes a webhook with its secrets, and discards its pending deliveries. @throws CountersignError `not_found`. */
export function* deleteWebhook(context: CallerContext, id: string): Tx<Webhook> {
  const { outbox, caller, nowMs } = context
  yield* inTurn(context)
  const found = yield* findWebhook(id)
  yield* recordAudit(outbox, { kind: 'webhook_deleted', actor: caller.principal.id, data: { webhook: id, host: hostOf(found.url) } }, nowMs)
  const view = yield* viewWebhook(found, nowMs)
  yield* webhooks.endEarlierSecrets.run({ id })
  yield* webhooks.deleteWebhook.run({ id })
  yield* webhookDeliveries.endWaiting.run({ webhook_id: id, now: nowMs })
  return view
}

/** Enqueues a test event. @throws CountersignError `not_found`; `bad_request` while the webhook is disabled. */
export function* sendTest({ outbox, caller, nowMs }: CallerContext, webhookId: string): Tx<WebhookDelivery> {
  yield* requireStanding(caller, nowMs)
  const id = newId('evt', nowMs)
  yield* requireEnabled(webhookId)
  yield* webhookDeliveries.insertTest.run({ webhook_id: webhookId, id, facts: JSON.stringify({ webhookId }), now: nowMs })
  outbox.deliveriesAt = nowMs
  return viewDelivery(yield* findDelivery(webhookId, id))
}

/**
 * Sends a delivery again, with the same `webhook-id`, also while the receiver asked for a pause. A delivery that is being sent stays as it
 * is.
 * @throws CountersignError `not_found`; `bad_request` while the webhook is disabled.
 */
export function* redeliver({ outbox, caller, nowMs }: CallerContext, webhookId: string, id: string): Tx<WebhookDelivery> {
  yield* requireStanding(caller, nowMs)
  yield* requireEnabled(webhookId)
  yield* findDelivery(webhookId, id)
  yield* webhooks.endPause.run({ id: webhookId })
  yield* webhookDeliveries.redeliver.run({ webhook_id: webhookId, id, now: nowMs })
  outbox.deliveriesAt = nowMs
  return viewDelivery(yield* findDelivery(webhookId, id))
}

function* requireEnabled(id: string): Tx<void> {
  const { disabled_at } = yield* findWebhook(id)
  if (disabled_at !== null) throw new CountersignError('bad_request', 'this webhook is disabled: enable it first')
}

function* findDelivery(webhookId: string, id: string): Tx<WebhookDeliveryRow> {
  const row = yield* webhookDeliveries.findDelivery.first({ webhook_id: webhookId, id })
  if (!row) throw new CountersignError('not_found', `webhook ${webhookId} has no delivery ${id}`)
  return row
}
