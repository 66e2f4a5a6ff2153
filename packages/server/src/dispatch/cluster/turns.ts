import type { Clock } from '../../clock.ts'

/** Limits how many jobs of a kind run in a process, whichever way it took them. */
export interface Turns {
  /** How many more jobs could begin. */
  readonly room: number
  /**
   * Resolves when the job has its turn, first come, first served. Resolves to false, without a turn, after `withinMs`; default: no limit.
   * After `close`, every job has its turn: it is up to the job to see that the process stops.
   */
  take(withinMs?: number): Promise<boolean>
  /** Ends the turn of a job. */
  end(): void
  close(): void
}

export function createTurns(limit: number, clock: Clock): Turns {
  const waiting = new Set<() => void>()
  let taken = 0
  let isClosed = false

  const hasRoom = () => isClosed || taken < limit

  return {
    get room() {
      return Math.max(0, limit - taken - waiting.size)
    },
    async take(withinMs) {
      if (!hasRoom()) {
        const { promise, resolve } = Promise.withResolvers<boolean>()
        const begin = () => resolve(true)
        waiting.add(begin)
        const stop = withinMs === undefined ? () => {} : clock.after(withinMs, () => waiting.delete(begin) && resolve(false))
        // Whoever gives the turn has counted it.
        if (!(await promise)) return false
        stop()
        return true
      }
      taken++
      return true
    },
    end() {
      taken--
      for (const begin of waiting) {
        if (!hasRoom()) return
        waiting.delete(begin)
        taken++
        begin()
      }
    },
    close() {
      isClosed = true
      for (const begin of waiting) {
        taken++
        begin()
      }
      waiting.clear()
    },
  }
}
