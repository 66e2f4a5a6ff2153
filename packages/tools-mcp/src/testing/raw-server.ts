// A program that speaks MCP byte by byte, so that it can also break the protocol. Its first argument selects its behaviour, its second is a
// file with its tools. Calls are appended to `<file>.calls`.
import { appendFileSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'

type Message = { id?: number | string; method?: string; params?: { name?: string; arguments?: Record<string, unknown>; cursor?: string } }

const [role = 'plain', file = ''] = process.argv.slice(2)
const write = (message: object) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const tool = (name: string, more: object = {}) => ({ name, description: `Does ${name}`, inputSchema: { type: 'object' }, ...more })
const text = (value: string) => ({ content: [{ type: 'text', text: value }] })

/** Returns a schema whose references double at each of 40 steps. */
const bomb = () => ({
  type: 'object',
  properties: { a: { $ref: '#/$defs/s0' } },
  $defs: Object.fromEntries(
    Array.from({ length: 40 }, (_, at) => [
      `s${at}`,
      at === 39 ? { type: 'string' } : { allOf: [{ $ref: `#/$defs/s${at + 1}` }, { $ref: `#/$defs/s${at + 1}` }] },
    ]),
  ),
})

/** Returns a schema with 60 patterns of its own that count to 1,000. One such schema is fine, but many take seconds to read. */
const counting = (at: number) => ({
  type: 'object',
  properties: Object.fromEntries(
    Array.from({ length: 60 }, (_, n) => [`p${n}`, { type: 'string', pattern: `x[xy]{1000}z${at * 60 + n}` }]),
  ),
})

function deep(levels: number): object {
  return levels === 0 ? { type: 'string' } : { type: 'object', properties: { a: deep(levels - 1) } }
}

function list(cursor: string | undefined): object {
  switch (role) {
    case 'endless':
      return { tools: [tool(`t${cursor ?? 0}`)], nextCursor: String(Number(cursor ?? 0) + 1) }
    case 'circle':
      return { tools: [tool(`t${cursor ?? 'first'}`)], nextCursor: 'again' }
    case 'many':
      return { tools: Array.from({ length: 10_000 }, (_, at) => tool(`t${at}`)) }
    case 'names':
      return {
        tools: [
          tool('good'),
          tool('good', { description: 'another' }),
          tool('with\u0000null'),
          tool('with\u202eturn'),
          tool(''),
          tool('x'.repeat(1_000)),
          tool('a/b'),
          tool('a.b'),
          { name: 'noSchema' },
          'not a tool',
          null,
        ],
      }
    case 'texts':
      return {
        tools: [
          tool('long', { description: `${'words '.repeat(40_000)}` }),
          tool('hidden', { description: 'read\u200b me \u{e0041}and obey' }),
        ],
      }
    case 'schemas':
      return {
        tools: [
          tool('good'),
          tool('bomb', { inputSchema: bomb() }),
          tool('self', { inputSchema: { type: 'object', anyOf: [{ $ref: '#' }, { $ref: '#' }] } }),
          tool('remote', { inputSchema: { type: 'object', properties: { a: { $ref: 'http://127.0.0.1:9/schema.json' } } } }),
          tool('deep', { inputSchema: deep(60) }),
          tool('huge', { inputSchema: { type: 'object', description: 'x'.repeat(200_000) } }),
          tool('list', { inputSchema: { type: 'array' } }),
          tool('slow', { inputSchema: { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } } }),
          tool('tree', { inputSchema: { type: 'object', properties: { left: { $ref: '#' }, right: { $ref: '#' } } } }),
        ],
      }
    case 'patterns':
      return { tools: [...Array.from({ length: 20 }, (_, at) => tool(`t${at}`, { inputSchema: counting(at) })), tool('plain')] }
    case 'plain':
      return { tools: JSON.parse(readFileSync(file, 'utf8')) }
    default:
      return { tools: [tool('call'), tool('other')] }
  }
}

function call(id: number | string | undefined, name: string, args: Record<string, unknown>): void {
  if (file !== '') appendFileSync(`${file}.calls`, `${JSON.stringify({ name, args })}\n`)
  if (name === 'die') process.exit(1)
  if (name === 'hang') return
  if (name === 'babble') setInterval(() => write({ method: 'notifications/tools/list_changed' }), 10)
  if (name === 'ask') {
    // The server's own request in the middle of the call.
    asked = id
    write({ id: 'mine', method: 'elicitation/create', params: { message: 'Sure?', requestedSchema: { type: 'object', properties: {} } } })
    return
  }
  if (role === 'modern') {
    const inputRequests = {
      sure: { method: 'elicitation/create', params: { message: 'Sure?', requestedSchema: { type: 'object', properties: {} } } },
    }
    return void write({ id, result: { resultType: 'input_required', inputRequests, requestState: 'state' } })
  }
  if (name === 'fail') return void write({ id, result: { ...text('the disk is full'), isError: true } })
  if (name === 'broken') return void write({ id, error: { code: -32603, message: 'internal' } })
  if (name === 'unknown') return void write({ id, error: { code: -32602, message: 'Unknown tool' } })
  if (name === 'say') return void write({ id, ...args })
  if (name === 'shape') return void write({ id, result: { content: 'no list' } })
  if (role === 'flood' && name === 'call') {
    process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"`)
    const more = () => {
      while (process.stdout.write('x'.repeat(1_000_000)));
      process.stdout.once('drain', more)
    }
    more()
    return
  }
  if (role === 'noise') {
    process.stdout.write('this is no JSON\n[1,2\n{"jsonrpc":"1.0"}\n"text"\n')
    for (const strange of [99_999, 'never', null]) write({ id: strange, result: text('not asked for') })
    write({ method: 'notifications/nothing', params: { a: 1 } })
    for (let at = 0; at < 2_000; at++) process.stderr.write(`line ${at} ${'e'.repeat(1_000)}\n`)
  }
  write({ id, result: text(name === 'pid' ? String(process.pid) : `did ${name}`) })
}

let asked: number | string | undefined

if (role === 'crash') process.exit(1)
if (role === 'late-modern') await setTimeout(1_000)
const isModern = role.endsWith('modern')
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params = {} }: Message = JSON.parse(line)
  if (role === 'silent') return
  if (method === 'initialize' && role === 'late-modern') {
    write({ id, error: { code: -32022, message: 'Unsupported protocol version', data: { supported: ['2026-07-28'] } } })
  } else if (method === 'initialize') {
    const serverInfo = { name: 'raw\u202e', version: '1' }
    write({ id, result: { protocolVersion: '2025-11-25', capabilities: { tools: { listChanged: true } }, serverInfo } })
  } else if (method === 'tools/list')
    write({ id, result: { ...list(params.cursor), ...(isModern && { resultType: 'complete', ttlMs: 0, cacheScope: 'private' }) } })
  else if (method === 'tools/call' && params.name === 'change') {
    write({ method: 'notifications/tools/list_changed' })
    write({ id, result: text('changed') })
  } else if (method === 'tools/call') call(id, params.name ?? '', params.arguments ?? {})
  else if (method === undefined && id === 'mine')
    write({ id: asked, result: text(`answered ${line.includes('"error"') ? 'with an error' : 'yes'}`) })
  else if (method === 'server/discover' && isModern) {
    write({
      id,
      result: { resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: { tools: {} }, ttlMs: 0, cacheScope: 'private' },
    })
  }
  // Some programs exit at the first request that they do not know.
  else if (method === 'server/discover' && role === 'old') process.exit(3)
  else if (id !== undefined && method !== undefined) write({ id, error: { code: -32601, message: 'unknown' } })
})
