import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { Writable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createParser } from 'eventsource-parser'
import Fastify from 'fastify'
import { pino } from 'pino'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { StoredEvent } from '../store/index.ts'
import { type FollowedLog, followLog } from './follow.ts'
import { createStreams, type EventStream, type StreamLimits } from './sse.ts'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

const CONTENT = 'x'.repeat(50_000)

/** A log of `length` events of 50 KB, to which more can be added. */
function openLog(length: number) {
  const listeners = new Set<(stored: StoredEvent) => void>()
  const readAfter: number[] = []
  const eventAt = (seq: number): StoredEvent => ({
    id: seq,
    sessionId: 'ses_1',
    seq,
    event: { type: 'delta', data: { messageId: 'msg_1', content: CONTENT } },
  })
  let last = length
  const log: FollowedLog = {
    async subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    async read(after, limit) {
      readAfter.push(after)
      const events = Array.from({ length: Math.min(limit, last - after) }, (_, i) => eventAt(after + 1 + i))
      // As with a database behind a socket: events that are committed meanwhile are not included.
      await new Promise((resolve) => setImmediate(resolve))
      return { events, isLast: events.length < limit, bytesPerRow: CONTENT.length }
    },
    placeOf: ({ seq }) => seq,
    isHandedOver: () => true,
    isVisible: () => true,
    frames: new WeakMap(),
  }
  return {
    log,
    readAfter,
    listeners,
    add(count: number) {
      for (let i = 0; i < count; i++) for (const listener of listeners) listener(eventAt(++last))
    },
  }
}

/** A server whose one route follows `log`; `dropped` counts the readers it disconnected, and `opened` has the streams of all. */
async function serve(log: FollowedLog, limits: StreamLimits = {}) {
  const logged = { dropped: 0, onDrop: Promise.withResolvers<void>() }
  const sink = new Writable({
    write(line, _, done) {
      if (String(line).includes('stream.dropped_slow_reader')) {
        logged.dropped++
        logged.onDrop.resolve()
      }
      done()
    },
  })
  const streams = createStreams(limits)
  const opened: EventStream[] = []
  const app = Fastify({ loggerInstance: pino({ level: 'warn' }, sink), forceCloseConnections: true })
  app.get('/', (request, reply) => {
    const after = Number(request.headers['last-event-id'] ?? 0)
    const stream = streams.open(request, reply)
    opened.push(stream)
    return followLog({ log, stream, logger: request.log, after })
  })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  return { url, logged, opened, [Symbol.asyncDispose]: () => app.close() }
}

/** A reader that reads only when the test tells it to. */
async function openReader(url: string, lastEventId?: number) {
  const outgoing = get(url, { agent: false, headers: lastEventId === undefined ? {} : { 'last-event-id': String(lastEventId) } })
  const [response]: IncomingMessage[] = await once(outgoing, 'response')
  if (!response) throw new Error('there is no answer')
  const ids: number[] = []
  const parser = createParser({ onEvent: ({ id }) => ids.push(Number(id)) })
  const closed = new Promise<void>((resolve) => response.once('close', resolve))
  response.on('error', () => undefined)
  return {
    ids,
    /** Reads until `id` arrives, or until the connection ends. */
    readUpTo(id: number): Promise<void> {
      response.on('data', (chunk) => {
        parser.feed(String(chunk))
        if ((ids.at(-1) ?? 0) >= id) response.destroy()
      })
      return closed
    },
    pause: () => response.pause(),
    resume: () => response.resume(),
    close: () => response.destroy(),
  }
}

const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i)

test('a long log is read only as fast as its reader takes it', async () => {
  const LENGTH = 2_000
  const { log, readAfter } = openLog(LENGTH)
  await using server = await serve(log)
  const reader = await openReader(server.url)
  // 100 MB are pending. The sockets of both sides buffer some MB without being read.
  const quiet = async () => {
    for (let reads = -1; reads !== readAfter.length; ) {
      reads = readAfter.length
      for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
    }
  }
  await quiet()
  expect(readAfter.at(-1)).toBeLessThan(LENGTH / 2)
  await reader.readUpTo(LENGTH)
  expect(reader.ids).toEqual(numbers(1, LENGTH))
})

test('what comes while a reader is behind is read for it when it has room, in order and once', async () => {
  const { log, add } = openLog(0)
  await using server = await serve(log)
  const reader = await openReader(server.url)
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  for (let i = 0; i < 20; i++) {
    add(20)
    await turn()
  }
  const reading = reader.readUpTo(1_000)
  for (let i = 0; i < 600; i++) {
    add(1)
    await turn()
  }
  await reading
  expect(reader.ids).toEqual(numbers(1, 1_000))
})

test('a reader that takes nothing is hung up on, and goes on from the last id it has', async () => {
  const LENGTH = 1_000
  const HEARTBEAT_MS = 15_000
  // The heart beats only when the test lets it: a busy machine may hold up a reader for longer than three beats.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const { log, listeners } = openLog(LENGTH)
  await using server = await serve(log, { heartbeatMs: HEARTBEAT_MS, patienceBeats: 3 })
  const stalled = await openReader(server.url)
  while (server.logged.dropped === 0) {
    vi.advanceTimersByTime(HEARTBEAT_MS)
    await nextTurn()
  }
  expect(listeners.size).toBe(0)
  await stalled.readUpTo(LENGTH)
  const last = stalled.ids.at(-1) ?? 0
  expect(last).toBeLessThan(LENGTH)
  const again = await openReader(server.url, last)
  const reading = again.readUpTo(LENGTH)
  const stream = server.opened.at(-1)
  // It is slow and stays: each time, it takes something just before it would be hung up on.
  for (let times = 0; times < 2; times++) {
    again.pause()
    while (stream && !stream.isFull && !stream.isClosed) await nextTurn()
    vi.advanceTimersByTime(2 * HEARTBEAT_MS)
    again.resume()
    await stream?.room()
  }
  await reading
  expect([...stalled.ids, ...again.ids]).toEqual(numbers(1, LENGTH))
  expect(server.logged.dropped).toBe(1)
})

test('readers that stand still hold no more than the limit together: the longest behind is dropped first', async () => {
  const { log } = openLog(1_000)
  await using server = await serve(log, { maxHeldBytes: 250_000 })
  const first = await openReader(server.url)
  const others = []
  for (let i = 0; i < 9; i++) others.push(await openReader(server.url))
  await server.logged.onDrop.promise
  await first.readUpTo(1_000)
  expect(first.ids.length).toBeLessThan(1_000)
  const last = others.at(-1)
  await last?.readUpTo(1_000)
  expect(last?.ids).toEqual(numbers(1, 1_000))
  for (const other of others) other.close()
})

test('one reader whose stream throws is ended, and breaks neither the commit nor the other readers', async () => {
  const { log, listeners, add } = openLog(0)
  const warn = vi.fn<(...parts: unknown[]) => void>()
  const logger = Object.assign(pino({ level: 'silent' }), { warn })
  const openStream = (send: () => void) => {
    const callbacks: (() => void)[] = []
    const onClose = (callback: () => void) => void callbacks.push(callback)
    const end = () => {
      for (const callback of callbacks) callback()
    }
    followLog({ log, stream: { isClosed: false, isFull: false, send, room: async () => undefined, onClose, end }, logger, after: 0 })
  }
  const failure = new Error('this reader cannot be told')
  const taken = vi.fn<() => void>()
  openStream(() => {
    throw failure
  })
  openStream(taken)
  while (listeners.size < 2) await nextTurn()
  // Both have read that there is nothing yet: from here on they are handed what is committed.
  for (let i = 0; i < 10; i++) await nextTurn()
  add(1)
  expect(taken).toHaveBeenCalledTimes(1)
  expect(warn).toHaveBeenCalledExactlyOnceWith({ error: failure }, 'stream.broke')
  expect(listeners.size, 'the one that broke follows no more').toBe(1)
})

test('a reader that has caught up keeps nothing of what it was sent', async () => {
  const { log } = openLog(1)
  const sent: WeakRef<StoredEvent>[] = []
  const read: FollowedLog['read'] = async (...place) => {
    const page = await log.read(...place)
    if ('events' in page) sent.push(...page.events.map((stored) => new WeakRef(stored)))
    return page
  }
  await using server = await serve({ ...log, read })
  const reader = await openReader(server.url)
  while (sent.length === 0) await nextTurn()
  // What was just read stays until the turn ends.
  for (let i = 0; i < 10 && sent.some((stored) => stored.deref()); i++) {
    await nextTurn()
    collectGarbage()
  }
  expect(sent.filter((stored) => stored.deref())).toEqual([])
  reader.close()
})

test('a reader that waits for the next event costs less than half a kilobyte besides its connection', async () => {
  const COUNT = 2_000
  const { log, listeners } = openLog(0)
  const logger = pino({ level: 'silent' })
  const streams = Array.from({ length: 2 * COUNT }, () => ({
    ...{ isClosed: false, isFull: false },
    ...{ send: () => undefined, room: async () => undefined, onClose: () => undefined, end: () => undefined },
  }))
  const heapBytes = async () => {
    for (let i = 0; i < 10; i++) await nextTurn()
    collectGarbage()
    return process.memoryUsage().heapUsed
  }
  const follow = async (some: typeof streams) => {
    const due = listeners.size + some.length
    for (const stream of some) followLog({ log, stream, logger, after: 0 })
    while (listeners.size < due) await nextTurn()
    return heapBytes()
  }
  // The first ones pay for what is compiled once: 0.2 MB.
  const before = await follow(streams.slice(0, COUNT))
  expect(((await follow(streams.slice(COUNT))) - before) / COUNT).toBeLessThan(512)
})
