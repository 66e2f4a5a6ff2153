import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { defineTool } from '@countersign/toolkit'
import { z } from 'zod'
import type { ConfigInput } from '../../packages/server/src/config/index.ts'

export interface TargetRequest {
  method: string
  path: string
  headers: IncomingHttpHeaders
  body: unknown
}

/** `reset` breaks the connection without an answer. */
export type TargetAnswer = { status: number; body?: unknown; headers?: Record<string, string> } | 'reset'

/** Only ends what hangs: a target may hold its answer while a test starts servers, which takes long on a busy machine. */
const PATIENCE_MS = 240_000

/** A group of tools over a target: `keyed` may be sent again under its key, `unkeyed` may not, `look` only reads. */
export const toolsOf = ({ url }: Target): NonNullable<ConfigInput['tools']> => ({
  target: {
    prefix: false,
    routes: {
      baseUrl: url,
      tools: {
        keyed: {
          ...{ method: 'POST', path: '/keyed', input: WHAT, describe: 'Do {what}', resultUrl: '/things/{result.id}', idempotent: true },
          timeoutMs: PATIENCE_MS,
        },
        unkeyed: { method: 'POST', path: '/unkeyed', input: WHAT, describe: 'Do {what} once', timeoutMs: PATIENCE_MS },
        look: { method: 'GET', path: '/look/{what}', describe: 'Look at {what}', timeoutMs: PATIENCE_MS },
      },
    },
  },
})

/** A tool `own.order` that fills in what a call leaves out: `times` is 2. It counts what it runs with. */
export function orderTool() {
  const orders: { what: string; times: number }[] = []
  const order = defineTool({
    name: 'order',
    description: 'Orders things.',
    input: z.object({ what: z.string(), times: z.int().default(2) }),
    effect: 'write',
    describe: ({ what }) => `Order ${what}`,
    execute: (args) => void orders.push(args),
  })
  return { orders, tools: { own: { tools: [order] } } satisfies ConfigInput['tools'] }
}

const WHAT = { type: 'object', required: ['what'], additionalProperties: false, properties: { what: { type: 'string', minLength: 1 } } }

/** A service behind tools, which counts what reaches it. */
export interface Target extends AsyncDisposable {
  readonly url: string
  /** Every request but GET, in the order of arrival. */
  readonly writes: readonly TargetRequest[]
}

/** Starts a loopback service that answers as it is told. `nth` counts writes from 1. */
export async function startTarget(answer: (request: TargetRequest, nth: number) => TargetAnswer | Promise<TargetAnswer>): Promise<Target> {
  const writes: TargetRequest[] = []
  const server = createServer(async (incoming, response) => {
    let text = ''
    for await (const chunk of incoming.setEncoding('utf8')) text += chunk
    const request: TargetRequest = {
      method: incoming.method ?? '',
      path: incoming.url ?? '',
      headers: incoming.headers,
      body: text === '' ? undefined : JSON.parse(text),
    }
    if (request.method !== 'GET') writes.push(request)
    const given = await answer(request, writes.length)
    if (given === 'reset') return incoming.socket.resetAndDestroy()
    response.writeHead(given.status, { 'content-type': 'application/json', ...given.headers }).end(JSON.stringify(given.body ?? {}))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    writes,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
