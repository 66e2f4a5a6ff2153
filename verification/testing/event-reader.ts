import type { EventDataOf, EventType } from '@countersign/core'
import { createParser } from 'eventsource-parser'

/** An event of a stream, as it arrived. */
export interface ReadEvent {
  /** Undefined for an event without an id. */
  id: number | undefined
  type: string
  data: unknown
}

/** The fields of an event on the wire, with its data parsed. */
export interface SentFields {
  id?: number
  event: string
  data: unknown
}

/** A stream that is silent this long will not say what a test waits for. */
const PATIENCE_MS = 240_000

/** Reads a server-sent event stream; every event is held against its shape. */
export interface EventReader {
  /** Everything that arrived so far. */
  readonly seen: readonly ReadEvent[]
  /**
   * The data of the next event of this type (behind the one that was returned before) for which `where` holds.
   * @throws Error that lists what came instead, when the stream ends or nothing fits within four minutes.
   */
  next<T extends EventType>(type: T, where?: (data: EventDataOf<T>) => boolean): Promise<EventDataOf<T>>
  /** Resolves when something more has arrived or the stream is over; at the latest after four minutes, with an error. */
  arrival(): Promise<void>
  /** Reads to the end of the stream, which the server has to end. */
  ended(): Promise<readonly ReadEvent[]>
  /** Hangs up. */
  close(): void
  [Symbol.dispose](): void
}

/**
 * Reads the body of an answer that is an event stream.
 * @param faultsOf What is wrong with an event, by the shape that the stream promises.
 */
export function readEvents(response: Response, hangUp: AbortController, faultsOf: (event: SentFields) => readonly string[]): EventReader {
  const seen: ReadEvent[] = []
  const faults: string[] = []
  let place = 0
  let isOver = false
  let arrived = Promise.withResolvers<void>()
  const wake = () => {
    arrived.resolve()
    arrived = Promise.withResolvers()
  }

  const parser = createParser({
    onEvent: ({ id, event = 'message', data }) => {
      const value: unknown = JSON.parse(data)
      faults.push(...faultsOf({ ...(id !== undefined && { id: Number(id) }), event, data: value }))
      seen.push({ id: id === undefined ? undefined : Number(id), type: event, data: value })
    },
    onError: (error) => faults.push(`not an event stream: ${error.message}`),
  })

  async function pump(): Promise<void> {
    const decoder = new TextDecoder()
    try {
      for await (const chunk of response.body ?? []) {
        parser.feed(decoder.decode(chunk, { stream: true }))
        wake()
      }
    } catch (error) {
      if (!hangUp.signal.aborted) faults.push(`the stream broke: ${error instanceof Error ? error.message : error}`)
    }
    isOver = true
    wake()
  }
  void pump()

  async function waitFor(isThere: () => boolean, what: string): Promise<void> {
    const deadline = AbortSignal.timeout(PATIENCE_MS)
    const late = new Promise<void>((resolve) => deadline.addEventListener('abort', () => resolve(), { once: true }))
    while (!isThere()) {
      if (faults.length > 0) throw new Error(faults.join('\n'))
      if (isOver || deadline.aborted) {
        const came = seen.slice(place).map(({ type, data }) => `${type} ${JSON.stringify(data).slice(0, 200)}`)
        throw new Error(`waited for ${what}, but ${isOver ? 'the stream ended' : 'nothing came'}; it had:\n${came.join('\n')}`)
      }
      await Promise.race([arrived.promise, late])
    }
    if (faults.length > 0) throw new Error(faults.join('\n'))
  }

  return {
    seen,
    async next<T extends EventType>(type: T, where: (data: EventDataOf<T>) => boolean = () => true) {
      const fits = (event: ReadEvent): boolean => event.type === type && where(event.data as EventDataOf<T>)
      await waitFor(() => seen.slice(place).some(fits), type)
      const index = seen.findIndex((event, at) => at >= place && fits(event))
      place = index + 1
      return seen[index]?.data as EventDataOf<T>
    },
    async arrival() {
      const known = seen.length
      await waitFor(() => isOver || seen.length > known, 'anything')
    },
    async ended() {
      await waitFor(() => isOver, 'the end of the stream')
      return seen
    },
    close: () => hangUp.abort(),
    [Symbol.dispose]: () => hangUp.abort(),
  }
}
