import { z } from 'zod'

/** Whether this server carries anything out, and what waits for people when it does not. */
export const HoldView = z.object({
  held: z.boolean(),
  /** Why everything is held, as a sentence; null while nothing is. */
  why: z.string().nullable(),
  since: z.string().nullable(),
  /** Begins anew whenever a copy is accepted, from 1. */
  epoch: z.int(),
  /** How many actions are open; null for who does not see them all. */
  open: z
    .object({
      /** Approved, and not started. */
      approved: z.int(),
      /** Under way when everything was held. */
      executing: z.int(),
      /** Waiting for a decision. */
      waiting: z.int(),
      outcomeUnknown: z.int(),
    })
    .nullable(),
})
export type HoldView = z.infer<typeof HoldView>

/** Why an action of a held server is cancelled. The model receives it. */
export const VoidBody = z.strictObject({ note: z.string().trim().min(1).max(2_000) })
export type VoidBody = z.infer<typeof VoidBody>
