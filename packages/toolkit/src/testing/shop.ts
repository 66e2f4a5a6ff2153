import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type ExecuteContext, type JsonObject, type JsonValue, type PreviewField, type Tool, ToolError } from '@countersign/core'
import { expect } from 'vitest'
import { openTools } from '../open-tools.ts'
import { RouteTable, type RouteTableInput } from '../routes/route-schema.ts'

/** The secret in the headers of every route. */
export const TOKEN = 'tok-4f9a27c1e8'

interface Seen {
  method: string
  url: string
  headers: IncomingHttpHeaders
  body: string
}

export type Answer = (request: IncomingMessage, response: ServerResponse) => void

/** A service on the loopback, and the tools that a table of routes makes of it. */
export interface Shop extends AsyncDisposable {
  readonly baseUrl: string
  /** The requests that the shop received, in order. */
  readonly seen: readonly Seen[]
  lastSeen(): Seen
  /** Answers the next requests. A test sets it. */
  answer: Answer
  answers(status: number, body: JsonValue, headers?: Record<string, string>): void
  /** Returns the tools of a table by their names. */
  open(tools: RouteTableInput['tools'], more?: Partial<RouteTableInput>): (name: string) => Tool
}

export async function startShop(): Promise<Shop> {
  const seen: Seen[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    seen.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body })
    shop.answer(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const shop: Shop = {
    baseUrl,
    seen,
    lastSeen() {
      const last = seen.at(-1)
      if (!last) throw new Error('nothing was sent')
      return last
    },
    answer: (_, response) => response.end('{}'),
    answers(status, body, headers = {}) {
      shop.answer = (_, response) => response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body))
    },
    open(tools, more = {}) {
      const routes = RouteTable.parse({ baseUrl, headers: { authorization: `Bearer ${TOKEN}` }, tools, ...more })
      const registry = openTools({ shop: { prefix: true, routes } })
      return (name) => {
        const tool = registry.byName(`shop.${name}`)
        if (!tool) throw new Error(`no tool ${name}`)
        return tool
      }
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
  return shop
}

export const STATUS_INPUT: JsonObject = {
  type: 'object',
  required: ['orderId', 'newStatus'],
  additionalProperties: false,
  properties: { orderId: { type: 'string' }, newStatus: { type: 'string', enum: ['pending', 'processing', 'shipped', 'cancelled'] } },
}

/** The routes of the shop. */
export const SHOP: RouteTableInput['tools'] = {
  getOrders: {
    method: 'GET',
    path: '/api/orders',
    query: { status: '{status}', tag: '{tags}', limit: 50 },
    input: { type: 'object', properties: { status: { type: 'string' }, tags: { type: 'array', items: { type: 'string' } } } },
  },
  getOrder: { method: 'GET', path: '/api/orders/{orderId}' },
  updateOrderStatus: {
    method: 'PATCH',
    path: '/api/orders/{orderId}/status',
    body: { status: '{newStatus}' },
    input: STATUS_INPUT,
    describe: 'Set order {orderId} to {newStatus}',
    before: { get: '/api/orders/{orderId}', compare: { status: '{newStatus}' } },
    resultUrl: '/orders/{orderId}',
    idempotent: true,
  },
  checkout: {
    method: 'POST',
    path: '/api/checkout',
    input: {
      type: 'object',
      required: ['items'],
      properties: {
        items: { type: 'array', items: { type: 'object', properties: { sku: { type: 'string' }, quantity: { type: 'integer' } } } },
        customerName: { type: 'string' },
      },
    },
    resultUrl: '/orders/{result.order.id}?from=agent',
  },
  renameOrder: {
    method: 'POST',
    path: '/api/orders/{orderId}/notes',
    body: {
      text: 'Note for {orderId}: {note}',
      by: { name: '{author}', robot: true },
      priority: '{priority}',
      list: ['{note}', '{author}'],
    },
    input: {
      type: 'object',
      required: ['orderId', 'note'],
      properties: { orderId: { type: 'string' }, note: { type: 'string' }, author: { type: 'string' }, priority: { type: 'integer' } },
    },
  },
  deleteOrder: {
    method: 'DELETE',
    path: '/api/orders/{orderId}',
    before: { get: '/api/orders/{orderId}', compare: ['status', 'customer.name'] },
  },
}

export const context = (signal = new AbortController().signal): ExecuteContext => ({
  actionId: 'act_1',
  idempotencyKey: 'act_1-1',
  signal,
  principalId: 'prn_1',
})

/** Returns the fields that a preview shows. */
export const preview = async (tool: Tool, args: JsonObject): Promise<PreviewField[] | undefined> =>
  (await tool.preview?.(args, new AbortController().signal))?.fields

/** Returns why a call failed; the token is not in it. */
export async function failureOf(work: Promise<unknown>): Promise<ToolError> {
  const error = await work.then(
    () => new Error('it succeeded'),
    (reason: unknown) => reason,
  )
  if (!(error instanceof ToolError)) throw error
  expect(error.message + String(error.stack) + JSON.stringify(error)).not.toContain(TOKEN)
  return error
}
