import { z } from 'zod'

const PATTERN = /^P(?:(\d{1,4})D)?(?:T(?:(\d{1,5})H)?(?:(\d{1,6})M)?(?:(\d{1,8}(?:\.\d{1,3})?)S)?)?$/
const UNITS_MS = [86_400_000, 3_600_000, 60_000, 1_000]
const [MIN_MS, MAX_MS] = [1_000, 400 * 86_400_000]

/**
 * Returns the milliseconds of an ISO 8601 duration in days, hours, minutes and seconds; undefined when it is not a duration or not between
 * one second and 400 days. Months and years are refused, because their length varies.
 *
 * @example
 * durationMs('PT5M') // 300_000
 */
export function durationMs(text: string): number | undefined {
  const found = PATTERN.exec(text)
  if (!found || text.endsWith('T')) return undefined
  const ms = UNITS_MS.reduce((sum, unit, i) => sum + Number(found[i + 1] ?? 0) * unit, 0)
  return ms >= MIN_MS && ms <= MAX_MS ? Math.round(ms) : undefined
}

/** An ISO 8601 duration from one second to 400 days: `PT5M`, `P30D`. */
export const Duration = z
  .string()
  .max(40)
  .refine((text) => durationMs(text) !== undefined, 'must be an ISO 8601 duration from PT1S to P400D, for example PT5M')

const LONGEST_GRACE_MS = 3_600_000

/** How long an approval can be taken back before the action starts: an ISO 8601 duration from one second to one hour, `PT5S`. */
export const Grace = Duration.refine((text) => (durationMs(text) ?? 0) <= LONGEST_GRACE_MS, 'must be at most an hour: PT1S to PT1H')
