import type { Network } from '@countersign/toolkit'
import { checkpoint } from '@countersign/toolkit/internal'
import type { Logger } from 'pino'
import { recordAudit, SYSTEM } from '../audit/index.ts'
import type { Clock } from '../clock.ts'
import { takesCallback } from '../gate/index.ts'
import {
  actions,
  lock,
  type Outbox,
  type Store,
  stored,
  type Tx,
  type WebhookDeliveryRow,
  type WebhookRow,
  webhookDeliveries,
  webhooks,
} from '../store/index.ts'
import { ANSWER_WITHIN_MS, type Attempted, attempt } from './attempt.ts'
import { bodyOf } from './body.ts'
import { hostOf } from './host-of.ts'
import { retryAfterMs } from './schedule.ts'

/** Concurrent deliveries to one webhook. With at most 50 webhooks no other limit is needed, so a slow webhook does not delay the others. */
const PER_WEBHOOK = 4
/** A claim on a delivery expires after this long, when its process must have died. Longer than an attempt and its commits take. */
const LEASE_MS = ANSWER_WITHIN_MS + 45_000
/** A webhook that only fails for this long is disabled. */
const FAILING_MS = 5 * 24 * 60 * 60_000
const MOST_ATTEMPTS_KEPT = 20
/** On shutdown, a running attempt has this long to end. Otherwise it is repeated later. */
const STOP_MS = 3_000
/** Deliveries that another process claimed, or that an error kept from being claimed, are checked again after this long. */
const LOOK_AGAIN_MS = 5_000

export interface SenderOptions {
  store: Store
  clock: Clock
  network: Network
  /** Where people reach the console. */
  publicUrl: string | undefined
  log: Logger
  /** Id of this process. */
  processId(): string
  /** Counts the work as in flight, and logs its failure. */
  background(work: Promise<unknown>): void
  /** Reads due deliveries again. */
  rearm(): void
  /** From 0 to 1. Default: `Math.random`. */
  random?: () => number
}

/** Sends pending deliveries, each by one process at a time and at least once. */
export interface WebhookSender {
  /** Starts to send what is due. @returns In how many ms the next delivery is due; undefined when nothing waits. */
  doWhatIsDue(signal: AbortSignal): Promise<number | undefined>
  /** Releases the claims of processes that are gone: of the given processes, or by default of all but this one. */
  recover(gone?: readonly string[]): Promise<void>
  /** Ends running attempts soon. Call the result once none is left. */
  stop(): () => void
}

interface Job {
  webhook: WebhookRow
  delivery: WebhookDeliveryRow
  /** Undefined for a callback whose address may no longer be used. */
  url: string | undefined
  body: string
}

export function createSender(options: SenderOptions): WebhookSender {
  const { store, clock, network, publicUrl, log, processId, background, rearm, random = Math.random } = options
  const underWay = new Map<string, number>()
  const stopping = new AbortController()

  function* claim(webhookId: string, { id, epoch }: { id: string; epoch: number }): Tx<Job | undefined> {
    const now = clock.nowMs()
    const claimed = { webhook_id: webhookId, id, epoch, runner: processId(), now, until: now + LEASE_MS }
    if (!(yield* webhookDeliveries.claimDelivery.change(claimed))) return undefined
    const webhook = yield* webhooks.findWebhook.first({ id: webhookId })
    const delivery = yield* webhookDeliveries.findDelivery.first({ webhook_id: webhookId, id })
    return webhook && delivery && { webhook, delivery, url: yield* addressOf(delivery, webhook), body: yield* bodyOf(delivery, publicUrl) }
  }

  /** Returns false when nothing was sent: another process has the delivery, it ended, or everything is held. */
  async function sendOne(webhookId: string, due: { id: string; epoch: number }): Promise<boolean> {
    checkpoint('webhook.before_claim')
    const job = await store.transact(() => claim(webhookId, due))
    if (!job) return false
    const { webhook, delivery, url, body } = job
    const at = clock.nowMs()
    try {
      const { secret, earlier_secret, earlier_until } = webhook
      const secrets = earlier_secret !== null && (earlier_until ?? 0) > at ? [secret, earlier_secret] : [secret]
      checkpoint('webhook.before_send')
      const attempted =
        url === undefined ? NO_CALLBACK : await attempt({ network, clock, url, id: delivery.id, body, secrets, signal: stopping.signal })
      checkpoint('webhook.before_store')
      await store.transact(() => settle(job, attempted, at))
      checkpoint('webhook.after_store')
      const { status, error } = attempted
      const failingSince = webhook.failing_since ?? at
      if (!isDelivered(status) && delivery.is_callback === 0 && (status === 410 || at - failingSince >= FAILING_MS)) {
        const why = await store.transact((outbox) => disable(outbox, webhookId, status))
        if (why !== undefined) log.warn({ webhookId, host: hostOf(webhook.url), why }, 'webhook.disabled')
      }
      log.debug({ webhookId, eventId: delivery.id, status, error, host: hostOf(webhook.url) }, 'webhook.attempted')
      return true
    } catch (failure) {
      if (!stopping.signal.aborted) throw failure
      await store.transact(() => webhookDeliveries.giveBack.run({ ...keyOf(delivery), now: clock.nowMs() }))
      return false
    }
  }

  function* settle({ webhook, delivery }: Job, { status, answer, error }: Attempted, at: number): Tx<void> {
    const now = clock.nowMs()
    const isDone = isDelivered(status)
    // The webhook's row comes before the delivery's, in the same order as when a webhook is disabled.
    // An address that an agent named says nothing about the webhook's own.
    if (delivery.is_callback === 0) {
      if (isDone) yield* webhooks.noteSuccess.run({ id: webhook.id })
      else yield* webhooks.noteFailure.run({ id: webhook.id, at })
    }
    const tries = isDone ? delivery.tries : delivery.tries + 1
    const isOver = isDone || (delivery.is_callback === 1 && status === 410)
    const retryMs = isOver ? undefined : retryAfterMs(tries, random())
    const attempts = [...JSON.parse(delivery.attempts), { at, durationMs: Math.max(0, now - at), status, error }].slice(-MOST_ATTEMPTS_KEPT)
    const ended = {
      ...keyOf(delivery),
      state: isDone ? 'delivered' : retryMs === undefined ? 'failed' : 'waiting',
      tries,
      next_at: retryMs === undefined ? null : now + retryMs,
      attempts: JSON.stringify(attempts),
      ended_at: retryMs === undefined ? now : null,
    } as const
    // If the action was redacted meanwhile, the answer is dropped: it may repeat what was sent.
    for (const kept of [
      { redacted: delivery.redacted, answer },
      { redacted: 1, answer: null },
    ]) {
      if (yield* webhookDeliveries.settleDelivery.change({ ...ended, ...kept })) return
      const { attempts } = ended
      const state = isDone ? 'delivered' : 'failed'
      if (yield* webhookDeliveries.noteGivenUp.change({ ...keyOf(delivery), ...kept, attempts, state })) return
    }
  }

  /** Disables a webhook that is gone, or that has failed for too long. In its own transaction: the lock of the record comes first. */
  function* disable(outbox: Outbox, id: string, status: number | null): Tx<'gone' | 'failing' | undefined> {
    const now = clock.nowMs()
    yield* lock(SYSTEM)
    const webhook = yield* webhooks.findWebhook.first({ id })
    if (!webhook || webhook.disabled_at !== null) return undefined
    const why = status === 410 ? 'gone' : now - (webhook.failing_since ?? now) >= FAILING_MS ? 'failing' : undefined
    if (why === undefined) return undefined
    const host = hostOf(webhook.url)
    yield* recordAudit(outbox, { kind: 'webhook_disabled', actor: SYSTEM, data: { webhook: id, host, why } }, now)
    yield* webhooks.disableWebhook.run({ id, why, now })
    yield* webhookDeliveries.endWaiting.run({ webhook_id: id, now })
    return why
  }

  async function begin(webhookId: string, due: { id: string; epoch: number }): Promise<void> {
    underWay.set(webhookId, (underWay.get(webhookId) ?? 0) + 1)
    let wasSent = false
    try {
      wasSent = await sendOne(webhookId, due)
    } catch (error) {
      log.error({ webhookId, eventId: due.id, error }, 'webhook.attempt_lost')
    } finally {
      const left = (underWay.get(webhookId) ?? 1) - 1
      if (left > 0) underWay.set(webhookId, left)
      else underWay.delete(webhookId)
      // A failed claim is not retried at once: on a full disk that would loop forever.
      if (wasSent) rearm()
    }
  }

  return {
    async doWhatIsDue(signal) {
      const waits: number[] = []
      for (const { id, next_at } of await store.read(() => webhookDeliveries.nextOfEach.all({}))) {
        const now = clock.nowMs()
        const room = PER_WEBHOOK - (underWay.get(id) ?? 0)
        if (next_at > now) waits.push(next_at - now)
        // Each attempt that ends checks again.
        if (next_at > now || room <= 0 || signal.aborted) continue
        waits.push(LOOK_AGAIN_MS)
        for (const due of await store.read(() => webhookDeliveries.dueDeliveries.all({ webhook_id: id, now, limit: room }))) {
          background(begin(id, due))
        }
      }
      return waits.length === 0 ? undefined : Math.min(...waits)
    },
    async recover(gone) {
      await store.transact(() => webhookDeliveries.giveBackOf({ gone, own: processId(), now: clock.nowMs() }))
    },
    stop: () => clock.after(STOP_MS, () => stopping.abort()),
  }
}

/** Identifies a delivery and its claim: the epoch increases with each claim. */
const keyOf = ({ webhook_id, id, epoch }: WebhookDeliveryRow) => ({ webhook_id, id, epoch })

/** Checked at each attempt, because an admin may have moved the webhook, or the action was redacted, since the address was named. */
function* addressOf(delivery: WebhookDeliveryRow, webhook: WebhookRow): Tx<string | undefined> {
  if (delivery.is_callback === 0) return webhook.url
  const action = yield* actions.findAction.first({ id: delivery.action_id ?? '' })
  const url = action && stored.callbackOf(action)?.url
  return url !== undefined && takesCallback(webhook, url) ? url : undefined
}

const NO_CALLBACK: Attempted = { status: null, answer: null, error: 'the address of the callback is no longer under that of the webhook' }

const isDelivered = (status: number | null): boolean => status !== null && status >= 200 && status <= 299
