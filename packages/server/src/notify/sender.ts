import { checkpoint } from '@countersign/toolkit/internal'
import type { Logger } from 'pino'
import { pushDeliveries, type Store, type Tx, type WebhookDeliveryRow, webhookDeliveries } from '../store/index.ts'
import { ANSWER_WITHIN_MS, type Attempted } from './attempt.ts'
import { type ChannelDeps, createChannels, type Pending, type PreparedAttempt } from './channels.ts'
import { askedPauseMs, isBeyondWaits, retryAfterMs } from './schedule.ts'

/** Concurrent deliveries to one receiver. There are few receivers, so no other limit is needed: a slow one does not delay the others. */
const PER_RECEIVER = 4
/** A claim on a delivery expires after this long, when its process must have died. Longer than an attempt and its commits take. */
const LEASE_MS = ANSWER_WITHIN_MS + 45_000
const MOST_ATTEMPTS_KEPT = 20
/** On shutdown, a running attempt has this long to end. Otherwise it is repeated later. */
const STOP_MS = 3_000
/** Deliveries that are due but were not sent are checked again after this long: another process may have claimed them, or an error occurred. */
const LOOK_AGAIN_MS = 5_000

export interface SenderOptions extends ChannelDeps {
  store: Store
  log: Logger
  processId(): string
  /** Counts the work as in flight, and logs its failure. */
  background(work: Promise<unknown>): void
  /** Reads due deliveries again. */
  rearm(): void
  /** From 0 to 1. Default: `Math.random`. */
  random?: () => number
}

/** Sends pending deliveries, each by one process at a time and at least once. */
export interface DeliverySender {
  /** Starts to send what is due. @returns In how many ms the next delivery is due; undefined when nothing waits. */
  doWhatIsDue(signal: AbortSignal): Promise<number | undefined>
  /** Releases the claims of processes that are gone: of the given processes, or by default of all but this one. */
  recover(gone?: readonly string[]): Promise<void>
  /** Ends running attempts soon. Call the result once none is left. */
  stop(): () => void
}

type Due = { id: string; epoch: number }

interface Job {
  delivery: WebhookDeliveryRow
  attempt: PreparedAttempt
}

export function createSender(options: SenderOptions): DeliverySender {
  const { store, clock, log, processId, background, rearm, random = Math.random } = options
  const channels = createChannels(options)
  const inFlight = new Map<string, number>()
  const stopping = new AbortController()

  function* claim(receiverId: string, { id, epoch }: Due): Tx<Job | 'ended' | undefined> {
    const now = clock.nowMs()
    const claimed = { webhook_id: receiverId, id, epoch, runner: processId(), now, until: now + LEASE_MS }
    if (!(yield* webhookDeliveries.claimDelivery.change(claimed))) return undefined
    const delivery = yield* webhookDeliveries.findDelivery.first({ webhook_id: receiverId, id })
    if (!delivery) return undefined
    const prepared = yield* channels[delivery.channel].prepare(delivery, now)
    if (typeof prepared === 'object' && 'send' in prepared) return { delivery, attempt: prepared }
    const { tries, attempts, answer, redacted } = delivery
    const ended =
      typeof prepared === 'object'
        ? ({ state: 'waiting', next_at: prepared.waitUntil, ended_at: null } as const)
        : ({ state: prepared === 'done' ? 'delivered' : 'failed', next_at: null, ended_at: now } as const)
    yield* webhookDeliveries.settleDelivery.run({ ...keyOf(delivery), tries, attempts, answer, redacted, ...ended })
    return 'ended'
  }

  /** Returns false when nothing was done: another process has the delivery, it ended, or everything is held. */
  async function sendOne(receiverId: string, due: Due): Promise<boolean> {
    checkpoint('webhook.before_claim')
    const job = await store.transact(() => claim(receiverId, due))
    if (job === undefined || job === 'ended') return job === 'ended'
    const { delivery, attempt } = job
    const at = clock.nowMs()
    try {
      checkpoint('webhook.before_send')
      const attempted = await attempt.send(stopping.signal)
      checkpoint('webhook.before_store')
      await store.transact(() => settle(job, attempted, at))
      checkpoint('webhook.after_store')
      const { status, error } = attempted
      const said = { [`${delivery.channel}Id`]: receiverId, host: attempt.host }
      const giveUp = isDelivered(status) ? undefined : attempt.giveUp(status, at)
      if (giveUp) {
        const why = await store.transact(giveUp)
        if (why !== undefined) log.warn({ ...said, why }, `${delivery.channel}.disabled`)
      }
      log.debug({ ...said, eventId: delivery.id, status, error }, `${delivery.channel}.attempted`)
      return true
    } catch (failure) {
      if (!stopping.signal.aborted) throw failure
      await store.transact(() => webhookDeliveries.giveBack.run({ ...keyOf(delivery), now: clock.nowMs() }))
      return false
    }
  }

  function* settle({ delivery, attempt }: Job, { status, answer, error, askedMs }: Attempted, at: number): Tx<void> {
    const now = clock.nowMs()
    const isDone = isDelivered(status)
    // The receiver's row comes before the delivery's, in the same order as when a receiver is disabled.
    const noted = yield* attempt.noteResult(isDone, { at, pausedUntil: askedMs === undefined ? null : now + askedPauseMs(askedMs) })
    const isMoved = noted === 'moved'
    const tries = isDone || isMoved ? delivery.tries : delivery.tries + 1
    const waitMs = () => (isMoved ? 0 : retryAfterMs(tries, random(), askedMs))
    const retryMs = isDone || attempt.isLast(status) ? undefined : waitMs()
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

  function* pendingOf(): Tx<Pending[]> {
    const found: Pending[] = []
    for (const { pending } of Object.values(channels)) found.push(...(yield* pending()))
    return found
  }

  async function begin(receiverId: string, due: Due): Promise<void> {
    inFlight.set(receiverId, (inFlight.get(receiverId) ?? 0) + 1)
    let wasSent = false
    try {
      wasSent = await sendOne(receiverId, due)
    } catch (error) {
      log.error({ receiverId, eventId: due.id, error }, 'webhook.attempt_lost')
    } finally {
      const left = (inFlight.get(receiverId) ?? 1) - 1
      if (left > 0) inFlight.set(receiverId, left)
      else inFlight.delete(receiverId)
      // A failed claim is not retried at once: on a full disk that would loop forever.
      if (wasSent) rearm()
    }
  }

  return {
    async doWhatIsDue(signal) {
      const waits: number[] = []
      for (const { id, next_at: stored } of await store.read(pendingOf)) {
        const now = clock.nowMs()
        // Only the look at the end of a snooze may lie further ahead: people choose that time.
        const isLost = id !== pushDeliveries.EVERY_SUBSCRIPTION && isBeyondWaits(stored, now)
        if (isLost) await store.transact(() => webhookDeliveries.bringForward.run({ webhook_id: id, now }))
        const next_at = isLost ? now : stored
        const room = PER_RECEIVER - (inFlight.get(id) ?? 0)
        // Each attempt that ends checks again at once, but not one whose result could not be stored.
        waits.push(next_at > now ? next_at - now : LOOK_AGAIN_MS)
        if (next_at > now || room <= 0 || signal.aborted) continue
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

const isDelivered = (status: number | null): boolean => status !== null && status >= 200 && status <= 299
