import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { canonicalJson, type JsonObject, type JsonValue } from '@countersign/core'
import { onTestFinished } from 'vitest'
import type { Random } from '../../simulation/random.ts'
import { shuffled } from './shuffled.ts'

/** A server of the protocol 2025-11-25 that keeps notes, and gives the members of an object another order each time. */
export interface KeptNotes {
  url: string
  /** Where a note stands in a result: as structured content, as JSON in a text, or as both, alike or each in an order of its own. */
  says: 'structured' | 'text' | 'both' | 'both in other orders'
  /** How often a note was seen, which it says of itself. */
  seen: number
  /** The arguments of each call to `set`. */
  calls: string[]
}

const OBJECT = { type: 'object' }
const TOOLS: JsonObject[] = [
  { name: 'get', description: 'Reads a note', inputSchema: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] } },
  {
    name: 'set',
    description: 'Replaces a note',
    inputSchema: {
      type: 'object',
      properties: { id: { type: 'string', minLength: 1 }, note: OBJECT, options: { ...OBJECT, description: 'How' } },
      required: ['id', 'note'],
    },
    annotations: { title: 'Set', destructiveHint: false, idempotentHint: true },
  },
]

export async function startNotes(random: Random, says: KeptNotes['says']): Promise<KeptNotes> {
  const kept: KeptNotes = { url: '', says, seen: 1, calls: [] }
  const noteNow = (id: string): JsonObject => ({
    ...{ id, title: 'Old', body: { text: 'y', lines: [{ n: 1, t: 'a' }] }, tags: ['b', 'a'] },
    ...{ updated_at: `2026-01-01T00:00:${kept.seen}Z`, view_count: kept.seen, meta: { etag: String(kept.seen), owner: 'Ana' } },
  })
  const told = (value: JsonValue): JsonObject => {
    const [one, other] = [shuffled(value, random), shuffled(value, random)]
    const inText = { content: [{ type: 'text', text: JSON.stringify(says === 'both' ? one : other) }] }
    if (says === 'text') return inText
    return says === 'structured' ? { content: [], structuredContent: one } : { ...inText, structuredContent: one }
  }
  const answerTo = (method: string, { name, arguments: args }: { name?: string; arguments?: JsonObject }): JsonObject | undefined => {
    if (method === 'initialize')
      return { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'notes', version: '1' } }
    if (method === 'ping') return {}
    if (method === 'tools/list') return { tools: TOOLS }
    if (method !== 'tools/call') return undefined
    if (name === 'set') kept.calls.push(canonicalJson(args ?? null))
    return name === 'set' ? told({ done: true }) : told(noteNow(String(args?.id)))
  }
  const server = createServer(async (request, response) => {
    if (request.method !== 'POST') return void response.writeHead(405).end()
    const { id, method, params = {} } = JSON.parse(await text(request))
    if (id === undefined) return void response.writeHead(202).end()
    const result = answerTo(method, params)
    const answer = result ? { result: shuffled(result, random) } : { error: { code: -32601, message: 'unknown method' } }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  kept.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
  return kept
}
