import type { EventDataOf, NewEvent, Session } from '@countersign/core'
import type { FastifyBaseLogger } from 'fastify'
import { type EventRow, events, type StoredEvent } from '../store/index.ts'
import type { SentEvent } from './note-answers.ts'
import { type EventStream, frameOf } from './sse.ts'

/** The result of one read of a log after a place. */
export type LogPage =
  | {
      events: readonly StoredEvent[]
      /** False when there may be more after the last of them. */
      isLast: boolean
      /** Average size of a row of the log. */
      bytesPerRow: number
    }
  /** The log no longer holds what a reader at this place has missed: the reader gets the current state, and resumes from `place`. */
  | { reset: Reset; place: number }
  /** This reader may no longer see the log. */
  | { isOver: true }

/** The reset of the inbox, which has no session to describe: the list of actions has the current state. */
export type Reset = Omit<EventDataOf<'reset'>, 'session'> & { session: Session | null }

/** A log as a reader sees it: events at increasing places. */
export interface FollowedLog {
  /**
   * Once it resolves, hands over committed events in the order of their places; returns the function that ends it. Called without an event,
   * the listener reads.
   */
  subscribe(listener: (stored?: StoredEvent) => void): Promise<() => void>
  /**
   * Reads at most `rows` rows of the log.
   * @param isFirst True for the first read of a stream, which detects a place that the log never issued.
   */
  read(after: number, rows: number, isFirst: boolean): Promise<LogPage>
  placeOf(stored: StoredEvent): number | null
  /** Returns false for events that have to come from a read, because the read decides who may see them. */
  isHandedOver(event: NewEvent): boolean
  /** Called for each event that was handed over or read last. */
  isVisible(stored: StoredEvent): boolean
  /** Events in wire format, encoded once for all readers that receive the same event. */
  readonly frames: WeakMap<StoredEvent, Buffer>
}

/** Target size of one read of a log, as far as it can be predicted: a row may hold anything from a word to megabytes. */
const PAGE_BYTES = 256_000
const ROWS_AT_FIRST = 4
const ROWS_AT_MOST = 128

export interface FollowOptions {
  log: FollowedLog
  stream: EventStream
  logger: FastifyBaseLogger
  /** Send the events after this place. */
  after: number
  /** Receives every event and every reset as it is sent. */
  onSent?(event: SentEvent): void
  /** Receives every event after it was sent, and its place; returns true to end the stream. */
  isLast?(event: NewEvent, place: number): boolean
}

/**
 * Sends the events of a log from a place on, and then as they are committed: without gaps or repeats, and never more than the reader takes.
 * A reader that is behind (at the start, or because its socket is full) is served from the log, page by page; a reader that has caught up
 * receives each event as it is committed. Returns at once; it goes on until the stream is closed.
 */
export function followLog(options: FollowOptions): void {
  void new Follower(options).begin()
}

/**
 * A class whose methods end while nothing happens: closures, and an `async` function that waits for the next event, would cost each idle
 * stream 1 KB, and keep the variables of its callers.
 */
class Follower {
  readonly #log: FollowedLog
  readonly #stream: EventStream
  readonly #logger: FastifyBaseLogger
  readonly #onSent: FollowOptions['onSent']
  readonly #isLast: FollowOptions['isLast']
  #place: number
  #rows = ROWS_AT_FIRST
  #isFirst = true
  /** True while the reader has everything: then it receives each event as it is committed. */
  #isLive = false
  /** True when the log may have more for the reader. */
  #isMissing = true

  constructor({ log, stream, logger, after, onSent, isLast }: FollowOptions) {
    this.#log = log
    this.#stream = stream
    this.#logger = logger
    this.#place = after
    this.#onSent = onSent
    this.#isLast = isLast
  }

  async begin(): Promise<void> {
    try {
      const unsubscribe = await this.#log.subscribe((stored) => this.#take(stored))
      this.#stream.onClose(unsubscribe)
    } catch (error) {
      return this.#breakOff(error)
    }
    await this.#catchUp()
  }

  #take(stored: StoredEvent | undefined): void {
    if (stored && this.#isLive && !this.#stream.isFull && this.#log.isHandedOver(stored.event)) {
      // This runs inside the commit that tells all its readers: one that cannot be told must not keep it from the others.
      try {
        this.#send(stored)
      } catch (error) {
        this.#breakOff(error)
      }
      return
    }
    // The event is in the log and is read there in its turn; nothing is kept in memory.
    this.#isMissing = true
    if (!this.#isLive) return
    this.#isLive = false
    void this.#catchUp()
  }

  /** Reads page by page until nothing is missing. */
  async #catchUp(): Promise<void> {
    const stream = this.#stream
    try {
      while (this.#isMissing) {
        await stream.room()
        if (stream.isClosed) return
        this.#isMissing = false
        await this.#sendPage()
      }
      this.#isLive = true
    } catch (error) {
      this.#breakOff(error)
    }
  }

  /** The database is unreachable, the server stops or an event cannot be sent: the reader reconnects, here or elsewhere, with its last id. */
  #breakOff(error: unknown): void {
    this.#logger.warn({ error }, 'stream.broke')
    this.#stream.end()
  }

  async #sendPage(): Promise<void> {
    const stream = this.#stream
    const page = await this.#log.read(this.#place, this.#rows, this.#isFirst)
    this.#isFirst = false
    if ('isOver' in page) return stream.end()
    if ('reset' in page) {
      this.#place = page.place
      stream.send({ type: 'reset', id: page.place, data: page.reset })
      this.#onSent?.({ type: 'reset', data: page.reset })
      this.#isMissing = true
      return
    }
    // The next rows may be larger than the previous ones.
    this.#rows = Math.min(Math.max(Math.floor(PAGE_BYTES / page.bytesPerRow), 1), this.#rows * 2, ROWS_AT_MOST)
    if (!page.isLast) this.#isMissing = true
    for (const stored of page.events) {
      if (stream.isClosed) return
      if (stream.isFull) {
        this.#isMissing = true
        return
      }
      this.#send(stored)
    }
  }

  #send(stored: StoredEvent): void {
    const log = this.#log
    const at = log.placeOf(stored)
    if (at === null || at <= this.#place) return
    this.#place = at
    const { event } = stored
    if (!log.isVisible(stored)) return
    const streamed = { type: event.type, id: at, data: event.data }
    const frame = log.frames.get(stored) ?? frameOf(streamed)
    log.frames.set(stored, frame)
    this.#stream.send({ ...streamed, frame })
    this.#onSent?.(event)
    if (this.#isLast?.(event, at)) this.#stream.end()
  }
}

/** Builds the result from rows of the log. @param limit How many rows were requested. */
export const pageOf = (rows: readonly EventRow[], limit: number): Extract<LogPage, { isLast: boolean }> => ({
  events: rows.flatMap(events.readEvents),
  isLast: rows.length < limit,
  bytesPerRow: rows.reduce((bytes, row) => bytes + row.events.length, 1) / Math.max(rows.length, 1),
})
