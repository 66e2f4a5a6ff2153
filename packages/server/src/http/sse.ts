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

const HEARTBEAT = Buffer.from(': heartbeat\n\n')

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

function openStream(request: FastifyRequest, reply: FastifyReply, upkeep: Upkeep): EventStream {
  reply.hijack()
  const stream = new SseStream(request, reply.raw, upkeep)
  // A HEAD request gets only the headers.
  if (request.method === 'HEAD') stream.end()
  return stream
}

/** A class, because a closure for each function would cost each open stream more memory than its state. */
class SseStream implements EventStream {
  readonly #request: FastifyRequest
  readonly #raw: ServerResponse
  readonly #upkeep: Upkeep
  readonly #heartbeat: NodeJS.Timeout
  readonly #drop = () => this.#hangUp()
  #callbacks: (() => void)[] = []
  #taken: PromiseWithResolvers<void> | undefined
  #beatsBehind = 0
  isClosed = false

  constructor(request: FastifyRequest, raw: ServerResponse, upkeep: Upkeep) {
    this.#request = request
    this.#raw = raw
    this.#upkeep = upkeep
    writeHead(raw)
    this.#heartbeat = setInterval(() => this.#beat(), upkeep.heartbeatMs)
    const close = () => this.#close()
    raw.on('drain', () => this.#drained())
    raw.on('close', close)
    // A reset by the reader is a normal way to disconnect.
    raw.on('error', close)
  }

  send(event: StreamedEvent): void {
    this.#write(event.frame ?? frameOf(event))
  }

  get isFull(): boolean {
    return !this.isClosed && this.#raw.writableNeedDrain
  }

  async room(): Promise<void> {
    if (!this.isFull) return
    this.#taken ??= Promise.withResolvers()
    await this.#taken.promise
  }

  onClose(callback: () => void): void {
    if (this.isClosed) callback()
    else this.#callbacks.push(callback)
  }

  end(): void {
    if (this.isClosed) return
    this.#raw.end()
    this.#close()
  }

  #beat(): void {
    if (!this.isFull) this.#write(HEARTBEAT)
    else if (++this.#beatsBehind >= this.#upkeep.patienceBeats) this.#hangUp()
  }

  #write(frame: Buffer): void {
    if (this.isClosed || this.#raw.write(frame)) return
    this.#upkeep.fallBehind(this.#drop, this.#raw.writableLength)
  }

  #drained(): void {
    this.#beatsBehind = 0
    this.#upkeep.catchUp(this.#drop)
    this.#taken?.resolve()
    this.#taken = undefined
  }

  #hangUp(): void {
    this.#request.log.warn({ bytes: this.#raw.writableLength }, 'stream.dropped_slow_reader')
    this.#raw.destroy()
    this.#close()
  }

  #close(): void {
    if (this.isClosed) return
    this.isClosed = true
    clearInterval(this.#heartbeat)
    this.#upkeep.catchUp(this.#drop)
    this.#taken?.resolve()
    for (const callback of this.#callbacks) callback()
    this.#callbacks = []
  }
}

function writeHead(raw: ServerResponse): void {
  raw.writeHead(200, {
    ...SECURITY_HEADERS,
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
    'x-accel-buffering': 'no',
    connection: 'keep-alive',
  })
  // Still one packet. Node keeps the head for as long as the stream is open: sent by itself it becomes one string, instead of 49 parts.
  raw.socket?.cork()
  raw.flushHeaders()
  raw.write('retry: 1000\n\n')
  raw.socket?.uncork()
}
