import { Principal } from '@countersign/core'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { BeginSession } from '../identity/console-sessions.ts'
import type { HttpDeps } from './app.ts'

export const SignInWay = z.enum(['local', 'key', 'oidc'])
export type SignInWay = z.infer<typeof SignInWay>

/** `objectives`: there are tools for objectives, so the console has a page for them. */
export const Me = z.object({ principal: Principal.nullable(), signIn: SignInWay, objectives: z.literal(true).optional() })

/** Begins a session of the console for a person who has signed in. */
export async function beginSignIn(
  { consoleSessions, consoleCredential, sessionLimits }: HttpDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  session: Omit<BeginSession, 'replaces'>,
): Promise<void> {
  // A new secret at every sign-in: one that was planted in the browser before becomes worthless.
  const secret = await consoleSessions.begin({ ...session, replaces: consoleCredential.read(request) })
  request.consoleSession = undefined
  consoleCredential.set(request, reply, secret, sessionLimits.maxMs / 1_000)
}

/** Returns the pages of the console that depend on the configuration. */
export const pagesOf = ({ keepsObjectives }: Pick<HttpDeps, 'keepsObjectives'>): { objectives?: true } =>
  keepsObjectives ? { objectives: true } : {}

/** Returns the address at which the browser of a request finds the console. */
export const consoleAddressOf = ({ publicUrl }: Pick<HttpDeps, 'publicUrl'>, request: FastifyRequest): string =>
  publicUrl ?? new URL(request.headers.origin ?? '').origin
