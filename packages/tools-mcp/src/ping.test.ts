import { expect, test } from 'vitest'
import { startSessionServer } from './testing/http-server.ts'
import { memoryPins, openSource } from './testing/open-source.ts'

const handshakes = (methods: string[]) => methods.filter((method) => method === 'initialize').length

/**
 * Returns a server that carries out a call of `hold` until `release`. `ping` answers the nth ping behind that call.
 * @param patienceMs Short only where it is to be used up: on a busy machine any answer may take that long.
 */
async function heldServer(ping: (nth: number, release: () => void) => number | 'unknown' | Promise<number>, patienceMs = 240_000) {
  const { promise: held, resolve: release } = Promise.withResolvers<void>()
  const began = Promise.withResolvers<void>()
  let isHeld = false
  let behind = 0
  const server = await startSessionServer(undefined, {
    held,
    onCall() {
      isHeld = true
      began.resolve()
    },
    // Before the call, one may be asked a second time: its answer was late.
    ping: () => (isHeld ? ping(++behind, release) : 200),
  })
  const opened = await openSource({ url: server.url }, memoryPins(), { pace: { patienceMs } })
  const first = opened.call('hold', {})
  await began.promise
  return { ...opened, server, first, release }
}

test('over HTTP a write waits for a server that answers nothing while it carries out another one, and both succeed', async () => {
  const done = Promise.withResolvers<number>()
  const { call, first, server } = await heldServer((nth, release) => {
    // The server goes on when it was asked a second time.
    if (nth === 2) release()
    if (nth === 2) done.resolve(200)
    return done.promise
  }, 500)
  expect(await Promise.all([first, call('note', {})])).toEqual(['did hold', 'did note'])
  expect(server.calls).toEqual(['hold', 'note'])
  expect(handshakes(server.methods)).toBe(1)
})

test('over HTTP a write before which the server answers nothing for long is not sent, and breaks off no other', async () => {
  const { call, first, release, server } = await heldServer(() => new Promise<number>(() => {}), 400)
  await expect(call('note', {})).rejects.toMatchObject({
    kind: 'unreachable',
    message: 'The MCP server s did not answer in time. Nothing was sent.',
  })
  release()
  expect(await first).toBe('did hold')
  expect(server.calls).toEqual(['hold'])
  expect(handshakes(server.methods)).toBe(1)
})

test.each([429, 503])('over HTTP a write waits as long as the server asks that answers HTTP %i to a ping', async (status) => {
  const { call, first, release, server } = await heldServer((nth) => (nth === 1 ? status : 200))
  expect(await call('note', {})).toBe('did note')
  release()
  expect(await first).toBe('did hold')
  expect(handshakes(server.methods)).toBe(1)
})

test('over HTTP a write is not sent to a server that answers each ping with HTTP 429, and can be tried again', async () => {
  const { call, first, release, server } = await heldServer(() => 429, 1_000)
  await expect(call('note', {})).rejects.toMatchObject({
    ...{ kind: 'refused', retryable: true },
    message: 'The MCP server s takes no calls now (HTTP 429). Nothing was sent.',
  })
  release()
  expect(await first).toBe('did hold')
  expect(server.calls).toEqual(['hold'])
})

test('over HTTP a server that knows no ping is sent its writes in the session that it has', async () => {
  const { call, first, release, server } = await heldServer(() => 'unknown')
  expect(await call('note', {})).toBe('did note')
  release()
  expect(await first).toBe('did hold')
  expect(handshakes(server.methods)).toBe(1)
})

test('over HTTP a write that is cancelled before it was sent breaks off no other', async () => {
  const stop = new AbortController()
  const { call, first, release, server } = await heldServer(() => {
    stop.abort()
    return new Promise<number>(() => {})
  })
  await expect(call('note', {}, stop.signal)).rejects.toMatchObject({ kind: 'unreachable' })
  release()
  expect(await first).toBe('did hold')
  expect(handshakes(server.methods)).toBe(1)
})

test('over HTTP a call under way gets its answer, also when its session is lost meanwhile and made anew', async () => {
  const { call, first, release, server } = await heldServer(() => 200)
  server.forget()
  expect(await call('note', {})).toBe('did note')
  expect(handshakes(server.methods)).toBe(2)
  release()
  expect(await first).toBe('did hold')
  expect(server.calls).toEqual(['hold', 'note'])
})

test('over HTTP a session in which the server answers nothing and does nothing is made anew', async () => {
  const server = await startSessionServer(undefined, { ping: () => new Promise<number>(() => {}) })
  const { call } = await openSource({ url: server.url }, memoryPins(), { pace: { patienceMs: 50 } })
  // With so little patience the call may come before the new session.
  await expect.poll(() => call('note', {}).catch(() => undefined), { interval: 50 }).toBe('did note')
  expect(handshakes(server.methods)).toBeGreaterThan(1)
})
