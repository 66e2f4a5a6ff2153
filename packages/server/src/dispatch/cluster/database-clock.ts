import type { Clock } from '../../clock.ts'
import type { Machine } from '../../store/index.ts'

/** The database's time, derived from the machine's steady clock and the last reading from the database. */
export interface DatabaseClock extends Clock {
  /** Records that the database's time was `databaseMs` at some moment between `sentAt` and `receivedAt` of the machine's steady clock. */
  adjust(databaseMs: number, sentAt: number, receivedAt: number): void
}

/** By so much a measurement may contradict the one before because an answer was slow. A larger step means that the database's clock was set. */
const MOST_NOISE_MS = 5_000

/**
 * Treats the current estimate as exact while it is plausible: a measurement moves the clock only by as much as it contradicts it, so that
 * noise does not. Where it moves back, the time stands still for as long: what happens later is not dated earlier.
 */
export function createDatabaseClock({ clock, steadyMs }: Pick<Machine, 'clock' | 'steadyMs'>): DatabaseClock {
  const began = clock.nowMs() - steadyMs()
  let offset: number | undefined
  let latestMs = Number.NEGATIVE_INFINITY
  return {
    nowMs() {
      if (offset === undefined) return Math.floor(steadyMs() + began)
      const estimatedMs = Math.floor(steadyMs() + offset)
      if (estimatedMs > latestMs || latestMs - estimatedMs > MOST_NOISE_MS) latestMs = estimatedMs
      return latestMs
    },
    after: clock.after,
    adjust(databaseMs, sentAt, receivedAt) {
      const [earliest, latest] = [databaseMs - receivedAt, databaseMs - sentAt]
      offset = offset === undefined ? (earliest + latest) / 2 : Math.min(Math.max(offset, earliest), latest)
    },
  }
}
