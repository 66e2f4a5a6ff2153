import type { Logger } from 'pino'
import type { Clock } from '../clock.ts'

const LOOK_MS = 500
/** A database that answers is heard from once a second. */
const SILENT_MS = 1_500
/** So many looks in a row without an answer: a single late one may come from a busy machine. */
const LOOKS = 5

export interface DatabaseAwayOptions {
  clock: Clock
  /** Milliseconds since the database last answered. */
  silentMs(): number
  log: Pick<Logger, 'warn'>
}

/**
 * Waits for the end of work that needs the database, and gives up after 2.5 seconds in which the database did not answer: what it waits for
 * cannot be stored, and an operator who stops the server wants it gone. The work then ends by itself. Returns false in that case.
 * @throws The error of `ended`, unless it comes later.
 */
export async function unlessDatabaseIsAway(ended: Promise<void>, { clock, silentMs, log }: DatabaseAwayOptions): Promise<boolean> {
  const { promise: away, resolve: giveUp } = Promise.withResolvers<false>()
  let stopWaiting = (): void => {}
  const wait = (silentLooks: number): void => {
    stopWaiting = clock.after(LOOK_MS, () => {
      const looks = silentMs() > SILENT_MS ? silentLooks + 1 : 0
      if (looks < LOOKS) return wait(looks)
      log.warn({ silentMs: silentMs() }, 'server.stopped_without_database')
      giveUp(false)
    })
  }
  wait(0)
  try {
    const isWhole = await Promise.race([ended.then(() => true), away])
    if (!isWhole) ended.catch((error: unknown) => log.warn({ error }, 'server.stop_failed'))
    return isWhole
  } finally {
    stopWaiting()
  }
}
