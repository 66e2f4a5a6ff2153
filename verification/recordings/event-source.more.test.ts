import { readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { SessionEvent } from '@countersign/core'
import { expect, test } from 'vitest'
import { createClient, events } from '../../packages/client/src/index.ts'
import { serve, startStream } from '../../packages/client/src/testing/log-server.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { startTestServer } from '../testing/test-server.ts'

// What EventSource sent and what it made of the answers, held against our client and our server.

const FIXTURES = new URL('../../../shared/fixtures/clients/eventsource/', import.meta.url)

interface LogRow {
  k: 'request' | 'open' | 'error' | 'step' | 'message' | 'final'
  s: string
  rawHeaders?: string[]
  data?: string
  id?: string
  readyState?: number
}
const logOf = (file: string): LogRow[] => JSON.parse(readFileSync(new URL(file, FIXTURES), 'utf8')).log
const SCENARIOS = ['native.json', 'npm.json']
function header({ rawHeaders = [] }: LogRow, name: string): string | undefined {
  const at = rawHeaders.findIndex((word, place) => place % 2 === 0 && word.toLowerCase() === name)
  return at < 0 ? undefined : rawHeaders[at + 1]
}
const lastIds = (rows: readonly LogRow[]) => rows.filter(({ k }) => k === 'request').map((row) => header(row, 'last-event-id'))

const PATH = '/api/events'
/** The waits between connections pass at once; the watch over silence never ends. */
const impatient = (run: () => void, delayMs: number) => {
  if (delayMs > 30_000) return () => {}
  const timer = setTimeout(run, 0)
  return () => clearTimeout(timer)
}

/** Reads with our client from a server that answers as told, until `enough` events came or the stream ends for good. */
async function readOurs(answer: (n: number, to: ServerResponse, request: IncomingMessage) => void, enough: number) {
  let n = 0
  const route = (asked: IncomingMessage, response: ServerResponse) => answer(n++, response, asked)
  await using server = await serve({ [`GET ${PATH}`]: route, 'GET /moved': route })
  const stop = new AbortController()
  const got: SessionEvent[] = []
  const states: string[] = []
  const client = createClient({ baseUrl: server.baseUrl, key: 'cs_test' })
  let error: unknown
  try {
    for await (const event of events(client, {
      path: PATH,
      signal: stop.signal,
      schedule: impatient,
      onState: ({ kind }) => states.push(kind),
    })) {
      got.push(event)
      if (got.length === enough) stop.abort()
    }
  } catch (thrown) {
    error = thrown
  }
  return { got, states, error, requests: server.requests }
}

const received = (rows: readonly LogRow[]) => rows.filter(({ k }) => k === 'message' || k === 'step')

test.each(SCENARIOS)(
  '%s, resume: cut in the middle of an event, our client goes on behind the last whole one as EventSource did',
  async (file) => {
    const rows = logOf(file).filter(({ s }) => s === 'resume')
    const [step, lines, after] = received(rows) as [LogRow, LogRow, LogRow]
    const wire = ({ k, id, data = '' }: LogRow) =>
      `id: ${id}\nevent: ${k}\n${JSON.stringify(data, null, 1)
        .split('\n')
        .map((line) => `data: ${line}\n`)
        .join('')}\n`
    const { got, requests, states } = await readOurs((n, to) => {
      startStream(to)
      if (n === 0) to.write(`${wire(step)}${wire(lines)}id: 3\nevent: message\ndata: "never who`, () => to.destroy())
      else if (n === 1) to.end(wire(after))
      // The recorded server sent the same event once more on every connection.
      else to.write(`${wire(after)}${wire({ ...after, id: '5' })}`)
    }, 4)
    expect(requests.map(({ headers }) => headers['last-event-id'])).toEqual(lastIds(rows).slice(0, 3))
    expect(got.map(({ seq, data }) => [seq, data])).toEqual(
      [step, lines, after, { ...after, id: '5' }].map(({ id, data }) => [Number(id), data]),
    )
    expect(states.filter((kind) => kind === 'reconnecting')).toHaveLength(2)
  },
)

test.each(SCENARIOS)(
  '%s, crlf and redirect: any line end, a byte order mark, comments and empty fields are read as EventSource read them',
  async (file) => {
    const recorded = logOf(file).filter(({ k, s }) => k === 'message' && s === 'crlf')
    expect(recorded.map(({ data }) => data)).toEqual(['é\nno-space', '', 'z'])
    const body = `\uFEFF: hello\r\nretry: 10\r\n${recorded
      .map(({ data }, at) => `id:${at + 1}\r\nevent:step\r\nunknown: x\r\ndata:${JSON.stringify(data)}\r\n\r\n`)
      .join('')}`
    const bytes = Buffer.from(body)
    const { got, requests } = await readOurs((n, to, { url }) => {
      if (url === PATH) return void to.writeHead(307, { location: '/moved' }).end()
      startStream(to)
      // One byte at a time: a letter of two bytes and each pair of CR and LF is cut.
      for (const byte of bytes) to.write(Uint8Array.of(byte))
      expect(n).toBe(1)
    }, recorded.length)
    expect(got.map(({ data }) => data)).toEqual(recorded.map(({ data }) => data))
    expect(requests.map(({ url }) => url)).toEqual([PATH, '/moved'])
  },
)

test.each(SCENARIOS)('%s: where EventSource gives up for good, our client gives up only on a refusal', async (file) => {
  const ended = logOf(file).filter(({ k, readyState }) => k === 'final' && readyState === 2)
  expect(ended.map(({ s }) => s)).toEqual(['204', '401', '500', 'badtype', '503then'])
  for (const { s } of ended) {
    const { got, error, requests } = await readOurs((n, to) => {
      if (n > 0) {
        startStream(to)
        to.write('id: 1\nevent: step\ndata: 1\n\n')
      } else if (s === 'badtype') to.writeHead(200, { 'content-type': 'text/html' }).end('<p>Sign in')
      else to.writeHead(Number.parseInt(s, 10)).end()
    }, 1)
    if (s === '401') expect(error).toMatchObject({ status: 401 })
    else expect([got.length, error], s).toEqual([1, undefined])
    expect(requests, s).toHaveLength(s === '401' ? 1 : 2)
  }
})

test.each(SCENARIOS)(
  '%s: our server answers the recorded requests of EventSource with what is behind the id that it names',
  async (file) => {
    await using target = await startTarget(() => ({ status: 200, body: { id: 1 } }))
    await using server = await startTestServer({ config: { tools: toolsOf(target), network: { allow: ['127.0.0.1'] } } })
    const proposed = []
    for (const what of ['a', 'b', 'c', 'd', 'e', 'f'])
      proposed.push(await server.admin.post('/api/actions', { tool: 'keyed', arguments: { what } }))
    const rows = logOf(file).filter(({ k }) => k === 'request')
    expect(rows.length).toBeGreaterThan(10)
    for (const row of rows) {
      const headers = (row.rawHeaders ?? []).flatMap((name, at, all) =>
        at % 2 === 0 && !/^(host|connection)$/i.test(name) ? [[name, all[at + 1]]] : [],
      )
      const after = header(row, 'last-event-id')
      using reader = await server.admin.stream(PATH, { headers: Object.fromEntries(headers) })
      if (after === undefined) continue
      await expect.poll(() => reader.seen.length).toBeGreaterThan(0)
      const ids = reader.seen.flatMap(({ id }) => id ?? [])
      expect(Math.min(...ids), `after ${after}`).toBeGreaterThan(Number(after))
      expect(new Set(ids).size).toBe(ids.length)
    }
  },
)
