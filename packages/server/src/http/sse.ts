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

/** A stream of a log, at which its reader resumes after it was cut. */
export interface ResumableStream extends EventStream {
  /** Tells a reader that named no place where its stream begins: it resumes there, although nothing has happened since. */
  beginAt(id: number): void
}

/** Tracks every open stream and ends them on shutdown: readers reconnect elsewhere. */
export interface Streams {
  open(request: FastifyRequest, reply: FastifyReply): ResumableStream
  endAll(): void
}

/**
 * Creates streams that write to the raw reply: 10,000 idle readers cost 16 KB each, two to three times less than with the framework. A slow
 * reader costs what its socket buffers (64 KB and the event that exceeded it); stalled readers are dropped, the longest stalled first when
 * there are many. Every dropped reader resumes from its last id.
 */
export function createStreams({ heartbeatMs = 15_000, patienceBeats = 4, maxHeldBytes = 32_000_000 }: StreamLimits = {}): Streams {
  const heart = createHeart(heartbeatMs)
  /** The bytes that each slow reader holds, the longest behind first. */
  const behind = new Map<SseStream, number>()
  let heldBytes = 0

  const catchUp = (stream: SseStream): void => {
    heldBytes -= behind.get(stream) ?? 0
    behind.delete(stream)
  }
  const upkeep: Upkeep = {
    patienceBeats,
    catchUp,
    fallBehind(stream, bytes) {
      catchUp(stream)
      behind.set(stream, bytes)
      heldBytes += bytes
      for (const longest of behind.keys()) {
        if (heldBytes <= maxHeldBytes) return
        longest.hangUp()
      }
    },
    closed(stream) {
      catchUp(stream)
      heart.remove(stream)
    },
  }

  return {
    open(request, reply) {
      const stream = openStream(request, reply, upkeep)
      if (!stream.isClosed) heart.add(stream)
      return stream
    },
    endAll() {
      for (const stream of heart.streams()) stream.end()
    },
  }
}

/** In how many parts all streams get their heartbeat: of 5,000 streams at once, the last would keep other requests waiting. */
const TURNS = 15

/** One timer for the heartbeats of all streams, which is stopped while there are none: a timer of its own costs each stream 180 bytes. */
function createHeart(heartbeatMs: number) {
  const turns = Array.from({ length: TURNS }, () => new Set<SseStream>())
  let turn = 0
  let count = 0
  let timer: NodeJS.Timeout | undefined
  const beat = () => {
    turn = (turn + 1) % TURNS
    for (const stream of turns[turn] ?? []) stream.beat()
  }
  return {
    /** The first beat comes after a whole interval. */
    add(stream: SseStream): void {
      turns[turn]?.add(stream)
      count++
      timer ??= setInterval(beat, heartbeatMs / TURNS)
    },
    remove(stream: SseStream): void {
      if (!turns.some((streams) => streams.delete(stream)) || --count > 0) return
      clearInterval(timer)
      timer = undefined
    },
    streams: () => turns.flatMap((streams) => [...streams]),
  }
}

interface Upkeep extends Required<Pick<StreamLimits, 'patienceBeats'>> {
  /** Called when a reader has not taken what it was sent, with the size of that. */
  fallBehind(stream: SseStream, bytes: number): void
  catchUp(stream: SseStream): void
  closed(stream: SseStream): void
}

function openStream(request: FastifyRequest, reply: FastifyReply, upkeep: Upkeep): SseStream {
  reply.hijack()
  const stream = new SseStream(request, reply.raw, upkeep)
  // A HEAD request gets only the headers.
  if (request.method === 'HEAD') stream.end()
  return stream
}

/** A class, because a closure for each function would cost each open stream more memory than its state. */
class SseStream implements ResumableStream {
  readonly #request: FastifyRequest
  readonly #raw: ServerResponse
  readonly #upkeep: Upkeep
  #callbacks: readonly (() => void)[] = []
  #taken: PromiseWithResolvers<void> | undefined
  #beatsBehind = 0
  isClosed = false

  constructor(request: FastifyRequest, raw: ServerResponse, upkeep: Upkeep) {
    this.#request = request
    this.#raw = raw
    this.#upkeep = upkeep
    writeHead(raw)
    const close = () => this.#close()
    raw.on('drain', () => this.#drained())
    raw.on('close', close)
    // A reset by the reader is a normal way to disconnect.
    raw.on('error', close)
  }

  send(event: StreamedEvent): void {
    this.#write(event.frame ?? frameOf(event))
  }

  beginAt(id: number): void {
    this.#write(Buffer.from(`id: ${id}\n\n`))
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
    // As long as it has to be: pushed to, an empty list gets room for seventeen.
    else this.#callbacks = [...this.#callbacks, callback]
  }

  end(): void {
    if (this.isClosed) return
    this.#raw.end()
    this.#close()
  }

  beat(): void {
    if (!this.isFull) this.#write(HEARTBEAT)
    else if (++this.#beatsBehind >= this.#upkeep.patienceBeats) this.hangUp()
  }

  /** Drops a reader that takes nothing. */
  hangUp(): void {
    this.#request.log.warn({ bytes: this.#raw.writableLength }, 'stream.dropped_slow_reader')
    this.#raw.destroy()
    this.#close()
  }

  #write(frame: Buffer): void {
    if (this.isClosed || this.#raw.write(frame)) return
    this.#upkeep.fallBehind(this, this.#raw.writableLength)
  }

  #drained(): void {
    this.#beatsBehind = 0
    this.#upkeep.catchUp(this)
    this.#taken?.resolve()
    this.#taken = undefined
  }

  #close(): void {
    if (this.isClosed) return
    this.isClosed = true
    this.#upkeep.closed(this)
    this.#taken?.resolve()
    for (const callback of this.#callbacks) callback()
    this.#callbacks = []
  }
}

function writeHead(raw: ServerResponse): void {
  raw.writeHead(200, {
    ...SECURITY_HEADERS,
    'content-type': 'text/event-stream',
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
