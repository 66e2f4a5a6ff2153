import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { callHttp } from '../http/http-call.ts'
import { outgoingFetch } from './fetch.ts'
import { createRedactor, openNetwork } from './index.ts'

const TEXT = '{"name":"Käthe"}'
const CODED: Record<string, Buffer> = {
  identity: Buffer.from(TEXT),
  // A member of every object in JavaScript.
  constructor: Buffer.from(TEXT),
  gzip: gzipSync(TEXT),
  'X-GZIP': gzipSync(TEXT),
  deflate: deflateSync(TEXT),
  br: brotliCompressSync(TEXT),
  zstd: zstdCompressSync(TEXT),
}
/** A service that compresses for everybody: `/gzip`; `/gzip/cut` ends in the middle, `/gzip/bomb` is 200 MB. */
const server = createServer((request, response) => {
  const [, coding = '', how = ''] = (request.url ?? '').split('/')
  const whole = how === 'bomb' ? gzipSync(Buffer.alloc(200_000_000)) : (CODED[decodeURIComponent(coding)] ?? Buffer.alloc(0))
  const body = how === 'cut' ? whole.subarray(0, whole.length - 9) : whole
  response.writeHead(how === 'empty' ? 204 : 200, { 'content-type': 'application/json', 'content-encoding': coding })
  response.end(how === 'empty' ? undefined : body)
})
let url = ''
beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.close()
})

const call = (path: string, isWrite = false) =>
  callHttp({
    ...{ network: openNetwork(), own: url, url: new URL(path, url), headers: {}, redactor: createRedactor([]) },
    ...{ method: isWrite ? 'POST' : 'GET', ...(isWrite && { idempotencyKey: 'k' }) },
    ...{ signal: new AbortController().signal, timeoutMs: 240_000 },
  })

test.for(Object.keys(CODED))('what a service compresses although nobody asked for that is read: %s', async (coding) => {
  expect((await call(`/${coding}`)).body).toEqual({ name: 'Käthe' })
  const response = await outgoingFetch(openNetwork(), url)(`${url}/${coding}`)
  expect([await response.json(), response.headers.get('content-length')]).toEqual([{ name: 'Käthe' }, null])
})

test('a compressed answer without a body is an empty one, and one that was cut leaves the outcome of a write unknown', async () => {
  expect(await call('/gzip/empty')).toMatchObject({ status: 204, body: undefined })
  await expect(call('/gzip/cut', true)).rejects.toMatchObject({ kind: 'ambiguous' })
  await expect((await outgoingFetch(openNetwork(), url)(`${url}/gzip/cut`)).text()).rejects.toThrow('terminated')
})

test('a small answer that becomes a large one is read to 1 MB and no further', async () => {
  await expect(call('/gzip/bomb')).rejects.toThrow('is larger than 1 MB')
})
