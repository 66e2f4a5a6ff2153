import { CountersignError } from '@countersign/core'
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { requireOwnSignIn, requireScope } from '../gate/index.ts'
import { PUBLIC } from '../identity/access.ts'
import { requireSameOrigin, unknownKey } from '../identity/authenticate.ts'
import type { BeginSession } from '../identity/console-sessions.ts'
import { hashOf } from '../identity/keys.ts'
import type { LinkRefusal } from '../identity/sign-in-links.ts'
import type { App, HttpDeps } from './app.ts'
import { beginSignIn, consoleAddressOf, Me, pagesOf, type SignInWay } from './begin-sign-in.ts'
import { oidcSignInRoutes } from './oidc-sign-in.ts'

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
const TAGS = ['identity']

const LINK_REFUSALS: Record<LinkRefusal, string> = {
  used: 'this sign-in link was used already',
  expired: 'this sign-in link has expired',
  unknown: 'this sign-in link is not valid here: it is incomplete, or the server was started again since it was made',
}
const HOW_TO_GET_A_LINK = 'run `countersign sign-in` on the machine of the server to get a new link'

const LOOPBACK = new Set(['127.0.0.1', '::1', '::ffff:127.0.0.1'])
const FORWARDED = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip']

/** Registers the routes that sign people in and out, and that report who is signed in. */
export function identityRoutes(app: App, deps: HttpDeps): void {
  getMeRoute(app, deps)
  signInRoute(app, deps)
  signOutRoute(app, deps)
  oidcSignInRoutes(app, deps)
}

function getMeRoute(app: App, deps: HttpDeps): void {
  app.get(
    '/api/me',
    {
      ...PUBLIC,
      schema: { operationId: 'getMe', summary: 'Report who is signed in, and how to sign in here', tags: TAGS, response: { 200: Me } },
    },
    async (request) => ({ principal: request.principal ?? null, signIn: wayOf(deps, request), ...pagesOf(deps) }),
  )
}

function signInRoute(app: App, deps: HttpDeps): void {
  app.post(
    '/api/sign-in',
    {
      ...PUBLIC,
      schema: {
        operationId: 'signIn',
        summary: 'Sign in at the console with a key or a link',
        tags: TAGS,
        body: SignInBody,
        response: { 200: Me },
      },
    },
    async (request, reply) => {
      requireSameOrigin(request, deps.publicUrl)
      const { key, link } = request.body
      const signIn = wayOf(deps, request)
      const session = key === undefined ? await signInHere(deps, request, link) : await signInByKey(deps, request, key)
      await beginSignIn(deps, request, reply, session)
      return { principal: session.principal, signIn, ...pagesOf(deps) }
    },
  )
}

function signOutRoute(app: App, deps: HttpDeps): void {
  const { consoleSessions, consoleCredential, signInService, publicUrl } = deps
  app.post(
    '/api/sign-out',
    {
      ...PUBLIC,
      schema: { operationId: 'signOut', summary: 'Sign out of the console', tags: TAGS, body: SignOutBody, response: { 200: SignedOut } },
    },
    async (request, reply) => {
      requireSameOrigin(request, publicUrl)
      const session = request.consoleSession
      const { everywhere } = request.body
      // A key that only asks must not silence the person who decides about it.
      if (session && everywhere) requireScope(session.principal, ['decide'], 'sign its person out everywhere')
      request.consoleSession = undefined
      // Alone, also when it cannot be stored: a person who signs out must not stay signed in on this browser. Whoever means every browser
      // tries again with this sign-in.
      if (!everywhere) consoleCredential.clear(request, reply)
      const ended = session && (await consoleSessions.end(session, everywhere))
      if (everywhere) consoleCredential.clear(request, reply)
      const idToken = ended?.idToken
      if (idToken === undefined || !signInService) return {}
      // The session has ended here whether or not the service can be reached.
      const endSessionUrl = await signInService.endSessionUrl(idToken, `${consoleAddressOf(deps, request)}/`).catch(() => undefined)
      return endSessionUrl === undefined ? {} : { endSessionUrl }
    },
  )
}

const wayOf = ({ signInService, signInLinks }: HttpDeps, request: FastifyRequest): SignInWay =>
  signInService ? 'oidc' : signInLinks && isLocal(request) ? 'local' : 'key'

/** @throws CountersignError `unauthenticated` when the request does not come from the person at this machine. */
async function signInHere(deps: HttpDeps, request: FastifyRequest, link: string | undefined): Promise<BeginSession> {
  const refusal = await whyNotLocal(deps, request, link)
  if (refusal !== undefined) throw new CountersignError('unauthenticated', refusal)
  return { principal: deps.directory.localPerson, how: 'local' }
}

/** @throws CountersignError `unauthenticated` for an unknown key, `forbidden` for the key of a program or for one that is lent. */
async function signInByKey(deps: HttpDeps, request: FastifyRequest, key: string): Promise<BeginSession> {
  const keyHash = hashOf(key)
  const principal = await deps.directory.byHash(keyHash)
  if (!principal) {
    await noteRefusal(deps, request, { how: 'key', reason: 'unknown' })
    throw await unknownKey(deps.directory, key)
  }
  if (principal.kind !== 'person')
    throw new CountersignError('forbidden', 'the console is for persons; this key belongs to an agent or a service')
  requireOwnSignIn(principal, 'sign in at the console')
  return { principal, how: 'key', keyHash }
}

/**
 * Returns why a request does not come from the person at this machine. A local connection is no proof: every agent with a shell has one.
 */
async function whyNotLocal(deps: HttpDeps, request: FastifyRequest, link: string | undefined): Promise<string | undefined> {
  const { signInLinks } = deps
  if (wayOf(deps, request) !== 'local' || !signInLinks) {
    await noteRefusal(deps, request, { how: 'local', reason: 'not_local' })
    return 'a key is needed to sign in here'
  }
  if (link === undefined) {
    await noteRefusal(deps, request, { how: 'local', reason: 'no_link' })
    return `a sign-in link is needed: ${HOW_TO_GET_A_LINK}`
  }
  const refusal = signInLinks.redeem(link)
  if (refusal === undefined) return undefined
  await noteRefusal(deps, request, { how: 'local', reason: refusal })
  return `${LINK_REFUSALS[refusal]}; ${HOW_TO_GET_A_LINK}`
}

function noteRefusal(
  { limits, refusedSignIns }: HttpDeps,
  { ip }: FastifyRequest,
  refusal: { how: 'local' | 'key'; reason: string },
): Promise<void> {
  limits.countAttempt(ip)
  return refusedSignIns.note({ ...refusal, address: ip })
}

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
