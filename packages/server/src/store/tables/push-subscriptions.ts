import { type Kysely, sql } from 'kysely'
import { lit, question } from '../query.ts'
import type { KeyLimits } from './keys.ts'
import type { PrincipalRow } from './principal-rows.ts'
import type { Schema } from './schema.ts'

/** A browser that is notified. */
export interface PushSubscriptionRow {
  id: string
  principal_id: string
  /** The sign-in that it was made with. */
  console_session_id: string
  /** Of the key that was used to sign in. */
  key_hash: string | null
  endpoint: string
  p256dh: string
  auth: string
  failing_since: number | null
  created_at: number
}

type NewSubscription = Pick<PushSubscriptionRow, 'id' | 'endpoint' | 'p256dh' | 'auth'>

/** Stores the subscription of a console that is signed in. No row changes when its session has ended meanwhile. */
export const insertSubscription = question<NewSubscription & { session_id: string; now: number }>((db, p) =>
  db
    .insertInto('push_subscription')
    .columns(['id', 'principal_id', 'console_session_id', 'key_hash', 'endpoint', 'p256dh', 'auth', 'created_at'])
    .expression((eb) =>
      eb
        .selectFrom('console_session as s')
        .select([
          sql<string>`cast(${p.id} as text)`.as('id'),
          's.principal_id',
          's.id as console_session_id',
          's.key_hash',
          sql<string>`cast(${p.endpoint} as text)`.as('endpoint'),
          sql<string>`cast(${p.p256dh} as text)`.as('p256dh'),
          sql<string>`cast(${p.auth} as text)`.as('auth'),
          sql<number>`cast(${p.now} as bigint)`.as('created_at'),
        ])
        .where('s.id', '=', p.session_id)
        .where('s.ended_at', 'is', null),
    ),
)

/** Gives a subscription that the person has already to another sign-in of theirs. No row changes when it is not theirs. */
export const renewSubscription = question<
  Pick<PushSubscriptionRow, 'endpoint' | 'principal_id' | 'p256dh' | 'auth'> & { session_id: string }
>((db, p) =>
  db
    .updateTable('push_subscription')
    .set((eb) => ({
      p256dh: p.p256dh,
      auth: p.auth,
      console_session_id: p.session_id,
      key_hash: eb.selectFrom('console_session').select('key_hash').where('id', '=', p.session_id),
    }))
    .where('endpoint', '=', p.endpoint)
    .where('principal_id', '=', p.principal_id)
    .where((eb) => eb.exists(eb.selectFrom('console_session').select('id').where('id', '=', p.session_id).where('ended_at', 'is', null))),
)

export const findByEndpoint = question<{ endpoint: string }, PushSubscriptionRow>((db, p) =>
  db.selectFrom('push_subscription').selectAll().where('endpoint', '=', p.endpoint),
)

/** The subscriptions of a person, newest first. */
export const subscriptionsOf = question<{ principal_id: string }, PushSubscriptionRow>((db, p) =>
  db.selectFrom('push_subscription').selectAll().where('principal_id', '=', p.principal_id).orderBy('id', 'desc').limit(lit(100)),
)

export const deleteByEndpoint = question<{ endpoint: string }>((db, p) =>
  db.deleteFrom('push_subscription').where('endpoint', '=', p.endpoint),
)

/** No row changes when the person has no such subscription. */
export const deleteOwn = question<{ id: string; principal_id: string }>((db, p) =>
  db.deleteFrom('push_subscription').where('id', '=', p.id).where('principal_id', '=', p.principal_id),
)

export const deleteSubscription = question<{ id: string }>((db, p) => db.deleteFrom('push_subscription').where('id', '=', p.id))

/** With the sign-in that they were made with. */
export const deleteOfSession = question<{ console_session_id: string }>((db, p) =>
  db.deleteFrom('push_subscription').where('console_session_id', '=', p.console_session_id),
)

/** All of a person but those that were made with the sign-in `kept`. */
export const deleteOthers = question<{ principal_id: string; kept: string }>((db, p) =>
  db.deleteFrom('push_subscription').where('principal_id', '=', p.principal_id).where('console_session_id', '!=', p.kept),
)

/** Records a failed attempt, if it is the first since the last success. */
export const noteFailure = question<{ id: string; at: number }>((db, p) =>
  db.updateTable('push_subscription').set({ failing_since: p.at }).where('id', '=', p.id).where('failing_since', 'is', null),
)

export const noteSuccess = question<{ id: string }>((db, p) =>
  db.updateTable('push_subscription').set({ failing_since: null }).where('id', '=', p.id).where('failing_since', 'is not', null),
)

const keyIsGood = (now: number) =>
  sql<boolean>`not exists (
    select 1 from api_key as k where k.hash = push_subscription.key_hash and (k.revoked_at is not null or k.expires_at <= ${now})
  )`

/** A subscription that may be sent to: its person is not disabled, and the key of its sign-in is valid. */
export const findSendable = question<{ id: string; now: number }, PushSubscriptionRow>((db, p) =>
  db
    .selectFrom('push_subscription')
    .innerJoin('principal', 'principal.id', 'push_subscription.principal_id')
    .selectAll('push_subscription')
    .where('push_subscription.id', '=', p.id)
    .where('principal.disabled_at', 'is', null)
    .where(keyIsGood(p.now)),
)

/** The person of a subscription, with the limits of the key of its sign-in. All of them are null without such a key in the store. */
export type Subscriber = PrincipalRow &
  KeyLimits & {
    subscription_id: string
    key_id: string | null
  }

const sendable = (db: Kysely<Schema>, now: number) =>
  db
    .selectFrom('push_subscription')
    .innerJoin('principal', 'principal.id', 'push_subscription.principal_id')
    .leftJoin('api_key', 'api_key.hash', 'push_subscription.key_hash')
    .selectAll('principal')
    .select('push_subscription.id as subscription_id')
    .select(['api_key.id as key_id', 'api_key.roles as key_roles', 'api_key.scopes', 'api_key.accepted_at', 'api_key.embed_roles'])
    .where('principal.disabled_at', 'is', null)
    .where(keyIsGood(now))

/** A subscription that may be sent to, with its person. */
export const findSubscriber = question<{ id: string; now: number }, Subscriber>((db, p) =>
  sendable(db, p.now).where('push_subscription.id', '=', p.id),
)

/** The subscriptions that may be sent to, each with its person. */
export const listSendable = question<{ now: number }, Subscriber>((db, p) =>
  sendable(db, p.now).orderBy('principal.id').orderBy('push_subscription.id').limit(lit(20_000)),
)
