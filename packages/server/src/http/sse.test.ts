import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import fastify from 'fastify'
import { expect, onTestFinished, test } from 'vitest'
import { createStreams, type EventStream, frameOf, type StreamLimits } from './sse.ts'

const WITHIN = { interval: 10 }
/** No heartbeat comes between the events of a test, however long the machine stands still. */
const NEVER_MS = 3_600_000
const event = (id: number, data: unknown) => ({ type: 'delta', id, data })
/** An event as it is handed to all readers, encoded once. */
const shared = (id: number, data: unknown) => ({ ...event(id, data), frame: frameOf(event(id, data)) })
const asText = (id: number, data: unknown) => `id: ${id}\nevent: delta\ndata: ${JSON.stringify(data)}\n\n`

/** A server with one stream for each request, and a route that answers at once. */
async function openServer(limits: StreamLimits = {}) {
  const streams: EventStream[] = []
  const waiting: ((stream: EventStream) => void)[] = []
  const all = createStreams({ heartbeatMs: NEVER_MS, ...limits })
  const app = fastify({ exposeHeadRoutes: true, forceCloseConnections: true })
  app.get('/events', (request, reply) => {
    const stream = all.open(request, reply)
    const next = waiting.shift()
    if (next) next(stream)
    else streams.push(stream)
  })
  app.get('/hello', async () => 'hello')
  await app.listen({ port: 0, host: '127.0.0.1' })
  onTestFinished(() => app.close())
  const { port } = app.server.address() as { port: number }
  const nextStream = async () => streams.shift() ?? new Promise<EventStream>((resolve) => waiting.push(resolve))
  return { port, nextStream }
}

/** A connection on which the test writes the requests itself. */
async function open(port: number, request: string) {
  const socket: Socket = connect({ port, host: '127.0.0.1' })
  onTestFinished(() => void socket.destroy())
  let text = ''
  socket.on('data', (bytes) => {
    text += bytes
  })
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  socket.write(request)
  return {
    socket,
    get text() {
      return text
    },
    get body() {
      return text.slice(text.indexOf('\r\n\r\n') + 4)
    },
  }
}

const get = (path: string, { method = 'GET', version = '1.1', more = '' } = {}) =>
  `${method} ${path} HTTP/${version}\r\nhost: x\r\n${more}\r\n`

/** Takes HTTP's chunked encoding apart: each chunk is its length in hexadecimal, a line break, that many bytes, a line break. */
function chunksOf(body: string): { chunks: string[]; rest: string } {
  const chunks: string[] = []
  let bytes = Buffer.from(body)
  for (;;) {
    const end = bytes.indexOf('\r\n')
    const size = Number.parseInt(bytes.subarray(0, end).toString(), 16)
    if (end < 0 || !(size >= 0)) return { chunks, rest: bytes.toString() }
    const content = bytes.subarray(end + 2, end + 2 + size)
    if (bytes.subarray(end + 2 + size, end + 4 + size).toString() !== '\r\n') throw new Error(`a chunk of ${size} does not end: ${body}`)
    chunks.push(content.toString())
    bytes = bytes.subarray(end + 4 + size)
    if (size === 0) return { chunks, rest: bytes.toString() }
  }
}

test('a stream begins with the head that readers and proxies rely on, to the letter', async () => {
  const { port, nextStream } = await openServer()
  const reader = await open(port, get('/events'))
  await nextStream()
  await expect.poll(() => reader.body, WITHIN).toContain('retry: 1000')
  for (const line of ['content-type: text/event-stream', 'cache-control: no-cache', 'x-accel-buffering: no'])
    expect(reader.text.toLowerCase().split('\r\n')).toContain(line)
})

test('every event is a whole chunk, shared or not, and the connection serves the next request when the stream has ended', async () => {
  const { port, nextStream } = await openServer()
  const reader = await open(port, get('/events'))
  const stream = await nextStream()
  stream.send(shared(1, 'naïve 😀'))
  stream.send(event(2, { text: 'a\nb' }))
  stream.send(shared(3, ''))
  stream.end()
  stream.send(shared(4, 'too late'))
  await expect.poll(() => chunksOf(reader.body).chunks.at(-1), WITHIN).toBe('')
  reader.socket.write(get('/hello'))
  await expect.poll(() => reader.text.endsWith('hello'), WITHIN).toBe(true)
  const { chunks, rest } = chunksOf(reader.body)
  expect(chunks.join('')).toBe(`retry: 1000\n\n${asText(1, 'naïve 😀')}${asText(2, { text: 'a\nb' })}${asText(3, '')}`)
  expect(rest).toMatch(/^HTTP\/1\.1 200 OK/)
})

test('a reader of HTTP 1.0 gets events without chunks', async () => {
  const { port, nextStream } = await openServer()
  const reader = await open(port, get('/events', { version: '1.0' }))
  const stream = await nextStream()
  stream.send(shared(1, 'one'))
  stream.send(event(2, 'two'))
  stream.end()
  await once(reader.socket, 'close')
  expect(reader.text.toLowerCase()).not.toContain('transfer-encoding')
  expect(reader.body).toBe(`retry: 1000\n\n${asText(1, 'one')}${asText(2, 'two')}`)
})

test('a HEAD request gets the headers and nothing else', async () => {
  const { port, nextStream } = await openServer()
  const reader = await open(port, get('/events', { method: 'HEAD' }))
  const stream = await nextStream()
  expect(stream.isClosed).toBe(true)
  stream.send(shared(1, 'one'))
  reader.socket.write(get('/hello', { more: 'connection: close\r\n' }))
  await once(reader.socket, 'close')
  expect(reader.text).toContain('text/event-stream')
  expect(reader.body).toMatch(/^HTTP\/1\.1 200 OK/)
  expect(reader.body.endsWith('hello')).toBe(true)
})

test('the events of a stream that was requested behind another one come after that one, in order', async () => {
  const { port, nextStream } = await openServer()
  const reader = await open(port, get('/events') + get('/events'))
  const [first, second] = [await nextStream(), await nextStream()]
  second.send(shared(11, 'second'))
  first.send(shared(1, 'first'))
  second.send(shared(12, 'second'))
  await expect.poll(() => reader.body.includes('id: 1\n'), WITHIN).toBe(true)
  expect(reader.text).not.toContain('id: 11')
  first.end()
  second.send(shared(13, 'second'))
  second.end()
  await expect.poll(() => reader.text.split('\r\n0\r\n\r\n').length, WITHIN).toBe(3)
  const { chunks, rest } = chunksOf(reader.body)
  expect(chunks.join('')).toBe(`retry: 1000\n\n${asText(1, 'first')}`)
  const next = chunksOf(rest.slice(rest.indexOf('\r\n\r\n') + 4))
  expect(next.chunks.join('')).toBe(`retry: 1000\n\n${[11, 12, 13].map((id) => asText(id, 'second')).join('')}`)
})

test('a reader that takes nothing is full, waits for room, and is dropped; the others go on', async () => {
  const { port, nextStream } = await openServer({ heartbeatMs: 500, patienceBeats: 10 })
  const slow = await open(port, get('/events'))
  const slowStream = await nextStream()
  const quick = await open(port, get('/events'))
  const quickStream = await nextStream()
  slow.socket.pause()
  const text = 'x'.repeat(100_000)
  let id = 0
  // On a busy machine it is dropped while the quick one is waited for.
  while (!slowStream.isFull && !slowStream.isClosed) {
    const one = shared(++id, text)
    slowStream.send(one)
    quickStream.send(one)
    await quickStream.room()
  }
  await slowStream.room()
  expect(slowStream.isClosed).toBe(true)
  await expect.poll(() => quick.text.includes(`id: ${id}\n`), WITHIN).toBe(true)
  expect(quickStream.isClosed).toBe(false)
})

test('a slow reader that takes what waits has room again, and has lost nothing', async () => {
  const { port, nextStream } = await openServer()
  const reader = await open(port, get('/events'))
  const stream = await nextStream()
  reader.socket.pause()
  const text = 'x'.repeat(100_000)
  let last = 0
  while (!stream.isFull) stream.send(shared(++last, text))
  const room = stream.room()
  reader.socket.resume()
  await room
  expect(stream.isFull).toBe(false)
  stream.send(shared(++last, 'the end'))
  await expect.poll(() => reader.text.includes('the end'), WITHIN).toBe(true)
  const events = chunksOf(reader.body).chunks.join('').split('\n\n').slice(1, -1)
  expect(events.map((one) => Number(/^id: (\d+)/.exec(one)?.[1]))).toEqual(Array.from({ length: last }, (_, i) => i + 1))
})

test('readers that stall together are dropped, the longest stalled first, before they hold more than the limit', async () => {
  const { port, nextStream } = await openServer({ maxHeldBytes: 45_000_000 })
  const streams: EventStream[] = []
  for (let i = 0; i < 3; i++) {
    const reader = await open(port, get('/events'))
    reader.socket.pause()
    const stream = await nextStream()
    streams.push(stream)
    // The system itself takes a few megabytes of it.
    for (let id = 1; id <= 20; id++) stream.send(shared(id, 'x'.repeat(1_000_000)))
  }
  expect(streams.map(({ isClosed }) => isClosed)).toEqual([true, false, false])
})

test('a stream whose reader is gone is closed, and writing to it does nothing', async () => {
  const { port, nextStream } = await openServer()
  const reader = await open(port, get('/events'))
  const stream = await nextStream()
  const closed = new Promise<void>((resolve) => stream.onClose(resolve))
  reader.socket.resetAndDestroy()
  await closed
  stream.send(shared(1, 'one'))
  stream.end()
  expect(stream.isClosed).toBe(true)
  let told = 0
  stream.onClose(() => told++)
  expect(told).toBe(1)
})

test('each of many streams gets its heartbeats, also one that comes later or after all others have ended', async () => {
  const { port, nextStream } = await openServer({ heartbeatMs: 30 })
  const beats = ({ text }: { text: string }) => text.split(': heartbeat\n\n').length - 1
  const openMany = async (count: number) => {
    const readers: Awaited<ReturnType<typeof open>>[] = []
    const streams: EventStream[] = []
    for (let i = 0; i < count; i++) {
      readers.push(await open(port, get('/events')))
      streams.push(await nextStream())
    }
    return { readers, streams }
  }
  const first = await openMany(40)
  await expect.poll(() => first.readers.every((reader) => beats(reader) >= 2), WITHIN).toBe(true)
  for (const stream of first.streams) stream.end()
  const later = await openMany(2)
  await expect.poll(() => later.readers.every((reader) => beats(reader) >= 2), WITHIN).toBe(true)
})
