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

/** Formats a time in the local time zone, with its date unless it is today. */
export function clockText(iso: string, nowMs: number): string {
  const at = new Date(iso)
  const time = at.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit' })
  return at.toDateString() === new Date(nowMs).toDateString() ? time : `${at.toLocaleDateString()} ${time}`
}

/** Returns how often the times on a card are updated: every second while it runs or is about to expire, never once it has ended. */
export function tickMs({ state, expiresAt, startsAt }: Pick<Action, 'state' | 'expiresAt' | 'startsAt'>, nowMs: number): number | null {
  if (state === 'executing' || startsAt) return 1_000
  if (state !== 'proposed') return null
  return expiresAt !== null && Date.parse(expiresAt) - nowMs < 90_000 ? 1_000 : 15_000
}
