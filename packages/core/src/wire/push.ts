import { z } from 'zod'

const Base64url = (most: number) =>
  z
    .string()
    .min(1)
    .max(most)
    .regex(/^[\w-]+={0,2}$/, 'must be base64url')

/** A subscription of this browser, as `PushSubscription.toJSON()` has it. */
export const PushSubscriptionBody = z.strictObject({
  /** An https address of a push service that browsers use. */
  endpoint: z.string().min(1).max(2_000),
  keys: z.strictObject({ p256dh: Base64url(100), auth: Base64url(40) }),
  expirationTime: z.number().nullable().optional(),
})
export type PushSubscriptionBody = z.input<typeof PushSubscriptionBody>

/** A browser that is notified. Its endpoint is a secret, and is not shown. */
export const PushSubscriptionView = z.object({
  id: z.string(),
  /** The host of its push service. */
  service: z.string(),
  /** True of the browser that asks, as far as its sign-in says. */
  isCurrent: z.boolean(),
  createdAt: z.string(),
})
export type PushSubscriptionView = z.infer<typeof PushSubscriptionView>

/** `publicKey`: the `applicationServerKey` to subscribe with. */
export const PushSubscriptionList = z.object({
  items: z.array(PushSubscriptionView),
  nextCursor: z.string().nullable(),
  publicKey: z.string(),
})
export type PushSubscriptionList = z.infer<typeof PushSubscriptionList>
