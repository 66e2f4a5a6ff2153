import type { DisabledWhy } from '@countersign/core'
import { sql } from 'kysely'
import { lit, question } from '../query.ts'
import type { Schema } from './schema.ts'
import type { WebhookEarlierSecretRow, WebhookRow } from './webhook-rows.ts'

/** The most webhooks of a server. */
export const MOST_WEBHOOKS = 50

type NewWebhook = Pick<WebhookRow, 'id' | 'url' | 'description' | 'events' | 'callbacks' | 'secret' | 'created_by'>

export const insertWebhook = question<NewWebhook & { now: number }>((db, p) =>
  db.insertInto('webhook').values({
    id: p.id,
    url: p.url,
    description: p.description,
    events: p.events,
    callbacks: p.callbacks,
    secret: p.secret,
    failing_since: null,
    paused_until: null,
    disabled_at: null,
    disabled_why: null,
    created_by: p.created_by,
    created_at: p.now,
  } satisfies Schema['webhook']),
)

export const findWebhook = question<{ id: string }, WebhookRow>((db, p) => db.selectFrom('webhook').selectAll().where('id', '=', p.id))

/** All of them, newest first. */
export const listWebhooks = question<Record<never, never>, WebhookRow>((db) =>
  db.selectFrom('webhook').selectAll().orderBy('id', 'desc').limit(lit(MOST_WEBHOOKS)),
)

export const countWebhooks = question<Record<never, never>, { count: number }>((db) =>
  db.selectFrom('webhook').select((eb) => eb.fn.countAll<number>().as('count')),
)

/** Another address begins without the failures of the one before, and without its pause. */
export const changeWebhook = question<Pick<WebhookRow, 'id' | 'url' | 'description' | 'events' | 'callbacks'>>((db, p) =>
  db
    .updateTable('webhook')
    .set({
      url: p.url,
      description: p.description,
      events: p.events,
      callbacks: p.callbacks,
      failing_since: sql<number | null>`case when url = ${p.url} then failing_since end`,
      paused_until: sql<number | null>`case when url = ${p.url} then paused_until end`,
    })
    .where('id', '=', p.id),
)

/** Activates a new secret. */
export const setSecret = question<Pick<WebhookRow, 'id' | 'secret'>>((db, p) =>
  db.updateTable('webhook').set({ secret: p.secret }).where('id', '=', p.id),
)

export const insertEarlierSecret = question<Pick<WebhookEarlierSecretRow, 'webhook_id' | 'secret' | 'until'>>((db, p) =>
  db.insertInto('webhook_earlier_secret').values({ webhook_id: p.webhook_id, secret: p.secret, until: p.until }),
)

/** The earlier secrets of a webhook that sign, the longest first. */
export const earlierSecrets = question<{ id: string; now: number }, Pick<WebhookEarlierSecretRow, 'secret' | 'until'>>((db, p) =>
  db
    .selectFrom('webhook_earlier_secret')
    .select(['secret', 'until'])
    .where('webhook_id', '=', p.id)
    .where('until', '>', p.now)
    .orderBy('until', 'desc')
    .orderBy('secret'),
)

export const endEarlierSecrets = question<{ id: string }>((db, p) => db.deleteFrom('webhook_earlier_secret').where('webhook_id', '=', p.id))

/** Disables a webhook. No row changes when it was disabled already. */
export const disableWebhook = question<{ id: string; why: DisabledWhy; now: number }>((db, p) =>
  db.updateTable('webhook').set({ disabled_at: p.now, disabled_why: p.why }).where('id', '=', p.id).where('disabled_at', 'is', null),
)

export const enableWebhook = question<{ id: string }>((db, p) =>
  db.updateTable('webhook').set({ disabled_at: null, disabled_why: null, failing_since: null, paused_until: null }).where('id', '=', p.id),
)

export const deleteWebhook = question<{ id: string }>((db, p) => db.deleteFrom('webhook').where('id', '=', p.id))

/** The address that was tried: an answer of it says nothing about the one that the webhook has now. */
type Tried = Pick<WebhookRow, 'id' | 'url'>

/**
 * Records a failed attempt, if it is the first since the last success. No row changes when the webhook has another address now. It locks the
 * row also when it has failed before: a move then sees the result of the attempt, or the attempt sees the move.
 */
export const noteFailure = question<Tried & { at: number }>((db, p) =>
  db
    .updateTable('webhook')
    .set({ failing_since: sql<number>`coalesce(failing_since, ${p.at})` })
    .where('id', '=', p.id)
    .where('url', '=', p.url),
)

/**
 * Records a successful attempt. A pause that began after it stays: the attempt says nothing about it.
 * @param p `paused` is the `paused_until` that the attempt began with, 0 without one.
 */
export const noteSuccess = question<Tried & { paused: number }>((db, p) =>
  db
    .updateTable('webhook')
    .set({
      failing_since: null,
      paused_until: sql<number | null>`case when coalesce(paused_until, 0) <> ${p.paused} then paused_until end`,
    })
    .where('id', '=', p.id)
    .where('url', '=', p.url)
    .where((eb) => eb.or([eb('failing_since', 'is not', null), eb('paused_until', 'is not', null)])),
)

/** Nothing is sent to the webhook by itself before `until`. */
export const pauseWebhook = question<Tried & { until: number }>((db, p) =>
  db.updateTable('webhook').set({ paused_until: p.until }).where('id', '=', p.id).where('url', '=', p.url),
)

export const endPause = question<{ id: string }>((db, p) => db.updateTable('webhook').set({ paused_until: null }).where('id', '=', p.id))

/** Deletes secrets that no longer sign. */
export const forgetEarlierSecrets = question<{ before: number }>((db, p) =>
  db.deleteFrom('webhook_earlier_secret').where('until', '<=', p.before),
)
