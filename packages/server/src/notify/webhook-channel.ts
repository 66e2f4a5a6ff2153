import type { ActionState } from '@countersign/core'
import { recordAudit, SYSTEM } from '../audit/index.ts'
import { type DeliveryFacts, takesCallback } from '../gate/index.ts'
import {
  actions,
  lock,
  type Outbox,
  stored,
  type Tx,
  type WebhookDeliveryRow,
  type WebhookRow,
  webhookDeliveries,
  webhooks,
} from '../store/index.ts'
import { type Attempted, attempt } from './attempt.ts'
import { bodyOf } from './body.ts'
import type { Channel, ChannelDeps } from './channels.ts'
import { hostOf } from './host-of.ts'
import { isBeyondWaits } from './schedule.ts'

/** A receiver that only fails for this long is given up. */
export const FAILING_MS = 5 * 24 * 60 * 60_000

/** Sends signed events to the addresses that admins named, and to the callbacks under them. */
export function webhookChannel({ clock, network, publicUrl }: ChannelDeps): Channel {
  /** Disables a webhook that is gone, or that has failed for too long. In its own transaction: the lock of the record comes first. */
  function* disable(outbox: Outbox, { id, url }: WebhookRow, status: number | null): Tx<'gone' | 'failing' | undefined> {
    const now = clock.nowMs()
    yield* lock(SYSTEM)
    const webhook = yield* webhooks.findWebhook.first({ id })
    // It may have been moved meanwhile: only the address that answered is given up.
    if (!webhook || webhook.disabled_at !== null || webhook.url !== url) return undefined
    const why = status === 410 ? 'gone' : now - (webhook.failing_since ?? now) >= FAILING_MS ? 'failing' : undefined
    if (why === undefined) return undefined
    const host = hostOf(webhook.url)
    yield* recordAudit(outbox, { kind: 'webhook_disabled', actor: SYSTEM, data: { webhook: id, host, why } }, now)
    yield* webhooks.disableWebhook.run({ id, why, now })
    yield* webhookDeliveries.endWaiting.run({ webhook_id: id, now })
    return why
  }

  return {
    pending: () => webhookDeliveries.nextOfEach.all({}),
    *prepare(delivery, now) {
      const webhook = yield* webhooks.findWebhook.first({ id: delivery.webhook_id })
      if (!webhook) return 'dropped'
      const isCallback = delivery.is_callback === 1
      // An admin's test shows what the receiver does now.
      const pausedUntil = webhook.paused_until ?? 0
      const isPaused = pausedUntil > now && !isBeyondWaits(pausedUntil, now)
      if (isPaused && !isCallback && delivery.type !== 'webhook.test') return { waitUntil: pausedUntil }
      const claimFrom = isCallback && delivery.type === 'action.decided' ? yield* claimableFrom(delivery) : now
      if (claimFrom !== undefined && claimFrom > now && !isBeyondWaits(claimFrom, now)) return { waitUntil: claimFrom }
      const url = yield* addressOf(delivery, webhook)
      const body = yield* bodyOf(delivery, publicUrl)
      const tried = { id: webhook.id, url: webhook.url }
      const secrets = [webhook, ...(yield* webhooks.earlierSecrets.all({ id: webhook.id, now }))].map(({ secret }) => secret)
      return {
        host: hostOf(webhook.url),
        async send(signal) {
          if (claimFrom === undefined) return NOT_CLAIMABLE
          return url === undefined ? NO_CALLBACK : attempt({ network, clock, url, id: delivery.id, body, secrets, signal })
        },
        *noteResult(isDone, { at, pausedUntil }) {
          // An address that an agent named says nothing about the webhook's own.
          if (isCallback) return undefined
          if (isDone) yield* webhooks.noteSuccess.run({ ...tried, paused: webhook.paused_until ?? 0 })
          else if ((yield* webhooks.noteFailure.change({ ...tried, at })) === 0) return 'moved'
          if (pausedUntil !== null) yield* webhooks.pauseWebhook.run({ ...tried, until: pausedUntil })
          return undefined
        },
        isLast: (status) => claimFrom === undefined || (isCallback && status === 410),
        giveUp(status, at) {
          if (isCallback || (status !== 410 && at - (webhook.failing_since ?? at) < FAILING_MS)) return undefined
          return (outbox) => disable(outbox, webhook, status)
        },
      }
    },
  }
}

/**
 * Returns from when on the action can be claimed, epoch ms, as its callback is to be told; undefined where that approval stands no more:
 * it was taken back, or the action ended before anybody had claimed it.
 */
function* claimableFrom({ action_id, facts }: WebhookDeliveryRow): Tx<number | undefined> {
  const action = yield* actions.findAction.first({ id: action_id ?? '' })
  const { revision }: DeliveryFacts = JSON.parse(facts)
  if (!action || action.revision !== revision || UNCLAIMED.has(action.state)) return undefined
  return action.state === 'approved' ? (action.starts_at ?? 0) : 0
}

const UNCLAIMED: ReadonlySet<ActionState> = new Set<ActionState>(['expired', 'cancelled'])

const NOT_CLAIMABLE: Attempted = { status: null, answer: null, error: 'nothing was sent: this approval does not stand any more' }

/** Checked at each attempt, because an admin may have moved the webhook, or the action was redacted, since the address was named. */
function* addressOf(delivery: WebhookDeliveryRow, webhook: WebhookRow): Tx<string | undefined> {
  if (delivery.is_callback === 0) return webhook.url
  const action = yield* actions.findAction.first({ id: delivery.action_id ?? '' })
  const url = action && stored.callbackOf(action)?.url
  return url !== undefined && takesCallback(webhook, url) ? url : undefined
}

const NO_CALLBACK: Attempted = { status: null, answer: null, error: 'the address of the callback is no longer under that of the webhook' }
