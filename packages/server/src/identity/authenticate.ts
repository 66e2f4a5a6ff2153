import { createHash } from 'node:crypto'
import { CountersignError, canonicalJson, type JsonValue, type Principal } from '@countersign/core'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type Caller, isoTime } from '../gate/index.ts'
import type { Tx } from '../store/index.ts'
import type { ConsoleSession, ConsoleSessions } from './console-sessions.ts'
import type { Cookie } from './cookie.ts'
import type { Directory } from './directory.ts'
import { hashOf } from './keys.ts'
import type { Limits } from './limits.ts'
import type { Standing } from './standing.ts'

export interface AuthenticateDeps {
  directory: Directory
  consoleSessions: ConsoleSessions
  /** Verifies the signed-in console. */
  consoleCredential: Cookie
  limits: Limits
  /** Where browsers find the console, when that differs from where it listens. */
  publicUrl: string | undefined
  /** The longest lifetime of a session. */
  sessionLimits: { maxMs: number }
}

declare module 'fastify' {
  interface FastifyRequest {
    principal: Principal | undefined
    /** How the caller authenticated, for the record: `key`, `embed token`, or `console` with its way of signing in. */
    signIn: string
    /** Hash of the key or token in use; undefined for a signed-in console. */
    keyHash: string | undefined
    /** Returns the current standing of the caller; undefined once the credential has ended. Reading it does not count as activity. */
    standing: (() => Promise<Standing | undefined>) | undefined
    /** The same within a transaction of that time. */
    standingIn: ((now: number) => Tx<Standing | undefined>) | undefined
    /** Set for requests of a signed-in console. */
    consoleSession: ConsoleSession | undefined
    /** True when the body was still under way once the caller was known. */
    isBodyLate: boolean
  }
}

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Authenticates each request before any route and before the body is read: by a key, or by the console's credential. Refuses all other
 * requests, except on routes that are declared `PUBLIC` (access.ts). Call it before plugins and routes are registered, so that it applies to all
 * of them.
 */
export function authenticate(app: FastifyInstance, deps: AuthenticateDeps): void {
  const { directory, consoleSessions, consoleCredential, limits, publicUrl, sessionLimits } = deps
  app.decorateRequest('principal', undefined)
  app.decorateRequest('signIn', 'key')
  app.decorateRequest('keyHash', undefined)
  app.decorateRequest('standing', undefined)
  app.decorateRequest('standingIn', undefined)
  app.decorateRequest('consoleSession', undefined)
  app.decorateRequest('isBodyLate', false)

  app.addHook('onRequest', async (request) => {
    const { access, keyHeader } = request.routeOptions.config
    if (access === 'probe') return
    const authorization = keyHeader === undefined ? request.headers.authorization : `Bearer ${request.headers[keyHeader] ?? ''}`
    if (authorization !== undefined) {
      const key = /^Bearer ([\x21-\x7e]{1,500})$/i.exec(authorization)?.[1]
      if (key !== undefined) {
        const keyHash = hashOf(key)
        request.principal = await directory.byHash(keyHash)
        request.keyHash = keyHash
        request.standing = () => directory.standing(keyHash)
        request.standingIn = (now) => directory.standingIn(keyHash, now)
      }
      if (request.principal?.host !== undefined) request.signIn = 'embed token'
      if (!request.principal) {
        limits.countAttempt(request.ip)
        if (key === undefined && keyHeader === undefined) throw new CountersignError('unauthenticated', 'send Authorization: Bearer <key>')
        throw await unknownKey(directory, key, keyHeader ? `the key in ${keyHeader}` : 'this key')
      }
    } else {
      const secret = consoleCredential.read(request)
      if (secret === undefined) return
      // A browser sends a cookie by itself; only the console's own pages may change anything with it, or with the console's header.
      if (!SAFE.has(request.method)) requireSameOrigin(request, publicUrl)
      const session = await consoleSessions.read(secret)
      if (!session) return limits.countAttempt(request.ip)
      request.consoleSession = session
      request.principal = session.principal
      request.standing = () => consoleSessions.standing(session.id)
      request.standingIn = (now) => consoleSessions.standingIn(session.id, now)
      request.signIn = `console, ${session.how}`
    }
    limits.countRequest(request.principal.id)
    // Node tells of the headers before it reads the rest of the same packet: only what is missing a turn of the event loop later is late.
    setImmediate(() => {
      request.isBodyLate = !request.raw.complete
    })
  })

  // After the hook above, and before those of the routes: the content of a request is read only once its sender is known.
  app.addHook('onRequest', async ({ principal, is404, method, url, routeOptions: { config } }) => {
    // An unknown URL with a body is answered before the body is read.
    if (is404 && !SAFE.has(method)) throw new CountersignError('not_found', `there is no ${method} ${url.split('?')[0]}`)
    if (!principal && !is404 && config.access === undefined) throw unauthenticated()
  })

  // A body may take half a minute, and nothing counts that comes after a key was revoked, a session ended or a role was taken away.
  app.addHook('preValidation', async (request) => {
    if (!request.isBodyLate || !request.principal) return
    const standing = await request.standing?.()
    if (!standing) throw new CountersignError('unauthenticated', 'your credential ended before the whole request had come')
    request.principal = standing.principal
    if (request.consoleSession) request.consoleSession = { ...request.consoleSession, principal: standing.principal }
  })

  // Not for answers that stream: their headers are sent before this is known.
  app.addHook('onSend', async (request, reply) => {
    if (!request.consoleSession || SAFE.has(request.method)) return
    const secret = await consoleSessions.renew(request.consoleSession)
    if (secret !== undefined) consoleCredential.set(request, reply, secret, sessionLimits.maxMs / 1_000)
  })
}

/** Returns the refusal of a key that nobody holds. When it expired is told: whoever sends an expired key has held it. */
export async function unknownKey(
  directory: Pick<Directory, 'expiredAt'>,
  key: string | undefined,
  name = 'this key',
): Promise<CountersignError> {
  const expiredAt = key === undefined ? undefined : await directory.expiredAt(hashOf(key))
  const why = expiredAt === undefined ? 'is not known here' : `expired at ${isoTime(expiredAt)}`
  return new CountersignError('unauthenticated', `${name} ${why}`)
}

const unauthenticated = () => new CountersignError('unauthenticated', 'sign in, or send a key: Authorization: Bearer <key>')

/** @throws CountersignError `forbidden` unless the request comes from a page of this server itself. */
export function requireSameOrigin({ headers: { origin, host } }: FastifyRequest, publicUrl: string | undefined): void {
  if (origin !== undefined && URL.canParse(origin) && origin !== 'null') {
    const page = new URL(origin)
    if (page.host === host || page.origin === publicUrl) return
  }
  throw new CountersignError(
    'forbidden',
    'a console’s sign-in only acts from the console’s own address (same Origin): open the console there, or set COUNTERSIGN_PUBLIC_URL to this one',
  )
}

/**
 * Returns the caller, with the idempotency key of the request.
 * @throws CountersignError `unauthenticated`, `bad_request` for an unusable Idempotency-Key.
 */
export function callerOf(request: FastifyRequest): Caller {
  const { principal, signIn, standingIn } = request
  if (!principal) throw unauthenticated()
  const who = { principal, signIn, ...(standingIn && { standingIn }) }
  const key = request.headers['idempotency-key']
  if (key === undefined || SAFE.has(request.method)) return who
  if (typeof key !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(key)) {
    throw new CountersignError('bad_request', 'Idempotency-Key must be 1–255 printable ASCII characters')
  }
  const scope = `${principal.id} ${request.method} ${request.url.split('?')[0]}`
  // A program that sends its request again may write the members of an object in another order, for example those of a hash map.
  const requestHash = createHash('sha256')
    .update(canonicalJson((request.body ?? null) as JsonValue))
    .digest('hex')
  return { ...who, once: { scope, key, requestHash } }
}
