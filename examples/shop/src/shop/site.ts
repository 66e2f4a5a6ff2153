import type { DatabaseSync } from 'node:sqlite'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { Refusal } from '../problem.ts'
import { listEffects, newestEffectId } from './effects.ts'
import type { Html } from './html.ts'
import { LIVE_SCRIPT } from './live.ts'
import { listOrders, readOrder } from './orders.ts'
import { homePage, layout, notFoundPage, orderPage } from './pages.ts'
import { listProducts } from './products.ts'
import { ICON, STYLE } from './style.ts'

const SECURITY_HEADERS = {
  'content-security-policy':
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

/** The pages for people: the orders and products at `/`, one order at `/orders/{orderId}`. */
export function addSite(app: FastifyInstance, db: DatabaseSync): void {
  app.addHook('onSend', async (_request, reply) => {
    reply.headers(SECURITY_HEADERS)
  })

  const sendPage = (reply: FastifyReply, status: number, title: string, main: Html) =>
    reply
      .code(status)
      .type('text/html; charset=utf-8')
      .header('cache-control', 'no-store')
      .send(layout(title, newestEffectId(db), main))

  app.get('/', (_request, reply) => sendPage(reply, 200, 'Orders', homePage(listOrders(db, { limit: 100 }), listProducts(db))))

  app.get<{ Params: { orderId: string } }>('/orders/:orderId', (request, reply) => {
    const { orderId } = request.params
    try {
      const { items } = listEffects(db, { orderId, limit: 100 })
      return sendPage(reply, 200, orderId, orderPage(readOrder(db, orderId), items))
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      return sendPage(reply, error.status, 'Not found', notFoundPage(error.message))
    }
  })

  app.get('/style.css', (_request, reply) => reply.type('text/css; charset=utf-8').send(STYLE))
  app.get('/live.js', (_request, reply) => reply.type('text/javascript; charset=utf-8').send(LIVE_SCRIPT))
  app.get('/icon.svg', (_request, reply) => reply.type('image/svg+xml').send(ICON))
}
