import { z } from 'zod'
import { Duration } from './duration.ts'
import { PageQuery } from './page.ts'
import { Principal } from './principal.ts'

/**
 * The events of webhooks. An action that needed no approval sends only its end, and a read that needed no approval sends nothing.
 * - `action.proposed`: An action, or a new revision of it, waits for a decision.
 * - `action.assigned`: A person said who should decide about it, or took that back.
 * - `action.decided`: People approved or declined it.
 * - `action.overdue`: Nobody has decided for five minutes, or for the time of the rule's `remind`. Once for each revision.
 * - `action.settled`: It succeeded, failed, expired, was declined or cancelled. A failed action that is retried sends it again.
 * - `action.outcome_unknown`: It was sent, and its outcome is unknown.
 */
export const WEBHOOK_EVENTS = [
  'action.proposed',
  'action.assigned',
  'action.decided',
  'action.overdue',
  'action.settled',
  'action.outcome_unknown',
] as const
export type WebhookEventType = (typeof WEBHOOK_EVENTS)[number]

const Url = z.string().min(1).max(2_000)
const Description = z.string().trim().max(200)
const Events = z
  .array(z.enum(WEBHOOK_EVENTS))
  .max(WEBHOOK_EVENTS.length)
  .refine((events) => new Set(events).size === events.length, 'must name each event once')

/**
 * `url`: https, or http on this machine itself. A private address has to be listed under `network.allow` of the configuration. With
 * `callbacks: true` agents may name this address, or one below its path, as `callback.url` of their actions; `events` may be empty then.
 */
export const CreateWebhookBody = z.strictObject({
  url: Url,
  events: Events,
  callbacks: z.boolean().default(false),
  description: Description.default(''),
})
export type CreateWebhookBody = z.input<typeof CreateWebhookBody>

/** Members that are left out stay. `disabled: true` stops sending and drops waiting deliveries; `false` starts again with new events. */
export const ChangeWebhookBody = z.strictObject({
  url: Url.optional(),
  events: Events.optional(),
  callbacks: z.boolean().optional(),
  description: Description.optional(),
  disabled: z.boolean().optional(),
})
export type ChangeWebhookBody = z.infer<typeof ChangeWebhookBody>

/** For how long the secret before signs beside the new one. Default: 24 hours. `PT0S` where one leaked: it ends all earlier ones. */
export const RotateWebhookBody = z.strictObject({ overlap: z.literal('PT0S').or(Duration).default('P1D') })
export type RotateWebhookBody = z.input<typeof RotateWebhookBody>

/** Why nothing is sent: an admin said so, the receiver answered 410, or nothing but failures for five days. */
const DisabledWhy = z.enum(['admin', 'gone', 'failing'])
export type DisabledWhy = z.infer<typeof DisabledWhy>

/** An address that events are sent to. Its secret is in the answer that made or rotated it and nowhere else. */
export const Webhook = z.object({
  id: z.string(),
  url: z.string(),
  description: z.string(),
  events: z.array(z.enum(WEBHOOK_EVENTS)),
  /** Whether agents may name addresses under `url` as callbacks of their actions. */
  callbacks: z.boolean(),
  /** Null while it is sent to. */
  disabledAt: z.string().nullable(),
  disabledWhy: DisabledWhy.nullable(),
  /** Since when every attempt failed; null after a success. */
  failingSince: z.string().nullable(),
  /** Until when the last of the earlier secrets signs too; null for one secret. */
  earlierSecretUntil: z.string().nullable(),
  createdBy: Principal,
  createdAt: z.string(),
})
export type Webhook = z.infer<typeof Webhook>

export const WebhookList = z.object({ items: z.array(Webhook), nextCursor: z.string().nullable() })
export type WebhookList = z.infer<typeof WebhookList>

/** `secret` is null in the answer to a repeat with the same Idempotency-Key: rotate it then. */
export const CreatedWebhook = Webhook.extend({ secret: z.string().nullable(), message: z.string().optional() })
export type CreatedWebhook = z.infer<typeof CreatedWebhook>

const DeliveryState = z.enum(['waiting', 'delivered', 'failed'])

/** One event for one webhook. `id` is the header `webhook-id`: the same at each attempt. */
export const WebhookDelivery = z.object({
  id: z.string(),
  type: z.enum([...WEBHOOK_EVENTS, 'webhook.test']),
  /** Null for a test. */
  actionId: z.string().nullable(),
  /** True when it goes to the callback of the action instead of the webhook's own address. */
  toCallback: z.boolean(),
  state: DeliveryState,
  /** The last 20, the earliest first. `status`: of the answer; null without one, and then `error` says why. */
  attempts: z.array(z.object({ at: z.string(), durationMs: z.int(), status: z.int().nullable(), error: z.string().nullable() })),
  /** The first 1,024 bytes of what the last attempt was answered; null without an answer, and once the action was redacted. */
  answer: z.string().nullable(),
  nextAttemptAt: z.string().nullable(),
  createdAt: z.string(),
  /** When it was delivered or given up. */
  endedAt: z.string().nullable(),
})
export type WebhookDelivery = z.infer<typeof WebhookDelivery>

export const WebhookDeliveryList = z.object({ items: z.array(WebhookDelivery), nextCursor: z.string().nullable() })
export type WebhookDeliveryList = z.infer<typeof WebhookDeliveryList>

export const WebhookDeliveryQuery = PageQuery.extend({ state: DeliveryState.optional().describe('Only those in this state.') })
