import type { Socket } from 'node:net'
import type { ToolError, ToolErrorKind } from '@countersign/core'
import { expect, test, vi } from 'vitest'
import { isWholeRequest, startRawSink } from '../../../../verification/testing/raw-sink.ts'
import { createRedactor, openNetwork } from '../net/index.ts'
import { callHttp } from './http-call.ts'

interface OutboundContext {
  name: string
  kind: ToolErrorKind | 'answered'
  /** Of a GET; default: the same. */
  readKind?: ToolErrorKind
  onConnect?(socket: Socket): void
  onData?(socket: Socket, received: string): void
}

const answer = (text: string, end: (socket: Socket) => void) => (socket: Socket, received: string) => {
  if (isWholeRequest(received)) socket.write(text, () => end(socket))
}
const close = (socket: Socket) => socket.end()
const cut = (socket: Socket) => socket.destroy()

/** Ways in which a target deals with a request that it may have acted on. */
const WAYS: OutboundContext[] = [
  { name: 'a reset at once', kind: 'ambiguous', onConnect: (socket) => socket.resetAndDestroy() },
  { name: 'a reset in the middle of the body', kind: 'ambiguous', onData: (socket) => socket.resetAndDestroy() },
  { name: 'a reset after the body', kind: 'ambiguous', onData: (socket, received) => isWholeRequest(received) && socket.resetAndDestroy() },
  { name: 'a hang-up without an answer', kind: 'ambiguous', onData: answer('', close) },
  { name: 'half a head', kind: 'ambiguous', onData: answer('HTTP/1.1 200 OK\r\ncontent-ty', cut) },
  { name: 'no HTTP', kind: 'ambiguous', onData: answer('220 mail.example.com ESMTP\r\n', cut) },
  { name: 'a 502', kind: 'ambiguous', onData: answer('HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n', close) },
  {
    name: 'a 503 with Retry-After',
    kind: 'ambiguous',
    onData: answer('HTTP/1.1 503 Busy\r\nretry-after: 0\r\ncontent-length: 0\r\n\r\n', close),
  },
  {
    name: 'a 408 that closes',
    kind: 'ambiguous',
    readKind: 'refused',
    onData: answer('HTTP/1.1 408 Slow\r\nconnection: close\r\ncontent-length: 0\r\n\r\n', close),
  },
  { name: 'a cut body', kind: 'ambiguous', onData: answer('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"id":', cut) },
  {
    name: 'a cut chunked body',
    kind: 'ambiguous',
    onData: answer('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{"id"\r\n', cut),
  },
  {
    name: 'a chunked body without its end',
    kind: 'ambiguous',
    onData: answer('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n', close),
  },
  {
    name: 'an upgrade that nobody asked for',
    kind: 'ambiguous',
    onData: answer('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n', () => {}),
  },
  { name: 'a 101 without an upgrade', kind: 'ambiguous', onData: answer('HTTP/1.1 101 Switching Protocols\r\n\r\n', close) },
  { name: 'a status of 000', kind: 'ambiguous', onData: answer('HTTP/1.1 000 Odd\r\ncontent-length: 2\r\n\r\n{}', close) },
  { name: 'silence', kind: 'ambiguous' },
  { name: 'an answer', kind: 'answered', onData: answer('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}', close) },
]

const LARGE_BODY = { text: 'x'.repeat(500_000) }

for (const { name, kind, readKind = kind, onConnect, onData = () => {} } of WAYS) {
  for (const method of ['POST', 'GET']) {
    test(`${name}: a ${method} reaches the target on one connection, once`, async () => {
      // In silence, the time is over once the target has the whole request: on a busy machine, 200 ms may be over before its first byte.
      const limits: AbortController[] = []
      using _timeout = vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => {
        const limit = new AbortController()
        limits.push(limit)
        return limit.signal
      })
      await using sink = await startRawSink((socket, received) => {
        onData(socket, received)
        if (name === 'silence' && isWholeRequest(received)) limits.at(-1)?.abort()
      }, onConnect)
      const call = {
        method,
        headers: {},
        redactor: createRedactor([]),
        network: openNetwork(),
        own: sink.url,
        signal: new AbortController().signal,
        timeoutMs: 240_000,
        ...(method === 'POST' && { body: LARGE_BODY, idempotencyKey: 'act_1.1' }),
      }
      const end = await callHttp({ ...call, url: new URL(`${sink.url}/first`) }).then(
        () => 'answered',
        (error) => error.kind,
      )
      expect(end).toBe(method === 'GET' ? readKind : kind)
      // A second call shows that nothing of the first one came behind it, and that no connection is used twice.
      await callHttp({ ...call, url: new URL(`${sink.url}/second`) }).catch(() => undefined)
      const lines = sink.connections.map(({ received }) => received.split('\r\n')[0])
      expect(lines).toHaveLength(2)
      expect(lines.filter((line) => line !== '')).toEqual(onConnect ? [] : [`${method} /first HTTP/1.1`, `${method} /second HTTP/1.1`])
    })
  }
}

test('a connection that another client kept open to the same target is not used', async () => {
  const keepOpen = 'HTTP/1.1 200 OK\r\nconnection: keep-alive\r\ncontent-length: 2\r\n\r\n{}'
  await using sink = await startRawSink((socket, received) => isWholeRequest(received) && socket.write(keepOpen))
  await (await fetch(sink.url)).text()
  const call = {
    method: 'POST',
    headers: {},
    redactor: createRedactor([]),
    network: openNetwork(),
    own: sink.url,
    body: {},
    idempotencyKey: 'k',
    signal: new AbortController().signal,
    timeoutMs: 240_000,
  }
  await callHttp({ ...call, url: new URL(sink.url) })
  await callHttp({ ...call, url: new URL(sink.url) })
  expect(sink.connections).toHaveLength(3)
})

test('a target whose caller waits no longer is not said to have had all of its own time', async () => {
  const caller = new AbortController()
  await using sink = await startRawSink(() => caller.abort(new DOMException('shop.get did not answer within 5 s', 'TimeoutError')))
  const call = { method: 'GET', headers: {}, redactor: createRedactor([]), network: openNetwork(), own: sink.url }
  const end = callHttp({ ...call, url: new URL(sink.url), signal: caller.signal, timeoutMs: 240_000 })
  await expect(end).rejects.toMatchObject({ kind: 'ambiguous', message: `${sink.url} did not answer in time.` })
})

test('an answer of 200 that says of a write that it failed is no success', async () => {
  const said = (body: object) => {
    const text = JSON.stringify(body)
    return `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`
  }
  const errors = [{ message: 'Title must not be empty', path: ['createIssue'] }]
  const answers: [object, Partial<ToolError> | 'answered'][] = [
    // Slack answers everything with 200.
    [
      { ok: false, error: 'channel_not_found' },
      { kind: 'refused', message: 'AT says that it failed (200): channel_not_found. It may have done a part of it.' },
    ],
    [{ ok: false, error: 'fatal_error' }, { kind: 'ambiguous' }],
    [{ ok: true, warning: 'missing_charset' }, 'answered'],
    // By the standard of GraphQL nothing was executed where there is no data.
    [{ errors }, { kind: 'refused', message: 'AT refused what was sent (200): Title must not be empty.' }],
    [{ errors: [{ message: 'Oops', extensions: { code: 'INTERNAL_SERVER_ERROR' } }] }, { kind: 'ambiguous' }],
    [
      { errors, data: null },
      { kind: 'ambiguous', message: 'AT failed (200): Title must not be empty. Whether it acted is not known.' },
    ],
    [{ errors, data: { createIssue: null }, extensions: {} }, { kind: 'ambiguous' }],
    // A part was done, so people and the model read the whole answer.
    [{ errors, data: { createIssue: { id: 7 }, addLabel: null } }, 'answered'],
    [{ errors, imported: 5 }, 'answered'],
    [{ errors: [], data: null }, 'answered'],
    [
      { jsonrpc: '2.0', id: 1, error: { code: -32000, message: 'insufficient funds' } },
      { kind: 'refused', message: 'AT says that it failed (200): insufficient funds. It may have done a part of it.' },
    ],
    [{ jsonrpc: '2.0', error: { code: -32602, message: 'Invalid params', data: { field: 'to' } } }, { kind: 'refused' }],
    [
      { jsonrpc: '2.0', id: null, error: { code: -32603, message: 'Oops' } },
      { kind: 'ambiguous', message: 'AT says that it failed (200): Oops. Whether it acted is not known.' },
    ],
    [{ jsonrpc: '2.0', id: 1, error: { code: -32000, message: 'request timed out' } }, { kind: 'ambiguous' }],
    [{ jsonrpc: '2.0', id: 1, result: { error: { code: 1, message: 'shown' } } }, 'answered'],
    [{ jsonrpc: '2.0', id: 1, result: 'sent', error: { code: 1, message: 'late' } }, 'answered'],
    [{ jsonrpc: '2.0', id: 1, error: 'late' }, 'answered'],
    // An ordinary resource may have such members.
    [{ id: 1, error: { code: -32000, message: 'the last run failed' } }, 'answered'],
    [
      { success: false, errors: [{ code: 10000, message: 'Authentication error' }], messages: [], result: null },
      { kind: 'refused', message: 'AT says that it failed (200): Authentication error. It may have done a part of it.' },
    ],
    [{ success: false, errors: [{ code: 10001, message: 'Internal error' }], messages: [], result: null }, { kind: 'ambiguous' }],
    [{ success: false, errors: [{ code: 7, message: 'one failed' }], messages: [], result: { id: 7 } }, 'answered'],
    [{ success: false, errors: [], messages: [], result: null }, 'answered'],
    [{ success: false, errors: [{ message: 'row 3 is wrong' }], imported: 5, result: null }, 'answered'],
    [{ success: true, errors: [{ code: 7, message: 'a warning' }], messages: [], result: null }, 'answered'],
    [{ success: false, result: null }, 'answered'],
    [{ success: false }, 'answered'],
  ]
  for (const [body, wanted] of answers) {
    await using sink = await startRawSink((socket, received) => isWholeRequest(received) && socket.end(said(body)))
    const call = {
      ...{
        method: 'POST',
        url: new URL(sink.url),
        headers: {},
        redactor: createRedactor([]),
        network: openNetwork(),
        own: sink.url,
        body: {},
      },
      ...{ signal: new AbortController().signal, timeoutMs: 240_000 },
    }
    const end = await callHttp({ ...call, idempotencyKey: 'k' }).then(
      () => 'answered',
      ({ kind, message }: ToolError) => ({ kind, message: message.replace(sink.url, 'AT') }),
    )
    if (wanted === 'answered') expect(end, JSON.stringify(body)).toBe(wanted)
    else expect(end, JSON.stringify(body)).toMatchObject(wanted)
    // A read is told all that the service says.
    expect((await callHttp(call)).body).toEqual(body)
  }
})
