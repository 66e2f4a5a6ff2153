import { CountersignError, CreatedKey, CreateKeyBody, Principal } from '@countersign/core'
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { requireAdmin } from '../../gate/index.ts'
import type { App, HttpParts } from '../app.ts'
import { callerOf, cookieName, requireSameOrigin } from './authenticate.ts'
import { COOKIE_SECONDS } from './cookie.ts'

const Me = z.object({ principal: Principal.nullable(), signIn: z.enum(['local', 'key']) })
const SignInBody = z.strictObject({ key: z.string().min(1).max(500).optional() })

const LOOPBACK = new Set(['127.0.0.1', '::1', '::ffff:127.0.0.1'])

/**
 * True when the one who asks sits at this machine and used its name. The Host check keeps out a foreign page whose name was made to
 * resolve to loopback.
 */
function isLocal(request: FastifyRequest): boolean {
  const host = (request.headers.host ?? '').replace(/:\d+$/, '')
  return (
    LOOPBACK.has(request.socket.remoteAddress ?? '') &&
    LOOPBACK.has(request.socket.localAddress ?? '') &&
    ['localhost', '127.0.0.1', '[::1]'].includes(host)
  )
}

export function identityRoutes(app: App, { directory, cookies, clock, signsInLocally }: HttpParts): void {
  const mode = (request: FastifyRequest): 'local' | 'key' => (signsInLocally && isLocal(request) ? 'local' : 'key')

  app.get('/api/me', { schema: { tags: ['identity'], response: { 200: Me } } }, async (request) => ({
    principal: request.principal ?? null,
    signIn: mode(request),
  }))

  app.post('/api/sign-in', { schema: { tags: ['identity'], body: SignInBody, response: { 200: Me } } }, async (request, reply) => {
    requireSameOrigin(request)
    const key = request.body.key
    const principal = key === undefined ? (mode(request) === 'local' ? directory.localPerson : undefined) : await directory.byKey(key)
    if (!principal)
      throw new CountersignError('unauthenticated', key === undefined ? 'a key is needed to sign in here' : 'this key is not known here')
    if (principal.kind !== 'person')
      throw new CountersignError('forbidden', 'the console is for persons; this key belongs to an agent or a service')
    reply.setCookie(cookieName(request), cookies.sign(principal.id, clock.nowMs()), {
      httpOnly: true,
      sameSite: 'strict',
      path: '/',
      maxAge: COOKIE_SECONDS,
      secure: request.protocol === 'https',
    })
    return { principal, signIn: mode(request) }
  })

  app.post('/api/sign-out', { schema: { tags: ['identity'], response: { 200: z.object({}) } } }, async (request, reply) => {
    requireSameOrigin(request)
    reply.clearCookie(cookieName(request), { path: '/' })
    return {}
  })

  app.post('/api/keys', { schema: { tags: ['identity'], body: CreateKeyBody, response: { 201: CreatedKey } } }, async (request, reply) => {
    const { principal, once } = callerOf(request)
    requireAdmin(principal, 'makes keys')
    reply.code(201)
    return directory.createKey(request.body, once)
  })
}
