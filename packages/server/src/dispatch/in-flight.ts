import type { Logger } from 'pino'

/** Work that was begun and has not ended. */
export interface InFlight {
  /** Counts the work until it ends, and logs its failure. */
  add(work: Promise<unknown>): void
  /** Resolves when no work is in flight. */
  none(): Promise<void>
}

export function createInFlight(log: Logger): InFlight {
  const inFlight = new Set<Promise<unknown>>()
  return {
    add(work) {
      const watched = work.catch((error) => log.error({ error }, 'job.failed')).finally(() => inFlight.delete(watched))
      inFlight.add(watched)
    },
    async none() {
      while (inFlight.size > 0) await Promise.all(inFlight)
    },
  }
}
