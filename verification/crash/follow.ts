import { EventSourceParserStream } from 'eventsource-parser/stream'
import type { ReadEvent } from '../testing/event-reader.ts'
import type { Door, Person } from './door.ts'

/** A reader that continues where it was cut, at any server that is alive. */
export interface Follower {
  readonly events: readonly ReadEvent[]
  /** The number of the last event. */
  readonly lastId: number
  /** How often it was cut off. */
  readonly cuts: number
  close(): Promise<void>
}

export interface FollowOptions {
  door: Door
  who: Person
  path: string
  /** Sees every event once. */
  onEvent?(event: ReadEvent): void
}

/** Follows an event stream through the deaths of the servers that send it. */
export function follow({ door, who, path, onEvent }: FollowOptions): Follower {
  const events: ReadEvent[] = []
  const hangUp = new AbortController()
  let lastId = 0
  let cuts = 0

  async function read(): Promise<void> {
    while (!hangUp.signal.aborted) {
      try {
        const response = await fetch((await door.pick()) + path, {
          headers: { ...who.headers, accept: 'text/event-stream', 'last-event-id': String(lastId) },
          signal: hangUp.signal,
        })
        if (!response.body || response.status !== 200) continue
        for await (const { id, event = 'message', data } of response.body
          .pipeThrough(new TextDecoderStream())
          .pipeThrough(new EventSourceParserStream())) {
          if (id !== undefined) lastId = Number(id)
          const read = { id: lastId, type: event, data: JSON.parse(data) }
          events.push(read)
          onEvent?.(read)
        }
      } catch {
        // The connection broke: that is what this reader is for.
      }
      cuts++
    }
  }
  const reading = read()

  return {
    events,
    get lastId() {
      return lastId
    },
    get cuts() {
      return cuts
    },
    async close() {
      hangUp.abort()
      await reading
    },
  }
}
