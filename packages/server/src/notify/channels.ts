import type { Network } from '@countersign/toolkit'
import type { Clock } from '../clock.ts'
import type { ChannelName, Outbox, Tx, WebhookDeliveryRow } from '../store/index.ts'
import type { Attempted } from './attempt.ts'
import { pushChannel } from './push/push-channel.ts'
import type { PushKey } from './push/push-key.ts'
import { webhookChannel } from './webhook-channel.ts'

export interface ChannelDeps {
  clock: Clock
  network: Network
  /** Where people reach the console. */
  publicUrl: string | undefined
  pushKey: PushKey
}

/** A receiver with pending deliveries, and the time of the earliest. */
export interface Pending {
  id: string
  next_at: number
}

/** One attempt at a delivery, with everything that it sends. */
export interface PreparedAttempt {
  /** For the log: paths and queries of receivers often hold secrets. */
  readonly host: string
  /** @throws The reason of `signal` when that ended the attempt. */
  send(signal: AbortSignal): Promise<Attempted>
  /**
   * Notes at the receiver that it answered or failed, in the transaction that stores the result.
   * @param result When the attempt began, and until when the receiver asked to be left alone.
   * @returns `moved` when the receiver has another address now: a failure at the one before does not count.
   */
  noteResult(isDone: boolean, result: { at: number; pausedUntil: number | null }): Tx<'moved' | undefined>
  /** True for an answer after which nothing is tried again. */
  isLast(status: number | null): boolean
  /** Returns what gives the receiver up after this failure, and says why if it did; undefined while it is tried on. In a transaction of its own. */
  giveUp(status: number | null, at: number): ((outbox: Outbox) => Tx<string | undefined>) | undefined
}

/**
 * A way in which events leave the server. All channels share one queue: the sender claims, repeats and records deliveries, and a channel
 * knows its receivers and what a message to them looks like.
 */
export interface Channel {
  /** The receivers with pending deliveries. */
  pending(): Tx<Pending[]>
  /**
   * Prepares an attempt, in the transaction that claimed the delivery. `done`: the transaction has done it. `dropped`: there is nothing to
   * send any more.
   */
  prepare(delivery: WebhookDeliveryRow, nowMs: number): Tx<PreparedAttempt | { waitUntil: number } | 'done' | 'dropped'>
}

/** Returns all channels. A name of a new one does not compile until it is made here. */
export const createChannels = (deps: ChannelDeps): Readonly<Record<ChannelName, Channel>> => ({
  webhook: webhookChannel(deps),
  push: pushChannel(deps),
})
