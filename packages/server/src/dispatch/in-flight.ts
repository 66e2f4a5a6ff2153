import type { Logger } from 'pino'

/** Work that was begun and has not ended. */
export interface UnderWay {
  /** Counts it until it ends; a failure is logged. */
  add(work: Promise<unknown>): void
  /** Resolves when there is none. */
  none(): Promise<void>
}

export function createUnderWay(log: Logger): UnderWay {
  const underWay = new Set<Promise<unknown>>()
  return {
    add(work) {
      const watched = work.catch((error) => log.error({ error }, 'work.failed')).finally(() => underWay.delete(watched))
      underWay.add(watched)
    },
    async none() {
      while (underWay.size > 0) await Promise.all(underWay)
    },
  }
}
