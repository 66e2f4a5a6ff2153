// A process of its own, never killed: the services behind the tools. In front of the stand-ins for GitHub and Linear, of the inventory that
// an OpenAPI document describes, and of two plain routes it writes down every write with an fsync, and delays or breaks it as its name says.
import { fdatasyncSync, openSync, readFileSync, writeSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { buildSchema } from 'graphql'
import { startStandIn as startGithub } from '../../../examples/github/stand-in/server.ts'
import { addIssue, addRepo } from '../../../examples/github/stand-in/state.ts'
import { startStandIn as startLinear } from '../../../examples/linear/stand-in/server.ts'
import { startInventory } from '../../../examples/openapi/service/server.ts'
import { KEY } from './target-key.ts'
import { HOLD_MS, howOfCall, LATE_MS, type TargetEntry, WHAT } from './targets-file.ts'

const SCHEMA = new URL('../../../examples/linear/stand-in/schema.graphql', import.meta.url)

const file = openSync(process.argv[2] ?? '', 'a')
const github = await startGithub({ token: KEY })
const repo = addRepo(github.state, 'acme/shop', { files: { 'README.md': '# Shop\n' } })
addIssue(github.state, repo, { title: 'Everything' })
const linear = await startLinear({ schema: buildSchema(readFileSync(SCHEMA, 'utf8')), apiKey: KEY, nowMs: Date.now() })
const stock = await startInventory({ port: 0, key: KEY })

const BEHIND: Record<string, string> = { github: new URL(github.api).origin, linear: new URL(linear.url).origin, stock: stock.url }
/** How long the end of a process may need to be heard here. */
const CLOSE_MS = 100
/** How often a call has written. */
const writes = new Map<string, number>()
/** Aborted while no server is to die: then holding a write only costs time. */
let letGo = new AbortController()
/** Keys of the keyed route that acted, each with its answer. */
const acted = new Map<string, Answer>()

interface Answer {
  status: number
  headers: Record<string, string>
  body: string
}

type Call = Pick<TargetEntry, 'service' | 'what' | 'key' | 'how' | 'body'>

function append(kind: TargetEntry['kind'], call: Call, isGone: boolean): void {
  const entry: TargetEntry = { kind, ...call, isGone, atMs: Date.now() }
  writeSync(file, `${JSON.stringify(entry)}\n`)
  fdatasyncSync(file)
  process.send?.(entry)
}

const server = createServer((request, response) => void take(request, response).catch(() => response.destroy()))

async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [, service = '', ...rest] = (request.url ?? '').split('/')
  const gone = new AbortController()
  request.socket.once('close', () => gone.abort())
  const body = await text(request)
  const path = `/${rest.join('/')}`
  if (!isWrite(service, request.method, body)) return send(response, await forward(service, request, path, body))

  const what = WHAT.exec(decodeURIComponent(path) + body)?.[0] ?? 'unnamed'
  const nth = (writes.get(what) ?? 0) + 1
  writes.set(what, nth)
  const how = nth === 1 ? howOfCall(what) : 'answer'
  const call: Call = { service, what, key: String(request.headers['idempotency-key'] ?? ''), how, body }
  append('request', call, false)
  if (how === 'lose') return void request.socket.resetAndDestroy()
  if (how === 'refuse') return send(response, { status: 422, headers: {}, body: '{"message":"not now","detail":"not now"}' })
  if (how === 'sent') await held(gone.signal)
  if (how === 'late') {
    request.socket.resetAndDestroy()
    await delay(LATE_MS)
  }
  const answer = await act(call, request, path, gone.signal)
  if (how === 'acted') await held(gone.signal)
  if (how === 'drop' || how === 'late') return void request.socket.resetAndDestroy()
  if (!gone.signal.aborted) append('answer', call, false)
  send(response, answer)
}

/** Waits until the caller is gone or writes are released. The service then continues with the request, even when its caller was killed. */
const held = async (gone: AbortSignal): Promise<void> => {
  if (letGo.signal.aborted) return
  await delay(HOLD_MS, undefined, { signal: AbortSignal.any([gone, letGo.signal]) }).catch(() => undefined)
  // Holding ends when a server has died: what closed its connection is heard first, so that `isGone` says so.
  if (!gone.aborted) await delay(CLOSE_MS, undefined, { signal: gone }).catch(() => undefined)
}

const isWrite = (service: string, method: string | undefined, body: string): boolean =>
  service === 'linear' ? /^\s*mutation\b/.test((JSON.parse(body) as { query: string }).query) : method !== 'GET' && method !== 'HEAD'

async function act(call: Call, request: IncomingMessage, path: string, gone: AbortSignal): Promise<Answer> {
  const earlier = call.service === 'keyed' ? acted.get(call.key) : undefined
  if (earlier) {
    append('replay', call, gone.aborted)
    return earlier
  }
  if (!Object.hasOwn(BEHIND, call.service)) {
    append('effect', call, gone.aborted)
    const answer = { status: 200, headers: JSON_TYPE, body: JSON.stringify({ of: call.what }) }
    acted.set(call.key, answer)
    return answer
  }
  const answer = await forward(call.service, request, path, call.body)
  const isDone = answer.status < 300 && !(call.service === 'linear' && answer.body.includes('"errors"'))
  if (isDone) append('effect', call, gone.aborted)
  return answer
}

const JSON_TYPE = { 'content-type': 'application/json' }
const PASSED_ON = ['authorization', 'content-type', 'if-match', 'accept']

async function forward(service: string, { method = 'GET', headers }: IncomingMessage, path: string, body: string): Promise<Answer> {
  const sku = service === 'stock' ? /^\/parts\/(C-\d+)/.exec(path)?.[1] : undefined
  // A part of its own for each call, there from when it is first asked for.
  if (sku !== undefined && !stock.parts.has(sku)) stock.parts.set(sku, { sku, name: 'Part', stock: 1, reorderAt: 1 })
  const passed = PASSED_ON.flatMap((name) => (typeof headers[name] === 'string' ? [[name, headers[name]] as [string, string]] : []))
  const answer = await fetch((BEHIND[service] ?? '') + path, { method, headers: passed, ...(body !== '' && { body }) })
  const etag = answer.headers.get('etag')
  return {
    status: answer.status,
    headers: { 'content-type': answer.headers.get('content-type') ?? 'application/json', ...(etag !== null && { etag }) },
    body: await answer.text(),
  }
}

const send = (response: ServerResponse, { status, headers, body }: Answer): void => {
  response.writeHead(status, { ...JSON_TYPE, ...headers }).end(body === '' ? undefined : body)
}

server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  process.send?.({ port: typeof address === 'object' ? address?.port : undefined })
})
process.on('message', ({ isHolding }: { isHolding: boolean }) => {
  if (isHolding) letGo = new AbortController()
  else letGo.abort()
})
process.on('disconnect', () => process.exit())
