import { z } from 'zod'

/** Where a person is signed in at a console. */
export const ConsoleSessionView = z.object({
  id: z.string(),
  /** With a key, with the sign-in service, or as the person at the server's own machine. */
  how: z.enum(['local', 'key', 'oidc']),
  /** True of the one that asks. */
  isCurrent: z.boolean(),
  createdAt: z.string(),
  /** To the minute. */
  seenAt: z.string(),
  /** When it ends if nobody is there until then. */
  endsAt: z.string(),
})
export type ConsoleSessionView = z.infer<typeof ConsoleSessionView>

export const ConsoleSessionList = z.object({ items: z.array(ConsoleSessionView), nextCursor: z.string().nullable() })
export type ConsoleSessionList = z.infer<typeof ConsoleSessionList>
