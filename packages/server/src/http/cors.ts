import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Cookie } from '../identity/cookie.ts'

/** Headers that a page of another origin may send: a key, and those that the API reads. The console's own header is not included. */
const TAKEN_HEADERS = 'accept, authorization, content-type, idempotency-key, if-match, last-event-id'
/** Headers that such a page may read, besides those that browsers always expose. */
const SHOWN_HEADERS = 'content-disposition, etag, retry-after'
const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE'
const PREFLIGHT_SECONDS = 600

export interface CorsParts {
  /** Origins whose pages may call the API with a key. */
  corsOrigins: readonly string[]
  consoleCredential: Pick<Cookie, 'read'>
}

/**
 * Lets pages of these origins call `/api` with a key (`Authorization: Bearer`), and read the answers and event streams. The console's
 * sign-in never works from there: credentials are not allowed, its header passes no preflight, and an answer to a request with a cookie or
 * that header but no key stays unreadable. Register it after cookies and before anything that refuses requests, so that refusals can be
 * read too.
 */
export function allowOrigins(app: FastifyInstance, { corsOrigins, consoleCredential }: CorsParts): void {
  const origins = new Set(corsOrigins)
  if (origins.size === 0) return
  const isConsole = (request: FastifyRequest): boolean =>
    request.headers.authorization === undefined && consoleCredential.read(request) !== undefined

  app.addHook('onRequest', async (request, reply) => {
    if (!request.url.startsWith('/api/')) return
    // On the raw response: event streams write their headers outside the framework.
    const { raw } = reply
    raw.setHeader('vary', 'origin')
    const { origin } = request.headers
    if (origin === undefined || !origins.has(origin) || isConsole(request)) return
    raw.setHeader('access-control-allow-origin', origin)
    raw.setHeader('access-control-expose-headers', SHOWN_HEADERS)
    if (request.method !== 'OPTIONS' || request.headers['access-control-request-method'] === undefined) return
    raw.setHeader('access-control-allow-methods', METHODS)
    raw.setHeader('access-control-allow-headers', TAKEN_HEADERS)
    raw.setHeader('access-control-max-age', String(PREFLIGHT_SECONDS))
    return reply.code(204).send()
  })
}
