import type { EventDataOf, NewEvent, Session } from '@countersign/core'
import type { FastifyBaseLogger } from 'fastify'
import { type EventRow, events, type StoredEvent } from '../store/index.ts'
import type { SentEvent } from './note-answers.ts'
import { type EventStream, frameOf } from './sse.ts'

/** What one reading of a log found behind a place. */
export type LogPage =
  | {
      events: readonly StoredEvent[]
      /** False when there may be more behind the last of them. */
      isLast: boolean
      /** Of a row of the log, on average. */
      bytesPerRow: number
    }
  /** The log does not hold what a reader at this place has missed: it is told the state instead, and goes on from `place`. */
  | { reset: Reset; place: number }
  /** What the log is about is not for this reader's eyes any more. */
  | { isOver: true }

/** In the inbox there is no session to tell of: what waits is a list away. */
export type Reset = Omit<EventDataOf<'reset'>, 'session'> & { session: Session | null }

/** A log as a reader sees it: events at rising places. */
export interface FollowedLog {
  /** Once it resolves, hands over what is committed, in the order of its places; answers the function that ends it. */
  subscribe(listener: (stored: StoredEvent) => void): Promise<() => void>
  /**
   * Reads `rows` rows of the log at most.
   * @param isFirst True for the first reading of a stream, which a place that the log never gave out is found by.
   */
  read(after: number, rows: number, isFirst: boolean): Promise<LogPage>
  placeOf(stored: StoredEvent): number | null
  /** False for what has to come from a reading, because who may see it is judged there. */
  isHandedOver(event: NewEvent): boolean
  /** For what was handed over, or was read last. */
  isVisible(stored: StoredEvent): boolean
  /** What events are on the wire, made once for all readers that are handed the same event. */
  readonly frames: WeakMap<StoredEvent, Buffer>
}

/** So much of a log is read at a time, as far as one can know: a row may hold anything from a word to megabytes. */
const PAGE_BYTES = 256_000
const ROWS_AT_FIRST = 4
const ROWS_AT_MOST = 128

export interface FollowOptions {
  log: FollowedLog
  stream: EventStream
  logger: FastifyBaseLogger
  /** Send what comes after this place. */
  after: number
  /** Sees every event and every reset as it is sent. */
  onSent?(event: SentEvent): void
  /** Sees every event after it was sent; answers true to end the stream. */
  isLast?(event: NewEvent): boolean
}

/**
 * Sends a log's events from a place on, then as they are committed: no gap, no repeat, and no more than the reader takes. Whoever is
 * behind (at the start, or because the socket is full) is served from the log, page by page; who has caught up is handed each event as it
 * is committed. Resolves when the stream is closed.
 */
export async function followLog({ log, stream, logger, after, onSent, isLast }: FollowOptions): Promise<void> {
  let place = after
  let isLive = false
  let isMissing = true
  let isFirst = true
  let rows = ROWS_AT_FIRST
  let wake = () => {}

  const send = (stored: StoredEvent): void => {
    const at = log.placeOf(stored)
    if (at === null || at <= place) return
    place = at
    const { event } = stored
    if (!log.isVisible(stored)) return
    const streamed = { type: event.type, id: at, data: event.data }
    const frame = log.frames.get(stored) ?? frameOf(streamed)
    log.frames.set(stored, frame)
    stream.send({ ...streamed, frame })
    onSent?.(event)
    if (isLast?.(event)) stream.end()
  }
  try {
    const unsubscribe = await log.subscribe((stored) => {
      if (isLive && !stream.isFull && log.isHandedOver(stored.event)) return send(stored)
      // It is in the log, and is read there when its turn comes; nothing waits in memory.
      isLive = false
      isMissing = true
      wake()
    })
    stream.onClose(() => {
      unsubscribe()
      wake()
    })
    while (!stream.isClosed) {
      if (!isMissing) {
        isLive = true
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      await stream.room()
      if (stream.isClosed) return
      isMissing = false
      const page = await log.read(place, rows, isFirst)
      isFirst = false
      if ('isOver' in page) return stream.end()
      if ('reset' in page) {
        place = page.place
        stream.send({ type: 'reset', id: place, data: page.reset })
        onSent?.({ type: 'reset', data: page.reset })
        isMissing = true
        continue
      }
      // What follows may be larger than what came before.
      rows = Math.min(Math.max(Math.floor(PAGE_BYTES / page.bytesPerRow), 1), rows * 2, ROWS_AT_MOST)
      if (!page.isLast) isMissing = true
      for (const stored of page.events) {
        if (stream.isClosed) return
        if (stream.isFull) {
          isMissing = true
          break
        }
        send(stored)
      }
    }
  } catch (error) {
    // The database is away or the server stops: the reader comes back, here or elsewhere, with the last id it has.
    logger.warn({ error }, 'stream.broke')
    stream.end()
  }
}

/** What was found in rows of the log. @param limit How many rows were asked for. */
export const pageOf = (rows: readonly EventRow[], limit: number): Extract<LogPage, { isLast: boolean }> => ({
  events: rows.flatMap(events.readEvents),
  isLast: rows.length < limit,
  bytesPerRow: rows.reduce((bytes, row) => bytes + row.events.length, 1) / Math.max(rows.length, 1),
})
