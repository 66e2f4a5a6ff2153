import { z } from 'zod'

/** The revision of an action that somebody has had on their screen, and its digest as it was shown. */
export const SeenBody = z.strictObject({ revision: z.int().positive(), digest: z.string().max(200) })
export type SeenBody = z.infer<typeof SeenBody>

/** A person who has had a revision of an action on their screen, and when first, as the page reported it. It is no vote and gives no right. */
export const SeenBy = z.object({ by: z.object({ id: z.string(), name: z.string() }), revision: z.int(), at: z.string() })
export type SeenBy = z.infer<typeof SeenBy>

export const SeenAnswer = z.object({
  /** The people who have seen the revision, the latest first; at most 20. */
  seenBy: z.array(SeenBy),
})
export type SeenAnswer = z.infer<typeof SeenAnswer>
