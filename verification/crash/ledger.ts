// A process of its own: the service behind the tools. It writes every arrival and every effect to the file of its first argument, with an
// fsync, before anybody is answered, and outlives the servers that call it. Its routes are `/<route>/<how>.<how>…/<what>`: a keyed route
// acts once per Idempotency-Key, all others act on every request.
import { fdatasyncSync, openSync, writeSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { HOLD_MS, type How, LATE_MS, type LedgerEntry, VERY_LATE_MS } from './ledger-file.ts'

const file = openSync(process.argv[2] ?? '', 'a')
/** How often a thing was asked for. */
const arrivals = new Map<string, number>()
/** Keys that acted, each with its answer. */
const acted = new Map<string, string>()

function append(...entries: Omit<LedgerEntry, 'atMs'>[]): void {
  const atMs = Date.now()
  writeSync(file, entries.map((entry) => `${JSON.stringify({ ...entry, atMs })}\n`).join(''))
  fdatasyncSync(file)
}

const server = createServer((request, response) => {
  const [, route = '', hows = '', what = ''] = new URL(request.url ?? '/', 'http://ledger').pathname.split('/')
  const key = String(request.headers['idempotency-key'] ?? '')
  if (route === 'look') answerWith(response, JSON.stringify({ seen: hows }))
  else if (route === 'done') tell(hows, response)
  else void take({ route, what, key }, hows.split('.'), request, response)
})

const answerWith = (response: ServerResponse, text: string) => response.setHeader('content-type', 'application/json').end(text)

/** Answers with the outcome for a key; a tool's `verify` reads it. */
function tell(key: string, response: ServerResponse): void {
  const answer = acted.get(key)
  if (answer === undefined) response.writeHead(404).end()
  else answerWith(response, answer)
}

type Call = Pick<LedgerEntry, 'route' | 'what' | 'key'>

async function take(call: Call, hows: string[], request: IncomingMessage, response: ServerResponse): Promise<void> {
  const nth = arrivals.get(call.what) ?? 0
  arrivals.set(call.what, nth + 1)
  const how = (hows[nth] ?? hows.at(-1)) as How
  if (how === 'reset_early') {
    append({ kind: 'request', ...call, how })
    request.socket.resetAndDestroy()
    return
  }
  const body = await text(request).catch(() => undefined)
  append({ kind: 'request', ...call, how, ...(body !== undefined && { body }) })
  if (body === undefined) return
  if (how === 'reset_late') return void request.socket.resetAndDestroy()
  if (how === 'refuse') return void response.writeHead(409, { 'content-type': 'application/json' }).end('{"detail":"not now"}')

  // A killed caller is gone at once, but the service still continues with the request.
  if (how === 'hold') await delay(HOLD_MS, undefined, { signal: gone(request) }).catch(() => undefined)
  if (how === 'late') await delay(LATE_MS)
  if (how === 'very_late') await delay(VERY_LATE_MS)
  const answer = act(call, how, body)
  if (how === 'slow') await delay(LATE_MS, undefined, { signal: gone(request) }).catch(() => undefined)
  if (how === 'drop') return void request.socket.resetAndDestroy()
  if (how === 'bad_gateway') return void response.writeHead(502).end('upstream went away')
  if (how === 'cut') {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': answer.length + 10 })
    response.write(answer, () => request.socket.destroy())
    return
  }
  answerWith(response, answer)
}

/** Changes something, or gives the answer of the time when this key did. */
function act(call: Call, how: How, body: string): string {
  const earlier = call.route === 'keyed' ? acted.get(call.key) : undefined
  append({ kind: earlier === undefined ? 'effect' : 'replay', ...call, how, body })
  const answer = earlier ?? JSON.stringify({ id: acted.size + 1, of: call.what })
  acted.set(call.key, answer)
  return answer
}

function gone(request: IncomingMessage): AbortSignal {
  const controller = new AbortController()
  request.socket.once('close', () => controller.abort())
  return controller.signal
}

server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  process.send?.(typeof address === 'object' ? address?.port : undefined)
})
process.on('disconnect', () => process.exit())
