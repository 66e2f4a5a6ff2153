import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { buffer, text } from 'node:stream/consumers'
import type { JsonObject, JsonValue } from '@countersign/core'
import type { Random } from '../../simulation/random.ts'
import { shuffledText } from './shuffled.ts'

/** Stands before a service and hands everything on. */
export interface Shuffler extends AsyncDisposable {
  /** Its origin. */
  readonly url: string
  /** The origin of the service behind it. */
  upstream: string
  /** Moves on what changes by itself: times and counts in every answer from now on. */
  drift(): void
}

/** Starts a proxy that answers with the members of every JSON object in another order each time, and with another ETag. */
export async function startShuffler(random: Random): Promise<Shuffler> {
  let drifts = 0
  let answers = 0
  const server = createServer((incoming, response) => void handOn(incoming, response).catch(() => response.destroy()))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const shuffler = { url, upstream: url, drift: () => void drifts++ }
  const rewritten = (json: string) => shuffledText(json, random, (value) => moved(value, drifts)).replaceAll(shuffler.upstream, url)

  async function handOn(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(incoming)
    const { host: _, connection: __, ...headers } = incoming.headers
    const { method, url: path = '/' } = incoming
    const onward = request(shuffler.upstream + path, { method, headers: { ...headers, 'accept-encoding': 'identity' }, agent: false })
    response.on('close', () => onward.destroy())
    onward.on('error', () => response.destroy()).end(body)
    const [answer]: IncomingMessage[] = await once(onward, 'response')
    if (!answer) return
    const { 'content-length': ___, 'transfer-encoding': ____, connection: _____, ...given } = answer.headers
    const { location, link } = given
    if (location !== undefined) given.location = location.replaceAll(shuffler.upstream, url)
    if (typeof link === 'string') given.link = link.replaceAll(shuffler.upstream, url)
    response.writeHead(answer.statusCode ?? 502, { ...given, etag: `"${answers++}"` })
    if (!given['content-type']?.includes('event-stream')) return void response.end(rewritten(await text(answer)))
    response.flushHeaders()
    for await (const line of createInterface({ input: answer })) {
      const [, data] = /^data: (.*)$/.exec(line) ?? []
      response.write(`${data === undefined ? line : `data: ${rewritten(data)}`}\n`)
    }
    response.end()
  }

  return Object.assign(shuffler, {
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  })
}

const TIME = /^(updated|pushed|viewed|last_?seen|last_?used)_?at$/i
const COUNT = /^(comments|views|score|(stargazers|watchers|forks|subscribers|open_issues|view|comments?)(_count)?)$/

/** An answer as it is some time later, when nobody has changed anything: other times, other counts, and some that were not there before. */
function moved(value: JsonValue, drifts: number): JsonValue {
  if (Array.isArray(value)) return value.map((entry) => moved(entry, drifts))
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(([name, inner = null]): [string, JsonValue] => [name, movedMember(name, inner, drifts)])
  const isRecord = members.some(([name]) => name === 'updated_at')
  const more: JsonObject = isRecord ? { reactions: { total_count: drifts, '+1': drifts }, views: drifts, etag: `"${drifts}"` } : {}
  return { ...Object.fromEntries(members), ...more }
}

function movedMember(name: string, value: JsonValue, drifts: number): JsonValue {
  if (TIME.test(name) && typeof value === 'string') {
    const later = new Date(Date.parse(value) + drifts * 1_000).toISOString()
    return value.includes('.') ? later : later.replace(/\.\d+Z$/, 'Z')
  }
  if (COUNT.test(name) && typeof value === 'number') return value + drifts
  return moved(value, drifts)
}
