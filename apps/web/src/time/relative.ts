import { dayText, fullTime } from './format.ts'

export { fullTime } from './format.ts'

const canHover = typeof window === 'undefined' || window.matchMedia('(hover: hover)').matches

/** {@link fullTime} for the title of a row, which shows where a pointer rests. A phone shows no titles: there it is left out, for it costs much of a row. */
export const hoverTime = (iso: string): string | undefined => (canHover ? fullTime(iso) : undefined)

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/**
 * How long ago `iso` was, short enough for a list: `now`, `4 min`, `3 h`, `2 d`, then the date (`12 Nov`, with the year when it is
 * another one). A time in the future counts as now: clocks differ by seconds.
 */
export function relativeTime(iso: string, nowMs: number): string {
  const thenMs = Date.parse(iso)
  const passedMs = nowMs - thenMs
  if (Number.isNaN(passedMs)) return ''
  if (passedMs < MINUTE_MS) return 'now'
  if (passedMs < HOUR_MS) return `${Math.floor(passedMs / MINUTE_MS)} min`
  if (passedMs < DAY_MS) return `${Math.floor(passedMs / HOUR_MS)} h`
  if (passedMs < 7 * DAY_MS) return `${Math.floor(passedMs / DAY_MS)} d`
  return dayText(iso, nowMs)
}
