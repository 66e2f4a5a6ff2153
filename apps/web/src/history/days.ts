/** A span of days to filter by: the first and the last one, as in the address (`2026-11-24`). */
export type Days = { name: string; since: string; until: string }

/** The spans that people ask for most, in the days of this browser's time zone. */
export const commonDays = (now: Date): Days[] => [
  { name: 'Today', since: dayAgo(now, 0), until: dayAgo(now, 0) },
  { name: 'Yesterday', since: dayAgo(now, 1), until: dayAgo(now, 1) },
  { name: '7 days', since: dayAgo(now, 6), until: dayAgo(now, 0) },
]

const dayAgo = (now: Date, days: number): string => dayOf(new Date(now.getFullYear(), now.getMonth(), now.getDate() - days))

/** The day of a time here, as in the address. */
export function dayOf(day: Date): string {
  return [day.getFullYear(), day.getMonth() + 1, day.getDate()].map((part) => String(part).padStart(2, '0')).join('-')
}
