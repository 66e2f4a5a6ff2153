import { CountersignError } from '@countersign/core'
import { z } from 'zod'
import { PUBLIC } from '../identity/access.ts'
import { requireSameOrigin } from '../identity/authenticate.ts'
import { createCookie, takesCookies } from '../identity/cookie.ts'
import { SIGN_IN_SECONDS } from '../identity/sign-in-time.ts'
import { principals } from '../store/index.ts'
import type { App, HttpDeps } from './app.ts'
import { beginSignIn, consoleAddressOf, Me, pagesOf } from './begin-sign-in.ts'

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

/** Registers the routes of a sign-in with the sign-in service. */
export function oidcSignInRoutes(app: App, deps: HttpDeps): void {
  const { signInService, publicUrl, limits } = deps
  const tags = ['identity']
  const begunCookie = createCookie('countersign_sign_in', publicUrl)

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
      const { url, sealed } = await service().begin(`${consoleAddressOf(deps, request)}/sign-in/callback`, request.body.returnTo)
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
      await beginSignIn(deps, request, reply, { principal, how: 'oidc', idToken })
      // With the roles that were given here, which the service does not know.
      const stored = await deps.store.read(() => principals.principalById(principal.id))
      return { principal: stored, signIn: 'oidc' as const, ...pagesOf(deps), returnTo }
    },
  )
}
