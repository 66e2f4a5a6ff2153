import type { EventHub } from '../../packages/server/src/dispatch/index.ts'
import { type FollowedLog, followLog } from '../../packages/server/src/http/follow.ts'
import { openInboxLog } from '../../packages/server/src/http/inbox-log.ts'
import type { LogReader } from '../../packages/server/src/http/log-reader.ts'
import { sessionLog } from '../../packages/server/src/http/session-log.ts'
import { type EventStream, frameOf } from '../../packages/server/src/http/sse.ts'
import type { Counts } from './counts.ts'
import { DECIDERS } from './people.ts'
import type { SimulatedProcess } from './process.ts'
import type { Random } from './random.ts'
import type { Timeline } from './timeline.ts'

export interface ReaderDeps {
  timeline: Timeline
  random: Random
  counts: Counts
  pickProcess(): SimulatedProcess | undefined
  /** Mean time until a connection is cut; 0 for never. */
  cutEveryMs(): number
  violate(text: string): void
}

interface Received {
  id: number
  type: string
  data: unknown
}

/** Events on their way to a reader after which its socket is full. */
const SOCKET_HOLDS = 6

/** Somebody who follows a session, or the inbox: connects somewhere, is cut off somewhere, and goes on from the last id that arrived. */
export class Reader {
  /** Null for the inbox. */
  readonly sessionId: string | null
  readonly received: Received[] = []
  readonly #deps: ReaderDeps
  #lastId = 0

  constructor(sessionId: string | null, deps: ReaderDeps) {
    this.sessionId = sessionId
    this.#deps = deps
    this.#connect()
  }

  #connectSoon(): void {
    this.#deps.timeline.after(1 + this.#deps.random.next() * 80, '', () => this.#connect())
  }

  #connect(): void {
    const { timeline, random, counts } = this.#deps
    const process = this.#deps.pickProcess()
    if (!process?.engine || !process.logs || process.state === 'dead') {
      this.#connectSoon()
      return
    }
    const { hub } = process.engine
    const connection = this.#openConnection()
    const cut = () => {
      if (connection.isCut) return
      counts.hit('reader: cut')
      connection.cut()
      this.#connectSoon()
    }
    process.onEnd.add(cut)
    const meanMs = this.#deps.cutEveryMs()
    if (meanMs > 0) timeline.after(-Math.log(1 - random.next()) * meanMs, '', cut)
    // The server may hang up as well, when its database is away.
    connection.stream.onClose(cut)
    const { stream } = connection
    this.#openLog(process.logs, hub)
      .then((log) => followLog({ log, stream, logger: process.log, after: this.#lastId }))
      // What the inbox shows is read first; with the database away, the reader comes back.
      .catch(cut)
  }

  async #openLog(store: LogReader, hub: EventHub): Promise<FollowedLog> {
    const { timeline } = this.#deps
    const [principal] = DECIDERS
    if (!principal) throw new Error('nobody decides here')
    const clock = { nowMs: () => timeline.nowMs, after: (delayMs: number, callback: () => void) => timeline.after(delayMs, '', callback) }
    return this.sessionId === null
      ? openInboxLog({ store, hub, clock, principal })
      : sessionLog({ store, hub, clock, sessionId: this.sessionId, principal })
  }

  /** A connection delivers in order, a while later, and what is on its way when it is cut is lost. */
  #openConnection() {
    const { timeline, random, counts } = this.#deps
    const callbacks = new Set<() => void>()
    const onTheirWay: Received[] = []
    let emptied = Promise.withResolvers<void>()
    let isCut = false
    const deliver = () => {
      if (isCut) return
      // What a socket hands over at once is a matter of luck.
      for (const event of onTheirWay.splice(0, 1 + random.int(6))) this.#receive(event)
      if (onTheirWay.length > 0) return void timeline.after(random.next() * 3, '', deliver)
      emptied.resolve()
      emptied = Promise.withResolvers()
    }
    const close = () => {
      if (isCut) return
      isCut = true
      emptied.resolve()
      for (const callback of callbacks) callback()
    }
    const stream: EventStream = {
      send(event) {
        if (isCut) return
        onTheirWay.push(readFrame(Buffer.isBuffer(event) ? event : frameOf(event)))
        if (onTheirWay.length === 1) timeline.after(random.next() * 3, '', deliver)
        if (onTheirWay.length === SOCKET_HOLDS) counts.hit('reader: slow')
      },
      get isFull() {
        return !isCut && onTheirWay.length >= SOCKET_HOLDS
      },
      room: async () => {
        if (!isCut && onTheirWay.length >= SOCKET_HOLDS) await emptied.promise
      },
      get isClosed() {
        return isCut
      },
      onClose: (callback) => void (isCut ? callback() : callbacks.add(callback)),
      end: close,
    }
    return {
      stream,
      cut: close,
      get isCut() {
        return isCut
      },
    }
  }

  #receive({ type, id, data }: Received): void {
    const { violate, counts } = this.#deps
    if (type === 'reset') counts.hit('reader: reset')
    else if (id <= this.#lastId) violate(`I7: ${this.sessionId ?? 'the inbox'} said ${type} as ${id} after ${this.#lastId}`)
    this.#lastId = id
    this.received.push({ id, type, data })
  }
}

/** Reads one event as it goes over the wire. */
function readFrame(frame: Buffer): Received {
  const [, id, type, data] = /^id: (\d+)\nevent: (\w+)\ndata: (.*)\n\n$/.exec(frame.toString()) ?? []
  if (type === undefined || data === undefined) throw new Error(`not an event: ${frame}`)
  return { id: Number(id), type, data: JSON.parse(data) }
}
