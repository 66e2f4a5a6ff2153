import { sql } from 'kysely'
import { lit, question } from '../query.ts'
import type { Schema } from './schema.ts'
import type { WebhookDeliveryRow } from './webhook-rows.ts'

/** Stands for all subscriptions: such a row makes those of single ones. */
export const EVERY_SUBSCRIPTION = 'push'

type NewRow = Pick<WebhookDeliveryRow, 'id' | 'type'> & { action_id: string; now: number }

/** Enqueues a look, for `at`, at whom an action waits for. Stores nothing where nobody has subscribed. */
export const insertLook = question<NewRow & { at: number }>(
  (db, p) =>
    db
      .insertInto('webhook_delivery')
      .columns(['webhook_id', 'channel', 'id', 'type', 'action_id', 'facts', 'state', 'next_at', 'created_at'])
      .expression((eb) =>
        eb
          .selectFrom('push_subscription')
          .select([
            sql<string>`'push'`.as('webhook_id'),
            sql<'push'>`'push'`.as('channel'),
            sql<string>`cast(${p.id} as text)`.as('id'),
            sql<string>`cast(${p.type} as text)`.as('type'),
            sql<string>`cast(${p.action_id} as text)`.as('action_id'),
            sql<string>`'{}'`.as('facts'),
            sql<'waiting'>`'waiting'`.as('state'),
            sql<number>`cast(${p.at} as bigint)`.as('next_at'),
            sql<number>`cast(${p.now} as bigint)`.as('created_at'),
          ])
          .limit(lit(1)),
      ),
  { from: 'push_subscription' },
)

/** Enqueues a message to one subscription, for `at`. */
export const insertMessage = question<NewRow & { subscription_id: string; facts: string; at: number }>((db, p) =>
  db.insertInto('webhook_delivery').values({
    webhook_id: p.subscription_id,
    channel: 'push',
    id: p.id,
    type: p.type,
    action_id: p.action_id,
    facts: p.facts,
    state: 'waiting',
    next_at: p.at,
    created_at: p.now,
    attempts: '[]',
    tries: 0,
    epoch: 0,
    redacted: 0,
    is_callback: 0,
    words: null,
    runner: null,
    answer: null,
    ended_at: null,
  } satisfies Schema['webhook_delivery']),
)

/** The newest message about an action to each subscription. */
export const newestMessages = question<
  { action_id: string },
  Pick<WebhookDeliveryRow, 'webhook_id' | 'id' | 'type' | 'facts' | 'state' | 'epoch'>
>((db, p) =>
  db
    .selectFrom('webhook_delivery as d')
    .select(['d.webhook_id', 'd.id', 'd.type', 'd.facts', 'd.state', 'd.epoch'])
    .where('d.action_id', '=', p.action_id)
    .where('d.channel', '=', lit('push'))
    .where('d.webhook_id', '!=', lit(EVERY_SUBSCRIPTION))
    .where(
      sql<boolean>`not exists (
          select 1 from webhook_delivery as later
          where later.action_id = d.action_id and later.channel = 'push' and later.webhook_id = d.webhook_id and later.id > d.id
        )`,
    )
    .orderBy('d.webhook_id')
    .limit(lit(20_000)),
)

/** The subscriptions with pending messages, each with the time of the earliest. */
export const nextOfEach = question<Record<never, never>, { id: string; next_at: number }>((db) =>
  db
    .selectFrom('webhook_delivery')
    .select((eb) => ['webhook_id as id', eb.fn.min<number>('next_at').as('next_at')])
    .where('state', '=', lit('waiting'))
    .where('channel', '=', lit('push'))
    .groupBy('webhook_id')
    .orderBy('webhook_id'),
)
