import { CountersignError, Principal } from '@countersign/core'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { requireOwnSignIn } from '../gate/index.ts'
import { PUBLIC } from '../identity/access.ts'
import { requireSameOrigin } from '../identity/authenticate.ts'
import type { BeginSession } from '../identity/console-sessions.ts'
import { createCookie, takesCookies } from '../identity/cookie.ts'
import { hashOf } from '../identity/keys.ts'
import type { LinkRefusal } from '../identity/sign-in-links.ts'
import { SIGN_IN_SECONDS } from '../identity/sign-in-time.ts'
import type { App, HttpDeps } from './app.ts'

const SignInWay = z.enum(['local', 'key', 'oidc'])
type SignInWay = z.infer<typeof SignInWay>

/** `objectives`: there are tools for objectives, so the console has a page for them. */
const Me = z.object({ principal: Principal.nullable(), signIn: SignInWay, objectives: z.literal(true).optional() })
const SignInBody = z.strictObject({
  key: z.string().min(1).max(500).optional(),
  /** The part of a sign-in link after `#sign-in=`: it signs in the person at the server's own machine, once. */
  link: z.string().max(500).optional(),
})
const SignOutBody = z.strictObject({
  /** Ends every session of this person, in every browser. */
  everywhere: z.boolean().default(false),
})
/** `endSessionUrl`: where the browser goes next, to sign out of the sign-in service as well. */
const SignedOut = z.object({ endSessionUrl: z.string().optional() })
const BeginBody = z.strictObject({
  /** The page of the console to continue with. */
  returnTo: z
    .string()
    .max(2_000)
    .regex(/^\/(?![/\\])/, 'must be a path of the console')
    .default('/'),
})
const FinishBody = z.strictObject({
  /** The query with which the sign-in service redirected the browser back. */
  answer: z.string().max(8_000),
  /** Over plain http: `begun` from the first answer of the sign-in. Over https a cookie holds it. */
  begun: z.string().max(8_000).optional(),
})
const Begun = z.object({
  /** Where the browser goes. */
  url: z.string(),
  /** Over plain http: what the page stores until the end of this sign-in. */
  begun: z.string().optional(),
})

const LINK_REFUSALS: Record<LinkRefusal, string> = {
  used: 'this sign-in link was used already',
  expired: 'this sign-in link has expired',
  unknown: 'this sign-in link is not valid here: it is incomplete, or the server was started again since it was made',
}
const HOW_TO_GET_A_LINK = 'run `countersign sign-in` on the machine of the server to get a new link'

const LOOPBACK = new Set(['127.0.0.1', '::1', '::ffff:127.0.0.1'])
const FORWARDED = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip']

/**
 * Returns true when the request comes from this machine and used its name. The Host check keeps out a foreign page whose name was made to
 * resolve to loopback; a proxy on this machine forwards requests of others.
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

/** Registers the routes that sign people in and out, and that report who is signed in. */
export function identityRoutes(app: App, deps: HttpDeps): void {
  const { directory, consoleSessions, consoleCredential, signInLinks, signInService, publicUrl, limits, sessionLimits } = deps
  const tags = ['identity']
  const kept = deps.keepsObjectives ? { objectives: true as const } : {}
  const begunCookie = createCookie('countersign_sign_in', publicUrl)
  const wayOf = (request: FastifyRequest): SignInWay => (signInService ? 'oidc' : signInLinks && isLocal(request) ? 'local' : 'key')

  /** Renews the secret at every sign-in: a secret that was planted in the browser before becomes worthless. */
  async function begin(request: FastifyRequest, reply: FastifyReply, session: Omit<BeginSession, 'replaces'>): Promise<void> {
    const secret = await consoleSessions.begin({ ...session, replaces: consoleCredential.read(request) })
    request.consoleSession = undefined
    consoleCredential.set(request, reply, secret, sessionLimits.maxMs / 1_000)
  }

  const noteRefusal = (request: FastifyRequest, how: 'local' | 'key', reason: string): Promise<void> => {
    limits.countAttempt(request.ip)
    return deps.refusedSignIns.note({ how, reason, address: request.ip })
  }

  /**
   * Returns why a request does not come from the person at this machine. A local connection is no proof: every agent with a shell has one.
   */
  async function whyNotLocal(request: FastifyRequest, signIn: SignInWay, link: string | undefined): Promise<string | undefined> {
    if (signIn !== 'local' || !signInLinks) {
      await noteRefusal(request, 'local', 'not_local')
      return 'a key is needed to sign in here'
    }
    if (link === undefined) {
      await noteRefusal(request, 'local', 'no_link')
      return `a sign-in link is needed: ${HOW_TO_GET_A_LINK}`
    }
    const refusal = signInLinks.redeem(link)
    if (refusal === undefined) return undefined
    await noteRefusal(request, 'local', refusal)
    return `${LINK_REFUSALS[refusal]}; ${HOW_TO_GET_A_LINK}`
  }

  app.get(
    '/api/me',
    {
      ...PUBLIC,
      schema: { operationId: 'getMe', summary: 'Report who is signed in, and how to sign in here', tags, response: { 200: Me } },
    },
    async (request) => ({
      principal: request.principal ?? null,
      signIn: wayOf(request),
      ...kept,
    }),
  )

  app.post(
    '/api/sign-in',
    {
      ...PUBLIC,
      schema: {
        operationId: 'signIn',
        summary: 'Sign in at the console with a key or a link',
        tags,
        body: SignInBody,
        response: { 200: Me },
      },
    },
    async (request, reply) => {
      requireSameOrigin(request, publicUrl)
      const { key, link } = request.body
      const signIn = wayOf(request)
      if (key === undefined) {
        const refusal = await whyNotLocal(request, signIn, link)
        if (refusal !== undefined) throw new CountersignError('unauthenticated', refusal)
        const principal = directory.localPerson
        await begin(request, reply, { principal, how: 'local' })
        return { principal, signIn, ...kept }
      }
      const principal = await directory.byKey(key)
      if (!principal) {
        await noteRefusal(request, 'key', 'unknown')
        throw new CountersignError('unauthenticated', 'this key is not known here')
      }
      if (principal.kind !== 'person')
        throw new CountersignError('forbidden', 'the console is for persons; this key belongs to an agent or a service')
      requireOwnSignIn(principal, 'sign in at the console')
      await begin(request, reply, { principal, how: 'key', keyHash: hashOf(key) })
      return { principal, signIn, ...kept }
    },
  )

  app.post(
    '/api/sign-out',
    {
      ...PUBLIC,
      schema: { operationId: 'signOut', summary: 'Sign out of the console', tags, body: SignOutBody, response: { 200: SignedOut } },
    },
    async (request, reply) => {
      requireSameOrigin(request, publicUrl)
      const session = request.consoleSession
      request.consoleSession = undefined
      consoleCredential.clear(request, reply)
      if (!session) return {}
      const { idToken } = await consoleSessions.end(session, request.body.everywhere)
      if (idToken === undefined || !signInService) return {}
      // The session has ended here whether or not the service can be reached.
      const endSessionUrl = await signInService.endSessionUrl(idToken, `${addressOf(request)}/`).catch(() => undefined)
      return endSessionUrl === undefined ? {} : { endSessionUrl }
    },
  )

  const addressOf = (request: FastifyRequest): string => publicUrl ?? new URL(request.headers.origin ?? '').origin

  const service = () => {
    if (signInService) return signInService
    throw new CountersignError('not_found', 'there is no sign-in service here')
  }

  app.post(
    '/api/sign-in/oidc',
    {
      ...PUBLIC,
      schema: {
        operationId: 'beginOidcSignIn',
        summary: 'Begin a sign-in with the sign-in service',
        errors: ['not_found'],
        tags,
        body: BeginBody,
        response: { 200: Begun },
      },
    },
    async (request, reply) => {
      requireSameOrigin(request, publicUrl)
      limits.countAttempt(request.ip)
      const { url, sealed } = await service().begin(`${addressOf(request)}/sign-in/callback`, request.body.returnTo)
      // Over plain http a server at another port could read a cookie, or plant one of its own sign-in.
      if (!takesCookies(request, publicUrl)) return { url, begun: sealed }
      begunCookie.set(request, reply, sealed, SIGN_IN_SECONDS)
      return { url }
    },
  )

  // The service redirects the browser to a page of the console, which changes nothing; the page then sends this request. So the cookies
  // stay hidden from every other site, and a program that follows links consumes nothing.
  app.post(
    '/api/sign-in/oidc/finish',
    {
      ...PUBLIC,
      schema: {
        operationId: 'finishOidcSignIn',
        summary: 'Finish a sign-in with the sign-in service',
        errors: ['not_found'],
        tags,
        body: FinishBody,
        response: { 200: Me.extend({ returnTo: z.string() }) },
      },
    },
    async (request, reply) => {
      requireSameOrigin(request, publicUrl)
      limits.countAttempt(request.ip)
      const hasCookies = takesCookies(request, publicUrl)
      const sealed = hasCookies ? begunCookie.read(request) : request.body.begun
      if (hasCookies) begunCookie.clear(request, reply)
      const { principal, idToken, returnTo } = await service().finish(request.body.answer, sealed)
      await begin(request, reply, { principal, how: 'oidc', idToken })
      return { principal, signIn: 'oidc' as const, ...kept, returnTo }
    },
  )
}
