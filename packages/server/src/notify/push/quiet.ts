import type { QuietHours } from '@countersign/core'

const MINUTE_MS = 60_000
const DAY_MINUTES = 24 * 60

/**
 * Returns until when a person wants no notification; undefined outside their quiet hours.
 * @example
 * quietUntil({ from: '22:00', to: '07:00', timeZone: 'Europe/Berlin' }, nowMs)
 */
export function quietUntil(quiet: QuietHours | null, nowMs: number): number | undefined {
  if (!quiet) return undefined
  const [from, to] = [minutesOf(quiet.from), minutesOf(quiet.to)]
  const now = minutesAt(quiet.timeZone, nowMs)
  const isQuiet = from <= to ? now >= from && now < to : now >= from || now < to
  if (!isQuiet) return undefined
  const guess = Math.floor(nowMs / MINUTE_MS) * MINUTE_MS + after(now, to) * MINUTE_MS
  // The clocks may change in between: then it is an hour earlier or later.
  const off = minutesAt(quiet.timeZone, guess) - to
  const shift = off > DAY_MINUTES / 2 ? off - DAY_MINUTES : off < -DAY_MINUTES / 2 ? off + DAY_MINUTES : off
  return Math.max(guess - shift * MINUTE_MS, nowMs + MINUTE_MS)
}

const after = (from: number, to: number): number => (to - from + DAY_MINUTES) % DAY_MINUTES

const minutesOf = (text: string): number => Number(text.slice(0, 2)) * 60 + Number(text.slice(3))

function minutesAt(timeZone: string, ms: number): number {
  const text = new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }).format(ms)
  return minutesOf(text)
}
