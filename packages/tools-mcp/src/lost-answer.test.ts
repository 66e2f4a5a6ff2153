import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { JsonObject } from '@countersign/core'
import { expect, test } from 'vitest'
import { isLostAnswer } from './lost-answer.ts'
import { openSource } from './testing/open-source.ts'

const THROWING = fileURLToPath(new URL('./testing/throwing-server.ts', import.meta.url))

test('a write whose tool throws the failure of its own request has an unknown outcome; a refusal in words stays one, and a read has failed', async () => {
  const ledger = join(await mkdtemp(join(tmpdir(), 'mcp-ledger-')), 'ledger')
  const program = { command: process.execPath, args: [THROWING, ledger] }
  const { call } = await openSource(program)
  for (const [how, words] of [
    ['late', 'The operation was aborted due to timeout'],
    ['cut', 'fetch failed'],
    ['hung up', 'socket hang up'],
  ] as const)
    await expect(call('pay', { how })).rejects.toMatchObject({
      kind: 'ambiguous',
      message: `The MCP server s says that it failed: ${words}. Whether it acted is not known.`,
    })
  await expect(call('pay', { how: 'refused' })).rejects.toMatchObject({
    kind: 'refused',
    message: 'The MCP server s says that it failed: order 7 is shipped already. It may have done a part of it.',
  })
  await expect(call('pay', { how: 'timed out' })).rejects.toMatchObject({ kind: 'refused' })
  expect((await readFile(ledger, 'utf8')).trim().split('\n')).toEqual(['late', 'cut', 'hung up', 'refused'])
  const reading = await openSource({ ...program, tools: { pay: { effect: 'read' } } })
  await expect(reading.call('pay', { how: 'late' })).rejects.toMatchObject({ kind: 'refused' })
})

test.each([
  // Node and its libraries.
  'The operation was aborted due to timeout',
  'This operation was aborted',
  'TypeError: terminated',
  'read ECONNRESET',
  'write EPIPE',
  'connect ETIMEDOUT 10.0.0.1:443',
  'other side closed',
  'Headers Timeout Error',
  'timeout of 5000ms exceeded',
  'Request failed with status code 504',
  'Network Error',
  'CanceledError: canceled',
  "Timeout awaiting 'request' for 5000ms",
  'The server aborted pending request',
  'Response code 502 (Bad Gateway)',
  'Premature close',
  'Request timed out.',
  'Connection terminated unexpectedly',
  'locator.click: Timeout 30000ms exceeded.',
  'HTTP error! status: 503',
  '14 UNAVAILABLE: read ECONNRESET',
  '4 DEADLINE_EXCEEDED: Deadline exceeded after 5s',
  // Python.
  "Error executing tool pay: HTTPSConnectionPool(host='api.bank.com', port=443): Read timed out. (read timeout=5)",
  "Error executing tool pay: ('Connection aborted.', RemoteDisconnected('Remote end closed connection without response'))",
  'Error executing tool pay: [Errno 104] Connection reset by peer',
  'Error executing tool pay: The read operation timed out',
  "Error executing tool pay: Server error '502 Bad Gateway' for url 'https://api.bank.com/pay'",
  'Error executing tool pay: 504 Server Error: Gateway Time-out for url: https://api.bank.com/pay',
  'Error calling tool pay: Server disconnected without sending a response.',
  'peer closed connection without sending complete message body (incomplete chunked read)',
  'Response payload is not completed',
  'Timeout on reading data from socket',
  // A timeout of asyncio has no words, and a server may hide those of every exception.
  'Error executing tool pay: ',
  "Error calling tool 'pay'",
  '',
  // Go, Java, .NET, Rust.
  'Post "https://api.bank.com/pay": context deadline exceeded (Client.Timeout exceeded while awaiting headers)',
  'Post "https://api.bank.com/pay": EOF',
  'read tcp 10.0.0.2:4711->10.0.0.1:443: i/o timeout',
  'write tcp 10.0.0.2:4711->10.0.0.1:443: use of closed network connection',
  'context canceled',
  'rpc error: code = Unavailable desc = transport is closing',
  'java.net.SocketTimeoutException: timeout',
  'Connection reset',
  'HTTP/1.1 header parser received no bytes',
  'api.bank.com:443 failed to respond',
  'unexpected end of stream on https://api.bank.com/...',
  'The request was canceled due to the configured HttpClient.Timeout of 100 seconds elapsing.',
  'An error occurred while sending the request.',
  'error sending request for url (https://api.bank.com/pay): operation timed out',
  'connection closed before message completed',
  // A server behind the server.
  'MCP error -32001: Request timed out',
  'MCP error -32000: Connection closed',
  'MCP error -32603: Internal error',
])('no answer of what the tool called: %s', (text) => {
  expect(isLostAnswer(text.trim(), text)).toBe(true)
})

test.each<JsonObject>([{ error: { code: 'ETIMEDOUT' } }, { status: 504 }, { error: 'timeout' }, { statusCode: 502, retry: false }])(
  'no answer of what the tool called, in structured content: %j',
  (content) => {
    expect(isLostAnswer('Failed', { content, text: 'Failed' })).toBe(true)
  },
)

test.each([
  'order 7 is shipped already',
  'Order 7: cancelled',
  'The leave request was cancelled already',
  'no order 7',
  'the till session is closed',
  'timeout must be at most 60',
  'request timeout must be at most 60',
  'Request failed with status code 404',
  'HTTP 422: the amount is above 500',
  'HTTP 409 Conflict',
  'account 502 is not known',
  'the delivery service is unavailable in your country',
  'the deadline for this order has passed',
  'connect ECONNREFUSED 127.0.0.1:80',
  'getaddrinfo ENOTFOUND api.bank.com',
  "Error: ENOENT: no such file or directory, open '/srv/a.txt'",
])('an answer: %s', (text) => {
  expect(isLostAnswer(text, text)).toBe(false)
})

test.each<JsonObject>([{ timeout: 60, error: 'no such order' }, { order: { id: 502, status: 'cancelled' } }])(
  'an answer, in structured content: %j',
  (content) => {
    expect(isLostAnswer('', content)).toBe(false)
  },
)
