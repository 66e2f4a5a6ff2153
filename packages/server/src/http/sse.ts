import type { ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { SECURITY_HEADERS } from './security-headers.ts'

export interface StreamLimits {
  /** Interval of comments that show proxies and readers that the stream is alive. Default 15_000. */
  heartbeatMs?: number
  /** A reader that has taken nothing for this many heartbeats is disconnected. Default 4. */
  patienceBeats?: number
  /** Memory that all readers that have fallen behind may hold together. Default 32 MB. */
  maxHeldBytes?: number
}

export interface StreamedEvent {
  type: string
  id?: number | undefined
  data: unknown
  /** The result of {@link frameOf}, made once for all its readers. */
  frame?: Buffer
}

/** Encodes an event for the wire. Types are fixed, ids are integers and JSON has no raw line breaks: no outside value can start a line. */
export const frameOf = ({ type, id, data }: StreamedEvent): Buffer =>
  Buffer.from(`${id === undefined ? '' : `id: ${id}\n`}event: ${type}\ndata: ${JSON.stringify(data)}\n\n`)

/** One open event stream. Writing to a closed one does nothing. */
export interface EventStream {
  send(event: StreamedEvent): void
  /** True while the reader has not taken what it was sent. The caller then waits for {@link EventStream.room}: the log holds the rest. */
  readonly isFull: boolean
  /** Resolves when the reader has taken what it was sent, or the stream is closed. */
  room(): Promise<void>
  readonly isClosed: boolean
  /** Runs once, when either side has closed. */
  onClose(callback: () => void): void
  end(): void
}

/** Tracks every open stream and ends them on shutdown: readers reconnect elsewhere. */
export interface Streams {
  open(request: FastifyRequest, reply: FastifyReply): EventStream
  endAll(): void
}

/**
 * Creates streams that write to the raw reply: 10,000 idle readers cost 16 KB each, two to three times less than with the framework. A slow
 * reader costs what its socket buffers (64 KB and the event that exceeded it); stalled readers are dropped, the longest stalled first when
 * there are many. Every dropped reader resumes from its last id.
 */
export function createStreams({ heartbeatMs = 15_000, patienceBeats = 4, maxHeldBytes = 32_000_000 }: StreamLimits = {}): Streams {
  const streams = new Set<EventStream>()
  /** The bytes that each slow reader holds, the longest behind first. */
  const behind = new Map<() => void, number>()
  let heldBytes = 0

  const catchUp = (drop: () => void): void => {
    heldBytes -= behind.get(drop) ?? 0
    behind.delete(drop)
  }
  const fallBehind = (drop: () => void, bytes: number): void => {
    catchUp(drop)
    behind.set(drop, bytes)
    heldBytes += bytes
    for (const dropLongest of behind.keys()) {
      if (heldBytes <= maxHeldBytes) return
      dropLongest()
    }
  }

  return {
    open(request, reply) {
      const stream = openStream(request, reply, { heartbeatMs, patienceBeats, catchUp, fallBehind })
      streams.add(stream)
      stream.onClose(() => streams.delete(stream))
      return stream
    },
    endAll() {
      for (const stream of streams) stream.end()
    },
  }
}

interface Upkeep extends Required<Pick<StreamLimits, 'heartbeatMs' | 'patienceBeats'>> {
  /** Called when a reader has not taken what it was sent, with the size of that; `drop` ends its stream. */
  fallBehind(drop: () => void, bytes: number): void
  catchUp(drop: () => void): void
}

function openStream(
  request: FastifyRequest,
  reply: FastifyReply,
  { heartbeatMs, patienceBeats, fallBehind, catchUp }: Upkeep,
): EventStream {
  reply.hijack()
  const { raw } = reply
  writeHead(raw)
  const callbacks = new Set<() => void>()
  let isClosed = false
  let taken = Promise.withResolvers<void>()
  let beatsBehind = 0

  const heartbeat = setInterval(() => {
    if (!raw.writableNeedDrain) write(': heartbeat\n\n')
    else if (++beatsBehind >= patienceBeats) drop()
  }, heartbeatMs)

  function write(bytes: string | Buffer): void {
    if (isClosed) return
    if (!raw.write(bytes)) fallBehind(drop, raw.writableLength)
  }

  function drop(): void {
    request.log.warn({ bytes: raw.writableLength }, 'stream.dropped_slow_reader')
    raw.destroy()
    close()
  }

  function close(): void {
    if (isClosed) return
    isClosed = true
    clearInterval(heartbeat)
    catchUp(drop)
    taken.resolve()
    for (const callback of callbacks) callback()
  }
  raw.on('drain', () => {
    beatsBehind = 0
    catchUp(drop)
    taken.resolve()
    taken = Promise.withResolvers()
  })
  raw.on('close', close)
  // A reset by the reader is a normal way to disconnect.
  raw.on('error', close)

  const stream: EventStream = {
    send: (event) => write(event.frame ?? frameOf(event)),
    get isFull() {
      return !isClosed && raw.writableNeedDrain
    },
    room: async () => {
      if (!isClosed && raw.writableNeedDrain) await taken.promise
    },
    get isClosed() {
      return isClosed
    },
    onClose: (callback) => void (isClosed ? callback() : callbacks.add(callback)),
    end: () => {
      if (isClosed) return
      raw.end()
      close()
    },
  }
  // A HEAD request gets only the headers.
  if (request.method === 'HEAD') stream.end()
  return stream
}

function writeHead(raw: ServerResponse): void {
  raw.writeHead(200, {
    ...SECURITY_HEADERS,
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
    'x-accel-buffering': 'no',
    connection: 'keep-alive',
  })
  raw.write('retry: 1000\n\n')
}
