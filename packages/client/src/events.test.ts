import type { ServerResponse } from 'node:http'
import type { SessionEvent } from '@countersign/core'
import { expect, test } from 'vitest'
import { createClient } from './client.ts'
import { type ConnectionState, type EventsOptions, events } from './events.ts'
import type { Schedule } from './reconnect.ts'
import { impatient } from './testing/impatient.ts'
import { frame, json, problem, type Route, sampleLog, serve, snapshotAt, startStream } from './testing/log-server.ts'

const PATH = '/api/sessions/ses_1/events'
const log = sampleLog()

/** Reads until the log is complete; also the states on the way. */
async function readAll(route: Route, options: Partial<EventsOptions> = {}) {
  await using server = await serve({ [`GET ${PATH}`]: route })
  const client = createClient({ baseUrl: server.baseUrl, key: 'cs_secret' })
  const states: ConnectionState[] = []
  const got: SessionEvent[] = []
  const closing = new AbortController()
  const onState = (state: ConnectionState) => states.push(state)
  for await (const event of events(client, { path: PATH, after: 0, schedule: impatient, onState, signal: closing.signal, ...options })) {
    got.push(event)
    if (event.seq === log.length) closing.abort()
  }
  return { got, states, ids: server.requests.map((request) => request.headers['last-event-id']), requests: server.requests }
}

const after = (lastEventId: unknown) => log.filter((event) => (event.seq ?? 0) > Number(lastEventId ?? 0))

/** Everything after the id that the client names, cut by `cut` on each connection but the last. */
const cutting =
  (cuts: ((text: string, response: ServerResponse) => void)[]): Route =>
  (request, response) => {
    startStream(response)
    const text = after(request.headers['last-event-id']).map(frame).join('')
    const cut = cuts.shift()
    if (cut) cut(text, response)
    else response.write(text)
  }

test('a stream that is cut goes on behind the last event, each event once', async () => {
  const afterThird = (text: string, response: ServerResponse) => response.end(text.split('\n\n').slice(0, 3).join('\n\n').concat('\n\n'))
  const { got, ids, states } = await readAll(cutting([afterThird, afterThird]))
  expect(got).toEqual(log)
  expect(ids).toEqual(['0', '3', '6'])
  expect(states.map((state) => state.kind)).toEqual([
    ...['connecting', 'live', 'reconnecting'],
    ...['connecting', 'live', 'reconnecting'],
    ...['connecting', 'live', 'closed'],
  ])
})

test('a cut at any byte loses nothing and doubles nothing', async () => {
  const bytes = Buffer.from(log.map(frame).join(''))
  const cuts = Array.from({ length: 40 }, (_, index) => (text: string, response: ServerResponse) => {
    const rest = Buffer.from(text)
    const part = rest.subarray(0, 1 + ((index * 7_919) % Math.min(rest.length, 900)))
    response.write(part, () => response.destroy())
  })
  const { got } = await readAll(cutting(cuts))
  expect(bytes.length).toBeGreaterThan(900)
  expect(got).toEqual(log)
})

test('events that come again are dropped', async () => {
  const { got } = await readAll((_, response) => {
    startStream(response)
    response.write(`: heartbeat\n\n${log.slice(0, 6).map(frame).join('')}${log.map(frame).join('')}`)
  })
  expect(got).toEqual(log)
})

test('a reset is handed on and moves the place in the log, also back', async () => {
  const reset: SessionEvent = { type: 'reset', seq: 4, data: { reason: 'unknown id', ...snapshotAt(log.slice(0, 4)) } }
  const { got, ids } = await readAll(
    (_, response) => {
      startStream(response)
      response.write([reset, ...log.slice(4)].map(frame).join(''))
    },
    { after: 900 },
  )
  expect(ids).toEqual(['900'])
  expect(got).toEqual([reset, ...log.slice(4)])
})

test('silence longer than allowed is a cut', async () => {
  let connections = 0
  const silences: (() => void)[] = []
  const schedule: Schedule = (run, delayMs) => {
    if (delayMs !== 40_000) return impatient(run, delayMs)
    silences.push(run)
    return () => {}
  }
  const { got } = await readAll(
    (request, response) => {
      startStream(response)
      if (++connections === 1) response.write(frame(log[0] as SessionEvent), () => setImmediate(() => silences.at(-1)?.()))
      else response.write(after(request.headers['last-event-id']).map(frame).join(''))
    },
    { schedule },
  )
  expect(connections).toBe(2)
  expect(got).toEqual(log)
})

for (const [status, code] of [
  [401, 'unauthenticated'],
  [403, 'forbidden'],
  [404, 'not_found'],
  [410, 'gone'],
] as const) {
  test(`a stream refused with ${status} ends with that error and is not asked for again`, async () => {
    await using server = await serve({ [`GET ${PATH}`]: (_, response) => problem(response, status, code, 'No.') })
    const states: string[] = []
    const reading = events(createClient({ baseUrl: server.baseUrl }), { path: PATH, onState: (state) => states.push(state.kind) })
    await expect(reading.next()).rejects.toMatchObject({ name: 'ApiError', code, status, detail: 'No.' })
    expect(server.requests).toHaveLength(1)
    expect(states).toEqual(['connecting', 'closed'])
  })
}

test('the 404 of a proxy ends a stream that never came up, and not one that was live', async () => {
  const pageNotFound: Route = (_, response) => void response.writeHead(404, { 'content-type': 'text/plain' }).end('404 page not found')
  await using server = await serve({ [`GET ${PATH}`]: pageNotFound })
  const reading = events(createClient({ baseUrl: server.baseUrl }), { path: PATH, schedule: impatient })
  await expect(reading.next()).rejects.toMatchObject({ code: 'not_found', status: 404 })
  let count = 0
  const { got } = await readAll((request, response) => {
    count++
    if (count === 2 || count === 3) pageNotFound(request, response, '')
    else
      cutting(count === 1 ? [(text, cut) => cut.end(text.split('\n\n').slice(0, 3).join('\n\n').concat('\n\n'))] : [])(
        request,
        response,
        '',
      )
  })
  expect(got).toEqual(log)
  expect(count).toBe(4)
})

test('a server that is not ready, or a page in place of a stream, is asked again, later and later', async () => {
  let count = 0
  const { got, states } = await readAll(
    (request, response) => {
      count++
      if (count === 7) json(response, { console: true })
      else if (count < 9) problem(response, 503, 'not_ready', 'Starting.')
      else cutting([])(request, response, '')
    },
    { random: () => 0.5 },
  )
  expect(got).toEqual(log)
  const waits = states.flatMap((state) => (state.kind === 'reconnecting' ? [state.retryInMs] : []))
  expect(waits).toEqual([1_500, 3_000, 6_000, 12_000, 22_500, 22_500, 22_500, 22_500])
})

test('the shortest wait is 1 s and the longest 30 s, whatever chance says', async () => {
  for (const [random, first, last] of [
    [0, 1_000, 15_000],
    [0.999_999, 2_000, 30_000],
  ] as const) {
    let count = 0
    const { states } = await readAll(
      (request, response) => (++count < 9 ? problem(response, 429, 'rate_limited', 'Slower.') : cutting([])(request, response, '')),
      { random: () => random },
    )
    const waits = states.flatMap((state) => (state.kind === 'reconnecting' ? [state.retryInMs] : []))
    expect([waits[0], waits.at(-1)]).toEqual([first, last])
  }
})

test('the key goes in a header and never in the address', async () => {
  const { requests } = await readAll(cutting([]))
  expect(requests.map(({ url, headers }) => [url, headers.authorization])).toEqual([[PATH, 'Bearer cs_secret']])
})

test('a stream whose request cannot be made says so, and is not asked for again', async () => {
  const closing = new AbortController()
  const states: string[] = []
  const onState = ({ kind }: ConnectionState) => {
    states.push(kind)
    if (kind === 'reconnecting') closing.abort()
  }
  // Outside of a page, a client without a baseUrl has no server.
  const reading = events(createClient({ key: 'cs_secret' }), { path: PATH, onState, signal: closing.signal })
  await expect(reading.next()).rejects.toThrow(TypeError)
  expect(states).toEqual(['connecting', 'closed'])
})
