import type { Action } from '@countersign/client'

/** Formats a duration, rounded down: "< 1 s", "8 s", "3 min", "2 h", "4 d". */
export function spanText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000))
  if (seconds < 1) return '< 1 s'
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`
  return seconds < 172_800 ? `${Math.floor(seconds / 3_600)} h` : `${Math.floor(seconds / 86_400)} d`
}

/** "8 s ago". */
export const agoText = (iso: string, nowMs: number): string => `${spanText(nowMs - Date.parse(iso))} ago`

// Everything that people read as a time, on the card and in the console, is formatted here: in the reader's locale and time zone.
const DAY = { day: 'numeric', month: 'short' } as const
// The style of the locale itself: single parts would take the 0 of 02:32:15 away, or put one before 2:32:15 AM.
const TIME = { timeStyle: 'medium' } as const

/** "10:57:00". */
export const timeOfDay = (iso: string): string => new Date(iso).toLocaleTimeString(undefined, TIME)

/** "22 Nov", with the year when it is another one. */
export function dayText(iso: string, nowMs: number): string {
  const at = new Date(iso)
  const isThisYear = at.getFullYear() === new Date(nowMs).getFullYear()
  return at.toLocaleDateString(undefined, isThisYear ? DAY : { ...DAY, year: 'numeric' })
}

/** "21 Nov 2026, 23:40:12". */
export const fullTime = (iso: string): string => new Date(iso).toLocaleString(undefined, { dateStyle: 'medium', ...TIME })

/** The time of day, after its date unless it is today. */
export function clockText(iso: string, nowMs: number): string {
  const isToday = new Date(iso).toDateString() === new Date(nowMs).toDateString()
  return isToday ? timeOfDay(iso) : `${dayText(iso, nowMs)}, ${timeOfDay(iso)}`
}

/** Returns how often the times on a card are updated: every second while it runs or is about to expire, never once it has ended. */
export function tickMs({ state, expiresAt, startsAt }: Pick<Action, 'state' | 'expiresAt' | 'startsAt'>, nowMs: number): number | null {
  if (state === 'executing' || startsAt) return 1_000
  if (state !== 'proposed') return null
  return expiresAt !== null && Date.parse(expiresAt) - nowMs < 90_000 ? 1_000 : 15_000
}
