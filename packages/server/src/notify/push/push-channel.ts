import type { Principal } from '@countersign/core'
import { isOverdue, isWaitingFor } from '../../gate/index.ts'
import {
  type ActionRow,
  actions,
  keys,
  lockKey,
  newId,
  principals,
  pushDeliveries,
  pushSubscriptions,
  snoozes,
  stored,
  type Tx,
  type WebhookDeliveryRow,
  webhookDeliveries,
} from '../../store/index.ts'
import { post } from '../attempt.ts'
import type { Channel, ChannelDeps, PreparedAttempt } from '../channels.ts'
import { hostOf } from '../host-of.ts'
import { FAILING_MS } from '../webhook-channel.ts'
import { encryptPush } from './encrypt.ts'
import { mustAlwaysShow, type PushMessage, showMessage, withdrawMessage } from './message.ts'
import { preferenceOf } from './preferences.ts'
import { quietUntil } from './quiet.ts'

const DAY_SECONDS = 86_400
const MIN_TTL_SECONDS = 60
/** Of these answers the next attempt would be another: the subscription has ended. */
const GONE = new Set([404, 410])

/** The text of a notification about an action. */
interface ShownFacts {
  revision: number
  /** When the action was assigned to the person. Absent where it was not. */
  assignedAt?: number
  /** The action is overdue, and the person is reminded of it. */
  overdue?: true
  /** A message before it may be on the screen: until this one is sent, the end of the action takes that back. */
  replaces?: true
}

/**
 * Sends Web Push messages. The gate enqueues one row for each change of whom an action waits for; this channel then compares that with what
 * each browser was told, and enqueues a message to those where it differs. Whether a message still holds is judged again when it is sent.
 */
export function pushChannel({ clock, network, pushKey }: ChannelDeps): Channel {
  return {
    pending: () => pushDeliveries.nextOfEach.all({}),
    *prepare(delivery, now) {
      // Of two looks at an action at once, the second has to see what the first enqueued.
      if (delivery.webhook_id === pushDeliveries.EVERY_SUBSCRIPTION) yield* lockKey(`push ${delivery.action_id}`)
      const row = yield* actions.findAction.first({ id: delivery.action_id ?? '' })
      if (!row) return 'dropped'
      if (delivery.webhook_id === pushDeliveries.EVERY_SUBSCRIPTION) {
        yield* tellSubscribers(row, now)
        return 'done'
      }
      const subscription = yield* pushSubscriptions.findSendable.first({ id: delivery.webhook_id, now })
      if (!subscription) return 'dropped'
      const isShown = delivery.type === 'push.show'
      if (isShown) {
        if (!(yield* isStillToBeShown(delivery, row, now))) return 'dropped'
        const until = quietUntil(yield* preferenceOf(subscription.principal_id, 'quietHours'), now)
        if (until !== undefined) return { waitUntil: until }
        return attemptAt(subscription, showMessage(row, shownBy(delivery), subscription.endpoint), row)
      }
      // The push service took it late: what waits again has been shown since, or is about to be.
      if ((yield* newestAt(delivery))?.id !== delivery.id) return 'dropped'
      // Kept as done, so that what waits again is shown again. The notification stays until the person opens it.
      if (mustAlwaysShow(subscription.endpoint)) return 'done'
      return attemptAt(subscription, withdrawMessage(row.id), row)
    },
  }

  function attemptAt(subscription: pushSubscriptions.PushSubscriptionRow, message: PushMessage, row: ActionRow): PreparedAttempt {
    const { id, endpoint, failing_since } = subscription
    return {
      host: hostOf(endpoint),
      send(signal) {
        const now = clock.nowMs()
        // A notification may have been shown long before a phone went offline: its withdrawal outlives the deadline.
        const endsAt = 'show' in message ? row.expires_at : null
        const leftSeconds = endsAt === null ? DAY_SECONDS : Math.ceil((endsAt - now) / 1_000)
        const headers = {
          authorization: pushKey.authorize(endpoint, now),
          'content-encoding': 'aes128gcm',
          'content-type': 'application/octet-stream',
          ttl: String(Math.min(DAY_SECONDS, Math.max(MIN_TTL_SECONDS, leftSeconds))),
          urgency: 'high',
          // A message that the browser did not fetch yet is replaced by the next one about the same action.
          topic: row.id.slice(0, 32),
        }
        return post({ network, clock, url: endpoint, headers, body: encryptPush(JSON.stringify(message), subscription), signal })
      },
      *noteResult(isDone, { at }) {
        if (isDone) yield* pushSubscriptions.noteSuccess.run({ id })
        else yield* pushSubscriptions.noteFailure.run({ id, at })
        return undefined
      },
      isLast: (status) => status !== null && GONE.has(status),
      giveUp(status, at) {
        const isGone = status !== null && GONE.has(status)
        if (!isGone && at - (failing_since ?? at) < FAILING_MS) return undefined
        return function* () {
          yield* pushSubscriptions.deleteSubscription.run({ id })
          yield* webhookDeliveries.endWaiting.run({ webhook_id: id, now: clock.nowMs() })
          return isGone ? 'gone' : 'failing'
        }
      },
    }
  }
}

/** False also for a message that the look after a later change replaces. */
function* isStillToBeShown(delivery: WebhookDeliveryRow, row: ActionRow, now: number): Tx<boolean> {
  const subscriber = yield* pushSubscriptions.findSubscriber.first({ id: delivery.webhook_id, now })
  const person = subscriber && personAt(subscriber)
  return person !== undefined && isSaid(shownBy(delivery), factsFor(row, person)) && (yield* isToBeShown(row, person, now))
}

/** The person at a browser. Signed in there with a key, they may do what the key may, and nothing more. */
const personAt = (subscriber: pushSubscriptions.Subscriber): Principal =>
  subscriber.key_id === null ? principals.readPrincipal(subscriber) : keys.principalOf(subscriber)

const shownBy = ({ facts }: Pick<WebhookDeliveryRow, 'facts'>): ShownFacts => JSON.parse(facts)

/** Returns the notification of an action that waits for a person. When it is assigned, only the assignees are reminded that it is overdue. */
function factsFor(row: ActionRow, { id, roles }: Principal): ShownFacts {
  const assignment = stored.assignmentOf(row)
  const isTheirs = assignment !== null && ('person' in assignment ? assignment.person === id : roles.includes(assignment.role))
  return {
    revision: row.revision,
    // Nobody is told what they did themselves.
    ...(isTheirs && assignment.by !== id && { assignedAt: assignment.at }),
    ...(isOverdue(row) && (assignment === null || isTheirs) && { overdue: true as const }),
  }
}

/** True when a browser that shows `shown` says all that is new for its person. */
const isSaid = (shown: ShownFacts, { revision, assignedAt, overdue }: ShownFacts): boolean =>
  shown.revision === revision &&
  (assignedAt === undefined || shown.assignedAt === assignedAt) &&
  (overdue === undefined || shown.overdue === overdue)

/** True while the action waits for the person, and they did not snooze it. */
function* isToBeShown(row: ActionRow, person: Principal, now: number): Tx<boolean> {
  if (!(yield* isWaitingFor(row, person, now))) return false
  return (yield* snoozes.findSnooze.first({ principal_id: person.id, action_id: row.id, now })) === undefined
}

/** The newest message about the action of a delivery to the same browser. */
function* newestAt({ action_id, webhook_id }: WebhookDeliveryRow) {
  return (yield* pushDeliveries.newestMessages.all({ action_id: action_id ?? '' })).find((one) => one.webhook_id === webhook_id)
}

/** Enqueues a message for each browser that shows something else than it should. */
function* tellSubscribers(row: ActionRow, now: number): Tx<void> {
  const newest = new Map((yield* pushDeliveries.newestMessages.all({ action_id: row.id })).map((one) => [one.webhook_id, one]))
  const waitsFor = new Map<string, boolean>()
  for (const subscriber of yield* pushSubscriptions.listSendable.all({ now })) {
    const { subscription_id, key_id } = subscriber
    const person = personAt(subscriber)
    const rights = `${person.id} ${key_id ?? ''}`
    const waits = waitsFor.get(rights) ?? (yield* isToBeShown(row, person, now))
    waitsFor.set(rights, waits)
    const last = newest.get(subscription_id)
    const shown = last?.type === 'push.show' && last.state !== 'failed' ? shownBy(last) : undefined
    // A message that no process has begun to send is dropped when it is due: there is nothing to withdraw, and quiet hours stay quiet.
    const isUnsent = last?.state === 'waiting' && last.epoch === 0 && shown?.replaces === undefined
    // A withdrawal that did not get through leaves what was shown.
    const mayBeOnScreen = shown ? !isUnsent : last?.type === 'push.withdraw' && last.state !== 'delivered'
    const facts = waits ? factsFor(row, person) : undefined
    if (facts ? shown && isSaid(shown, facts) : shown === undefined || isUnsent) continue
    const quiet = waits ? quietUntil(yield* preferenceOf(person.id, 'quietHours'), now) : undefined
    yield* pushDeliveries.insertMessage.run({
      subscription_id,
      id: newId('evt', now),
      type: waits ? 'push.show' : 'push.withdraw',
      action_id: row.id,
      facts: JSON.stringify({ ...facts, ...(waits && mayBeOnScreen && { replaces: true }) }),
      now,
      at: quiet ?? now,
    })
  }
}
