import { sql } from 'kysely'
import { ask, lit, question, type Tx } from '../query.ts'
import type { Schema } from './schema.ts'
import type { WebhookDeliveryRow } from './webhook-rows.ts'

type NewEvent = Pick<WebhookDeliveryRow, 'id' | 'type' | 'action_id' | 'facts' | 'words'> & { now: number }

const NEW_ROW = ['webhook_id', 'id', 'type', 'action_id', 'facts', 'words', 'state', 'next_at', 'created_at'] as const

/** The values of `NEW_ROW`, read from the table of webhooks. */
const newRow = (p: NewEvent) =>
  [
    'webhook.id',
    sql<string>`cast(${p.id} as text)`.as('event_id'),
    sql<string>`cast(${p.type} as text)`.as('type'),
    sql<string>`cast(${p.action_id} as text)`.as('action_id'),
    sql<string>`cast(${p.facts} as text)`.as('facts'),
    sql<string>`cast(${p.words} as text)`.as('words'),
    sql<'waiting'>`'waiting'`.as('state'),
    sql<number>`cast(${p.now} as bigint)`.as('next_at'),
    sql<number>`cast(${p.now} as bigint)`.as('created_at'),
  ] as const

/**
 * Enqueues an event for every webhook that subscribes to it. One statement, so that a transition does not wait for an answer: most servers
 * have no webhook.
 */
export const insertDeliveries = question<NewEvent>(
  (db, p) =>
    db
      .insertInto('webhook_delivery')
      .columns(NEW_ROW)
      .expression((eb) =>
        eb
          .selectFrom('webhook')
          .select(newRow(p))
          .where('webhook.disabled_at', 'is', null)
          // Types hold neither quotes nor wildcards.
          .where(sql<boolean>`webhook.events like '%"' || cast(${p.type} as text) || '"%'`),
      ),
  { from: 'webhook' },
)

/** Enqueues an event for the callback of its action. Nothing is stored when the webhook is gone or disabled. */
export const insertCallback = question<NewEvent & { webhook_id: string }>(
  (db, p) =>
    db
      .insertInto('webhook_delivery')
      .columns([...NEW_ROW, 'is_callback'])
      .expression((eb) =>
        eb
          .selectFrom('webhook')
          .select([...newRow(p), sql<number>`1`.as('is_callback')])
          .where('webhook.id', '=', p.webhook_id)
          .where('webhook.disabled_at', 'is', null),
      ),
  { from: 'webhook' },
)

export const insertTest = question<Pick<WebhookDeliveryRow, 'webhook_id' | 'id' | 'facts'> & { now: number }>((db, p) =>
  db.insertInto('webhook_delivery').values({
    webhook_id: p.webhook_id,
    channel: 'webhook',
    id: p.id,
    type: 'webhook.test',
    action_id: null,
    is_callback: 0,
    facts: p.facts,
    words: null,
    redacted: 0,
    state: 'waiting',
    tries: 0,
    epoch: 0,
    next_at: p.now,
    runner: null,
    attempts: '[]',
    answer: null,
    created_at: p.now,
    ended_at: null,
  } satisfies Schema['webhook_delivery']),
)

export const findDelivery = question<{ webhook_id: string; id: string }, WebhookDeliveryRow>((db, p) =>
  db.selectFrom('webhook_delivery').selectAll().where('webhook_id', '=', p.webhook_id).where('id', '=', p.id),
)

/** Deliveries of one webhook, newest first. */
export const listDeliveries = (page: {
  webhookId: string
  state: WebhookDeliveryRow['state'] | undefined
  before: string | undefined
  limit: number
}): Tx<WebhookDeliveryRow[]> =>
  ask((db) => {
    const { webhookId, state, before, limit } = page
    let query = db.selectFrom('webhook_delivery').selectAll().where('webhook_id', '=', webhookId).orderBy('id', 'desc').limit(limit)
    if (state !== undefined) query = query.where('state', '=', state)
    if (before !== undefined) query = query.where('id', '<', before)
    return query
  })

/** The webhooks with pending deliveries, each with the time of the earliest. */
export const nextOfEach = question<Record<never, never>, { id: string; next_at: number }>((db) => ({
  compile: () =>
    sql<{ id: string; next_at: number }>`select id, next_at from (
        select webhook.id, (
          select min(next_at) from webhook_delivery where webhook_delivery.webhook_id = webhook.id and state = 'waiting'
        ) as next_at from webhook where disabled_at is null
      ) as one where next_at is not null order by id`.compile(db),
}))

/** The due deliveries of a webhook, the longest due first. */
export const dueDeliveries = question<{ webhook_id: string; now: number; limit: number }, { id: string; epoch: number }>((db, p) =>
  db
    .selectFrom('webhook_delivery')
    .select(['id', 'epoch'])
    .where('webhook_id', '=', p.webhook_id)
    .where('state', '=', lit('waiting'))
    .where('next_at', '<=', p.now)
    .orderBy('next_at')
    .limit(p.limit),
)

type Claim = Pick<WebhookDeliveryRow, 'webhook_id' | 'id' | 'epoch'>

/** Claims a delivery for one attempt. No row changes when another process claimed it, it ended, or everything is held. */
export const claimDelivery = question<Claim & { runner: string; now: number; until: number }>((db, p, { wasPromoted }) =>
  db
    .updateTable('webhook_delivery')
    .set((eb) => ({ epoch: eb('epoch', '+', lit(1)), runner: p.runner, next_at: p.until }))
    .where('webhook_id', '=', p.webhook_id)
    .where('id', '=', p.id)
    .where('epoch', '=', p.epoch)
    .where('state', '=', lit('waiting'))
    .where('next_at', '<=', p.now)
    .where(sql<boolean>`not exists (select 1 from instance where instance.held_at is not null or ${wasPromoted})`),
)

type Settled = Pick<WebhookDeliveryRow, 'state' | 'tries' | 'next_at' | 'attempts' | 'answer' | 'ended_at' | 'redacted'>

/**
 * Records the result of an attempt. No row changes when another attempt has the delivery, it was given up, or its action was redacted since
 * it was read.
 */
export const settleDelivery = question<Claim & Settled>((db, p) =>
  db
    .updateTable('webhook_delivery')
    .set({
      state: p.state as WebhookDeliveryRow['state'],
      tries: p.tries,
      next_at: p.next_at,
      attempts: p.attempts,
      answer: p.answer,
      ended_at: p.ended_at,
      runner: null,
    })
    .where('webhook_id', '=', p.webhook_id)
    .where('id', '=', p.id)
    .where('epoch', '=', p.epoch)
    .where('state', '=', lit('waiting'))
    .where('redacted', '=', p.redacted),
)

/** Records the result of the last attempt at a delivery that was given up meanwhile. */
export const noteGivenUp = question<Claim & Pick<Settled, 'attempts' | 'answer' | 'redacted'> & { state: 'delivered' | 'failed' }>(
  (db, p) =>
    db
      .updateTable('webhook_delivery')
      .set({ state: p.state, attempts: p.attempts, answer: p.answer })
      .where('webhook_id', '=', p.webhook_id)
      .where('id', '=', p.id)
      .where('epoch', '=', p.epoch)
      .where('state', '=', lit('failed'))
      .where('redacted', '=', p.redacted),
)

/** Releases deliveries that were claimed and not sent. */
export const giveBack = question<Claim & { now: number }>((db, p) =>
  db
    .updateTable('webhook_delivery')
    .set({ next_at: p.now, runner: null })
    .where('webhook_id', '=', p.webhook_id)
    .where('id', '=', p.id)
    .where('epoch', '=', p.epoch)
    .where('state', '=', lit('waiting')),
)

/** Releases the claims of processes that are gone: of the given processes, or by default of all but `own`. */
export const giveBackOf = ({ gone, own, now }: { gone: readonly string[] | undefined; own: string; now: number }): Tx<unknown> =>
  ask((db) => {
    const claimed = db.updateTable('webhook_delivery').set({ next_at: now, runner: null }).where('state', '=', lit('waiting'))
    return gone ? claimed.where('runner', 'in', gone.length > 0 ? [...gone] : ['']) : claimed.where('runner', '!=', own)
  })

/** Enqueues a delivery again, with as many attempts as a new one. */
export const redeliver = question<{ webhook_id: string; id: string; now: number }>((db, p) =>
  db
    .updateTable('webhook_delivery')
    .set({ state: 'waiting', tries: 0, next_at: p.now, ended_at: null })
    .where('webhook_id', '=', p.webhook_id)
    .where('id', '=', p.id)
    .where('runner', 'is', null),
)

/** Makes the pending deliveries of a webhook due now, except those that are being sent. */
export const bringForward = question<{ webhook_id: string; now: number }>((db, p) =>
  db
    .updateTable('webhook_delivery')
    .set({ next_at: p.now })
    .where('webhook_id', '=', p.webhook_id)
    .where('state', '=', lit('waiting'))
    .where('next_at', '>', p.now)
    .where('runner', 'is', null),
)

/** Gives up the pending deliveries of a webhook. */
export const endWaiting = question<{ webhook_id: string; now: number }>((db, p) =>
  db
    .updateTable('webhook_delivery')
    .set({ state: 'failed', next_at: null, runner: null, ended_at: p.now })
    .where('webhook_id', '=', p.webhook_id)
    .where('state', '=', lit('waiting')),
)

/** Redacts the data of deliveries about an action, except ids, names of tools, states and times. */
export const blankDeliveries = question<{ action_id: string }>((db, p) =>
  db.updateTable('webhook_delivery').set({ words: null, answer: null, redacted: 1 }).where('action_id', '=', p.action_id),
)
