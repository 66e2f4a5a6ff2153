import type { Schedule } from '../reconnect.ts'

/** Waits for retries pass at once; the watch over silence never ends, however long the machine stands still. */
export const impatient: Schedule = (run, delayMs) => {
  if (delayMs > 30_000) return () => {}
  const timer = setTimeout(run, 0)
  return () => clearTimeout(timer)
}
