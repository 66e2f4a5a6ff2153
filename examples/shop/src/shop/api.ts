import type { DatabaseSync } from 'node:sqlite'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { readInput } from '../http.ts'
import { checkout, quote } from './checkout.ts'
import { listEffects } from './effects.ts'
import { CheckoutBody, EffectQuery, OrderQuery, QuoteQuery, readIdempotencyKey, StatusBody } from './input.ts'
import { answerOnce } from './once.ts'
import { changeStatus, listOrders, readOrder } from './orders.ts'
import { listProducts } from './products.ts'

type OrderRoute = { Params: { orderId: string } }

/** The JSON routes under `/api`. Lists answer `{items, total}`, newest first. */
export function addApi(app: FastifyInstance, deps: { db: DatabaseSync; nowMs: () => number }): void {
  const { db, nowMs } = deps

  app.get('/api/orders', (request) => listOrders(db, readInput(OrderQuery, request.query, 'query')))
  app.get<OrderRoute>('/api/orders/:orderId', (request) => readOrder(db, request.params.orderId))
  app.get('/api/products', () => {
    const items = listProducts(db)
    return { items, total: items.length }
  })
  app.get('/api/quote', (request) => quote(db, readInput(QuoteQuery, request.query, 'query').items))
  app.get('/api/effects', (request) => listEffects(db, readInput(EffectQuery, request.query, 'query')))

  app.patch<OrderRoute>('/api/orders/:orderId/status', (request, reply) => {
    const { orderId } = request.params
    const { status } = readInput(StatusBody, request.body, 'body')
    return write(request, reply, (context) => ({ status: 200, body: changeStatus(db, { orderId, status, ...context }) }))
  })

  app.post('/api/checkout', (request, reply) => {
    const body = readInput(CheckoutBody, request.body, 'body')
    const order = { items: body.items, customerName: body.customerName ?? null, customerEmail: body.customerEmail ?? null }
    return write(request, reply, (context) => ({ status: 201, body: checkout(db, order, context) }))
  })

  function write(
    request: FastifyRequest,
    reply: FastifyReply,
    work: (context: { idempotencyKey: string | null; atMs: number }) => { status: number; body: unknown },
  ): FastifyReply {
    const context = { idempotencyKey: readIdempotencyKey(request.headers['idempotency-key']), atMs: nowMs() }
    const { method, url: path, body } = request
    const answer = answerOnce(db, { ...context, method, path, body }, () => work(context))
    if (answer.replayed) reply.header('idempotency-replayed', 'true')
    const type = answer.status < 400 ? 'application/json; charset=utf-8' : 'application/problem+json; charset=utf-8'
    return reply.code(answer.status).type(type).send(answer.body)
  }
}
