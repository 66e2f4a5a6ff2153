import type { FastifyInstance } from 'fastify'

/**
 * Lets pages of this machine use the routes: the console's, which is another origin because its port is another. A shop with customers
 * would name its own pages here, and know who is signed in.
 */
export function allowLocalPages(app: FastifyInstance): void {
  app.addHook('onRequest', async (request, reply) => {
    const { origin } = request.headers
    if (!request.url.startsWith('/api/') || !isLocal(origin)) return
    reply.headers({ 'access-control-allow-origin': origin, 'access-control-allow-credentials': 'true', vary: 'origin' })
    if (request.method !== 'OPTIONS') return
    reply.headers({
      'access-control-allow-methods': 'GET, POST, PATCH',
      'access-control-allow-headers': 'content-type, idempotency-key',
      'access-control-max-age': '600',
    })
    await reply.code(204).send()
  })
}

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']

const isLocal = (origin: string | undefined): origin is string =>
  origin !== undefined && URL.canParse(origin) && LOOPBACK.includes(new URL(origin).hostname)
