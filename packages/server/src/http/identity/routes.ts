import { CountersignError, Principal } from '@countersign/core'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { App, HttpParts } from '../app.ts'
import { requireSameOrigin } from './authenticate.ts'
import type { BeginSession } from './console-sessions.ts'
import { createCookie } from './cookie.ts'
import { hashOf } from './keys.ts'
import { SIGN_IN_SECONDS } from './oidc.ts'

const SignInWay = z.enum(['local', 'key', 'oidc'])
type SignInWay = z.infer<typeof SignInWay>

/** `objectives`: there are tools for objectives, so the console has a page for them. */
const Me = z.object({ principal: Principal.nullable(), signIn: SignInWay, objectives: z.literal(true).optional() })
const SignInBody = z.strictObject({ key: z.string().min(1).max(500).optional() })
const SignOutBody = z.strictObject({
  /** Ends every session of this person, in every browser. */
  everywhere: z.boolean().default(false),
})
/** `endSessionUrl`: where the browser goes next, to sign out of the sign-in service as well. */
const SignedOut = z.object({ endSessionUrl: z.string().optional() })
const BeginBody = z.strictObject({
  /** Where in the console to go on. */
  returnTo: z
    .string()
    .max(2_000)
    .regex(/^\/(?![/\\])/, 'must be a path of the console')
    .default('/'),
})
const FinishBody = z.strictObject({
  /** The query of the address that the sign-in service sent the browser back to. */
  answer: z.string().max(8_000),
})

const LOOPBACK = new Set(['127.0.0.1', '::1', '::ffff:127.0.0.1'])
const FORWARDED = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip']

/**
 * True when the one who asks sits at this machine and used its name. The Host check keeps out a foreign page whose name was made to
 * resolve to loopback; a proxy on this machine speaks for somebody else.
 */
function isLocal({ socket, headers }: FastifyRequest): boolean {
  const host = (headers.host ?? '').replace(/:\d+$/, '')
  return (
    LOOPBACK.has(socket.remoteAddress ?? '') &&
    LOOPBACK.has(socket.localAddress ?? '') &&
    ['localhost', '127.0.0.1', '[::1]'].includes(host) &&
    !FORWARDED.some((name) => headers[name] !== undefined)
  )
}

/** Who is here, and how people come in and leave. */
export function identityRoutes(app: App, parts: HttpParts): void {
  const { directory, consoleSessions, consoleCookie, signsInLocally, signInService, publicUrl, limits, sessionLimits } = parts
  const tags = ['identity']
  const kept = parts.keepsObjectives ? { objectives: true as const } : {}
  const begunCookie = createCookie('countersign_sign_in', publicUrl)
  const wayOf = (request: FastifyRequest): SignInWay => (signInService ? 'oidc' : signsInLocally && isLocal(request) ? 'local' : 'key')

  /** Another secret at every sign-in: one that was planted in the browser before is worth nothing. */
  async function begin(request: FastifyRequest, reply: FastifyReply, session: Omit<BeginSession, 'replaces'>): Promise<void> {
    const secret = await consoleSessions.begin({ ...session, replaces: consoleCookie.read(request) })
    request.consoleSession = undefined
    consoleCookie.set(request, reply, secret, sessionLimits.maxMs / 1_000)
  }

  app.get('/api/me', { schema: { tags, response: { 200: Me } } }, async (request) => ({
    principal: request.principal ?? null,
    signIn: wayOf(request),
    ...kept,
  }))

  app.post('/api/sign-in', { schema: { tags, body: SignInBody, response: { 200: Me } } }, async (request, reply) => {
    requireSameOrigin(request, publicUrl)
    const { key } = request.body
    const signIn = wayOf(request)
    const principal = key === undefined ? (signIn === 'local' ? directory.localPerson : undefined) : await directory.byKey(key)
    if (!principal) {
      limits.countAttempt(request.ip)
      throw new CountersignError('unauthenticated', key === undefined ? 'a key is needed to sign in here' : 'this key is not known here')
    }
    if (principal.kind !== 'person')
      throw new CountersignError('forbidden', 'the console is for persons; this key belongs to an agent or a service')
    await begin(request, reply, key === undefined ? { principal, how: 'local' } : { principal, how: 'key', keyHash: hashOf(key) })
    return { principal, signIn, ...kept }
  })

  app.post('/api/sign-out', { schema: { tags, body: SignOutBody, response: { 200: SignedOut } } }, async (request, reply) => {
    requireSameOrigin(request, publicUrl)
    const session = request.consoleSession
    request.consoleSession = undefined
    consoleCookie.clear(request, reply)
    if (!session) return {}
    const { idToken } = await consoleSessions.end(session, request.body.everywhere)
    if (idToken === undefined || !signInService) return {}
    // The session has ended here whether or not the service can be reached.
    const endSessionUrl = await signInService.endSessionUrl(idToken, `${addressOf(request)}/`).catch(() => undefined)
    return endSessionUrl === undefined ? {} : { endSessionUrl }
  })

  const addressOf = (request: FastifyRequest): string => publicUrl ?? new URL(request.headers.origin ?? '').origin

  const service = () => {
    if (signInService) return signInService
    throw new CountersignError('not_found', 'there is no sign-in service here')
  }

  app.post(
    '/api/sign-in/oidc',
    { schema: { tags, body: BeginBody, response: { 200: z.object({ url: z.string() }) } } },
    async (request, reply) => {
      requireSameOrigin(request, publicUrl)
      limits.countAttempt(request.ip)
      const { url, sealed } = await service().begin(`${addressOf(request)}/sign-in/callback`, request.body.returnTo)
      begunCookie.set(request, reply, sealed, SIGN_IN_SECONDS)
      return { url }
    },
  )

  // The service sends the browser back to a page of the console, which changes nothing; the page then asks for this. So the cookies can
  // be kept from every other site, and a program that follows links uses nothing up.
  app.post(
    '/api/sign-in/oidc/finish',
    { schema: { tags, body: FinishBody, response: { 200: Me.extend({ returnTo: z.string() }) } } },
    async (request, reply) => {
      requireSameOrigin(request, publicUrl)
      limits.countAttempt(request.ip)
      const sealed = begunCookie.read(request)
      begunCookie.clear(request, reply)
      const { principal, idToken, returnTo } = await service().finish(request.body.answer, sealed)
      await begin(request, reply, { principal, how: 'oidc', idToken })
      return { principal, signIn: 'oidc' as const, ...kept, returnTo }
    },
  )
}
