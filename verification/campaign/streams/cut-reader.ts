import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { createParser } from 'eventsource-parser'
import type { Random } from '../../simulation/random.ts'
import type { ReadEvent } from '../../testing/event-reader.ts'

export interface CutReaderOptions {
  random: Random
  /** Servers on one database; each connection goes to any of them. */
  urls: readonly string[]
  path: string
  headers: Record<string, string>
}

export interface CutCounts {
  connections: number
  /** Cut off in the middle of an event, which the next connection has to bring whole. */
  insideEvent: number
  /** Cut off right behind a piece of a message that was not whole yet. */
  insideMessage: number
}

/** A reader of an event stream whose connections break, each at a byte that the seed says. */
export interface CutReader {
  /** In the order of arrival, over all connections. */
  readonly events: readonly ReadEvent[]
  readonly counts: CutCounts
  /** Resolves when the event with this id has arrived. */
  readUpTo(lastId: number): Promise<void>
}

export function openCutReader({ random, urls, path, headers }: CutReaderOptions): CutReader {
  const events: ReadEvent[] = []
  const counts: CutCounts = { connections: 0, insideEvent: 0, insideMessage: 0 }
  let target = Number.POSITIVE_INFINITY
  let inFlight: ClientRequest | undefined
  const arrived = Promise.withResolvers<void>()

  const lastId = () => events.at(-1)?.id
  const isDone = () => (lastId() ?? 0) >= target

  function take(response: IncomingMessage, atByte: number): void {
    let left = atByte
    let open = 0
    const decoder = new TextDecoder()
    const parser = createParser({
      onEvent: ({ id, event = 'message', data }) => {
        open = 0
        events.push({ id: id === undefined ? undefined : Number(id), type: event, data: JSON.parse(data) })
      },
    })
    response.on('data', (chunk: Buffer) => {
      if (left <= 0) return
      const bytes = chunk.subarray(0, left)
      left -= bytes.length
      open += bytes.length
      parser.feed(decoder.decode(bytes, { stream: true }))
      if (left > 0 && !isDone()) return
      if (open > 0 && !isDone()) counts.insideEvent++
      if (events.at(-1)?.type === 'delta') counts.insideMessage++
      left = 0
      // Half of the cuts are a reset, half look like an orderly end.
      if (random.chance(0.5)) response.socket.resetAndDestroy()
      else response.destroy()
    })
  }

  /** One connection, until it is cut, breaks, or everything has arrived. */
  async function connect(): Promise<void> {
    const after = lastId()
    counts.connections++
    // Mostly short, now and then long enough to get ahead however large an event is.
    const atByte = 1 + (random.chance(0.2) ? random.int(200_000) : random.int(2_000))
    const outgoing = request(random.pick(urls) + path, {
      headers: { ...headers, accept: 'text/event-stream', ...(after !== undefined && { 'last-event-id': String(after) }) },
      agent: false,
    })
    inFlight = outgoing
    outgoing.on('response', (response: IncomingMessage) => {
      response.on('error', () => undefined)
      if (response.statusCode === 200) take(response, atByte)
      else response.resume()
    })
    outgoing.on('error', () => undefined)
    const closed = new Promise((resolve) => outgoing.on('close', resolve))
    outgoing.end()
    // Not `once`: it throws for a connection that ended before its answer, such as one that `readUpTo` ends.
    await closed
  }

  async function read(): Promise<void> {
    while (!isDone()) await connect()
    arrived.resolve()
  }
  void read()

  return {
    events,
    counts,
    readUpTo(last) {
      target = last
      if (isDone()) inFlight?.destroy()
      return arrived.promise
    },
  }
}
