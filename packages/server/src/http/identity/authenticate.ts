import { createHash } from 'node:crypto'
import { CountersignError, type Principal } from '@countersign/core'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Clock } from '../../clock.ts'
import type { Caller } from '../../gate/index.ts'
import type { CookieSigner } from './cookie.ts'
import type { Directory } from './directory.ts'

export interface AuthenticateParts {
  directory: Directory
  cookies: CookieSigner
  clock: Clock
}

declare module 'fastify' {
  interface FastifyRequest {
    principal: Principal | undefined
    /** How they proved it: `key` or `console`. */
    signIn: string
  }
}

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Cookies are per host, not per port: the port in the name keeps two servers on one machine apart. */
export const cookieName = (request: FastifyRequest): string => `countersign_${request.socket.localPort ?? 0}`

/** Works out who asks, before any route: a key, or the console's cookie. Routes that need somebody say so with {@link callerOf}. */
export function authenticate(app: FastifyInstance, { directory, cookies, clock }: AuthenticateParts): void {
  app.decorateRequest('principal', undefined)
  app.decorateRequest('signIn', 'key')
  app.addHook('onRequest', async (request) => {
    const { authorization } = request.headers
    if (authorization !== undefined) {
      const key = /^Bearer ([\x21-\x7e]{1,500})$/i.exec(authorization)?.[1]
      request.principal = key === undefined ? undefined : await directory.byKey(key)
      if (!request.principal) throw new CountersignError('unauthenticated', 'this key is not known here')
      return
    }
    const cookie = request.cookies[cookieName(request)]
    const principalId = cookie === undefined ? undefined : cookies.read(cookie, clock.nowMs())
    if (principalId === undefined) return
    // A browser sends the cookie by itself; only a page of ours may make it change anything.
    if (!SAFE.has(request.method)) requireSameOrigin(request)
    request.principal = await directory.byId(principalId)
    request.signIn = 'console'
  })
}

/** @throws CountersignError `forbidden` unless the request's Origin is this very server. */
export function requireSameOrigin(request: FastifyRequest): void {
  const { origin, host } = request.headers
  if (origin !== undefined && URL.canParse(origin) && new URL(origin).host === host && origin !== 'null') return
  throw new CountersignError('forbidden', 'the console’s cookie only acts from the console’s own pages (same Origin)')
}

/**
 * Who asks, with the idempotency key of the request.
 * @throws CountersignError `unauthenticated`, `bad_request` for an unusable Idempotency-Key.
 */
export function callerOf(request: FastifyRequest): Caller {
  const { principal, signIn } = request
  if (!principal) throw new CountersignError('unauthenticated', 'sign in, or send a key: Authorization: Bearer <key>')
  const key = request.headers['idempotency-key']
  if (key === undefined || SAFE.has(request.method)) return { principal, signIn }
  if (typeof key !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(key)) {
    throw new CountersignError('bad_request', 'Idempotency-Key must be 1–255 printable ASCII characters')
  }
  const scope = `${principal.id} ${request.method} ${request.url.split('?')[0]}`
  const requestHash = createHash('sha256')
    .update(JSON.stringify(request.body ?? null))
    .digest('hex')
  return { principal, signIn, once: { scope, key, requestHash } }
}
