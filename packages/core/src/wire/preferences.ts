import { z } from 'zod'

const TimeOfDay = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time such as 22:00')

/** True for a time zone that this runtime knows, such as `Europe/Berlin`. */
function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

/** From when to when, by the clock of the person's time zone, nothing is pushed to them. */
export const QuietHours = z
  .strictObject({
    from: TimeOfDay,
    to: TimeOfDay,
    timeZone: z.string().max(64).refine(isTimeZone, 'must be a time zone such as Europe/Berlin'),
  })
  .refine(({ from, to }) => from !== to, 'must not begin and end at the same time')
export type QuietHours = z.infer<typeof QuietHours>

/** Filters of a page under a name of the person's own. */
export const SavedView = z.strictObject({
  page: z.enum(['inbox', 'decided']),
  name: z.string().trim().min(1).max(40),
  /** The query of its address, without the question mark. */
  query: z.string().min(1).max(1_000),
})
export type SavedView = z.infer<typeof SavedView>

/** How long the person can take an approval back before it starts, where policy says nothing longer. */
export const UndoTime = z.enum(['PT5S', 'PT10S', 'PT30S'])
export type UndoTime = z.infer<typeof UndoTime>

/** How close the rows of the inbox and of tables stand. */
export const Density = z.enum(['comfortable', 'compact'])
export type Density = z.infer<typeof Density>

/** How a person has set up the console. Null, empty or `comfortable` is how it is at first. */
export const Preferences = z.object({
  quietHours: QuietHours.nullable(),
  undoTime: UndoTime.nullable(),
  density: Density,
  views: z.array(SavedView),
})
export type Preferences = z.infer<typeof Preferences>

/** Members that are left out stay. */
export const ChangePreferencesBody = z.strictObject({
  quietHours: QuietHours.nullable().optional(),
  undoTime: UndoTime.nullable().optional(),
  density: Density.optional(),
  /** All of them, in the order of their tabs. */
  views: z.array(SavedView).max(50).optional(),
})
export type ChangePreferencesBody = z.infer<typeof ChangePreferencesBody>
