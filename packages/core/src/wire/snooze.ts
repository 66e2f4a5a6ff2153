import { z } from 'zod'
import { Duration } from './duration.ts'

const Instant = z.iso.datetime({ offset: true })

/** How long an action is left out of one's own inbox: for a time, or until a time. */
export const SnoozeBody = z.union([z.strictObject({ for: Duration }), z.strictObject({ until: Instant })])
export type SnoozeBody = z.infer<typeof SnoozeBody>

/** An action that somebody snoozed. `until` may be earlier than asked for: an action returns at least five minutes before its deadline. */
export const Snooze = z.object({ actionId: z.string(), until: z.string(), createdAt: z.string() })
export type Snooze = z.infer<typeof Snooze>

export const SnoozeList = z.object({ items: z.array(Snooze), nextCursor: z.string().nullable() })
export type SnoozeList = z.infer<typeof SnoozeList>
