import type { Clock } from '../clock.ts'

/** Pause after a failed read: the database is unreachable. */
const RETRY_MS = 250

export interface FeedOptions {
  clock: Clock
  /** Returns the place after which everything is handed over. */
  begin(): Promise<number>
  /** Hands over the rows after `place`. Returns the place of the last one, and in how many ms to look again without a notice. */
  read(place: number): Promise<{ place: number; againMs?: number | undefined }>
  onFailure(error: unknown): void
}

/** Reads a log onwards, one read at a time, whenever it is told that there may be more. */
export interface Feed {
  /** Resolves when it is in place. @throws The error that `begin` throws. */
  readonly ready: Promise<void>
  /** Its place between reads; undefined before it is in place and during a read. */
  readonly restsAt: number | undefined
  /** Skips to `place` without a read: the rows in between were handed over otherwise. */
  skipTo(place: number): void
  wake(): void
  close(): void
}

export function createFeed({ clock, begin, read, onFailure }: FeedOptions): Feed {
  let place: number | undefined
  let isReading = false
  let isAskedAgain = false
  let isClosed = false
  let stopWaiting: (() => void) | undefined

  async function readOn(from: number): Promise<void> {
    isReading = true
    stopWaiting?.()
    stopWaiting = undefined
    let answer: { place: number; againMs?: number | undefined } = { place: from }
    try {
      do {
        isAskedAgain = false
        answer = await read(answer.place)
      } while (isAskedAgain && !isClosed)
    } catch (error) {
      onFailure(error)
      answer = { place: answer.place, againMs: RETRY_MS }
    }
    isReading = false
    place = answer.place
    if (answer.againMs !== undefined && !isClosed) stopWaiting = clock.after(answer.againMs, wake)
  }

  function wake(): void {
    isAskedAgain = true
    if (place !== undefined && !isReading && !isClosed) void readOn(place)
  }

  return {
    ready: begin().then((from) => {
      place = from
      if (isAskedAgain) wake()
    }),
    get restsAt() {
      return isReading ? undefined : place
    },
    skipTo(given) {
      place = given
    },
    wake,
    close() {
      isClosed = true
      stopWaiting?.()
    },
  }
}
