import { CountersignError, type PushSubscriptionBody, type PushSubscriptionView } from '@countersign/core'
import type { Network } from '@countersign/toolkit'
import { type Caller, isoTime, requireStanding } from '../../gate/index.ts'
import { lockKey, newId, pushSubscriptions, type Tx } from '../../store/index.ts'
import { readAddress } from '../address.ts'
import { hostOf } from '../host-of.ts'
import { areSubscriptionKeys } from './encrypt.ts'

/** The most browsers of a person. One more replaces the oldest. */
const MOST_PER_PERSON = 10

/** The push services of browsers. Any other public address could be one that a person wants this server to call. */
const SERVICES = ['fcm.googleapis.com', 'push.services.mozilla.com', 'push.apple.com', 'notify.windows.com']

/**
 * Parses what a browser sent, for storage.
 * @throws CountersignError `invalid_arguments` for keys that are none; `bad_request` for an endpoint that is not of a push service, except on
 * this machine where `network.allow` lists it.
 */
export async function readSubscription({ endpoint, keys }: PushSubscriptionBody, network: Network) {
  if (!areSubscriptionKeys(keys)) throw new CountersignError('invalid_arguments', 'keys: are not those of a push subscription')
  const url = await readAddress(endpoint, network, 'endpoint')
  const { hostname, protocol } = new URL(url)
  const isService = protocol === 'https:' && SERVICES.some((name) => hostname === name || hostname.endsWith(`.${name}`))
  if (!isService && !/^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname)) {
    throw new CountersignError('bad_request', `endpoint: ${hostname} is not a push service that this server knows`)
  }
  return { endpoint: url, ...keys }
}

/** @throws CountersignError `unauthenticated` when the sign-in has ended meanwhile. */
export function* subscribe(
  caller: Caller,
  { sessionId, ...subscription }: { sessionId: string; endpoint: string; p256dh: string; auth: string },
  nowMs: number,
): Tx<PushSubscriptionView> {
  const person = caller.principal
  yield* lockKey(`push ${person.id}`)
  yield* requireStanding(caller, nowMs)
  const { endpoint, p256dh, auth } = subscription
  if (yield* pushSubscriptions.renewSubscription.change({ principal_id: person.id, session_id: sessionId, endpoint, p256dh, auth })) {
    const known = yield* pushSubscriptions.findByEndpoint.first({ endpoint })
    if (known) return viewSubscription(known, sessionId)
  }
  // A browser has one subscription, and the person who signed in last is notified there.
  yield* pushSubscriptions.deleteByEndpoint.run({ endpoint: subscription.endpoint })
  const id = newId('psh', nowMs)
  const isMade = yield* pushSubscriptions.insertSubscription.change({ id, session_id: sessionId, ...subscription, now: nowMs })
  if (!isMade) throw new CountersignError('unauthenticated', 'you were signed out meanwhile')
  const all = yield* pushSubscriptions.subscriptionsOf.all({ principal_id: person.id })
  for (const old of all.slice(MOST_PER_PERSON)) yield* pushSubscriptions.deleteSubscription.run({ id: old.id })
  return { id, service: hostOf(subscription.endpoint), isCurrent: true, createdAt: isoTime(nowMs) }
}

export const viewSubscription = (row: pushSubscriptions.PushSubscriptionRow, sessionId: string | undefined): PushSubscriptionView => ({
  id: row.id,
  service: hostOf(row.endpoint),
  isCurrent: row.console_session_id === sessionId,
  createdAt: isoTime(row.created_at),
})
