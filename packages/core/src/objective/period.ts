/** `2026`, `2026-H2`, `2026-Q4` or `2026-11`. */
export const PERIOD = /^2\d{3}(-(Q[1-4]|H[12]|0[1-9]|1[0-2]))?$/

/** The first moment of a period and the first after it, in UTC. @param period One that {@link PERIOD} fits. */
export function periodBounds(period: string): { fromMs: number; toMs: number } {
  const year = Number(period.slice(0, 4))
  const part = period.slice(5)
  const months = part === '' ? 12 : part.startsWith('H') ? 6 : part.startsWith('Q') ? 3 : 1
  const nth = part === '' ? 0 : Number(part.replace(/\D/g, '')) - 1
  return { fromMs: Date.UTC(year, nth * months), toMs: Date.UTC(year, (nth + 1) * months) }
}

/** Returns the elapsed part of a period, in thousandths. */
export function elapsedOf(period: string, nowMs: number): number {
  const { fromMs, toMs } = periodBounds(period)
  return Math.floor((Math.min(Math.max(nowMs - fromMs, 0), toMs - fromMs) * 1_000) / (toMs - fromMs))
}
