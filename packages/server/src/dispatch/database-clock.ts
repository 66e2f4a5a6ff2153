import { type Clock, systemClock } from '../clock.ts'

/** The database's time, told from this machine's steady clock and what the database said last. */
export interface DatabaseClock extends Clock {
  /** Takes in that the database's time was `databaseMs` at some moment between `sentAt` and `receivedAt` of {@link steadyMs}. */
  adjust(databaseMs: number, sentAt: number, receivedAt: number): void
}

/** Milliseconds that nobody can set, from an arbitrary beginning. */
export const steadyMs = (): number => performance.now()

/** Counts as exact what may be: a measurement only moves the clock by as much as it contradicts it, so that noise does not. */
export function createDatabaseClock(): DatabaseClock {
  let offset: number | undefined
  return {
    nowMs: () => Math.floor(steadyMs() + (offset ?? performance.timeOrigin)),
    after: systemClock.after,
    adjust(databaseMs, sentAt, receivedAt) {
      const [earliest, latest] = [databaseMs - receivedAt, databaseMs - sentAt]
      offset = offset === undefined ? (earliest + latest) / 2 : Math.min(Math.max(offset, earliest), latest)
    },
  }
}
