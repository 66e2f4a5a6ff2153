import type { Clock } from '../clock.ts'

/** After a failed reading: the database is away. */
const RETRY_MS = 250

export interface FeedOptions {
  clock: Clock
  /** The place from which on everything is handed over. */
  begin(): Promise<number>
  /** Hands over what is behind `place`. Answers the place behind that, and in how many ms to look again unasked. */
  read(place: number): Promise<{ place: number; againMs?: number | undefined }>
  onFailure(error: unknown): void
}

/** Reads a log on, one reading at a time, whenever it is told that there may be more. */
export interface Feed {
  /** Resolves when it is in place. @throws what `begin` throws. */
  readonly ready: Promise<void>
  /** Where it is while nothing is read; undefined before it is in place and during a reading. */
  readonly restsAt: number | undefined
  /** Goes on behind `place` without reading: what lies between was handed over otherwise. */
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
