import { type ErrorCode, isCountersignError } from '@countersign/core'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type Refusal, type Refusals, SYSTEM } from '../audit/index.ts'

const READS = new Set(['GET', 'HEAD', 'OPTIONS'])

/** What says that somebody tried to do what they may not. `not_found` is what one is told of an action that one may not see. */
const REFUSALS = new Set<ErrorCode>(['unauthenticated', 'forbidden', 'not_found'])

function refusalOf(request: FastifyRequest, error: Error): Refusal | undefined {
  const { method, url, ip, principal, routeOptions } = request
  if (READS.has(method) || !isCountersignError(error) || !REFUSALS.has(error.code)) return undefined
  // An address that does not exist is a slip of the pen, and nobody's id is looked for without a name.
  if (routeOptions.url === undefined || (error.code === 'not_found' && !principal)) return undefined
  // Signing in notes a wrong key or link itself, with how it was tried. A request that names a wrong key in its head never gets so far.
  const isTooEarly = request.headers.authorization !== undefined && !principal
  if (routeOptions.url === '/api/sign-in' && error.code === 'unauthenticated' && !isTooEarly) return undefined
  const path = (url.split('?')[0] ?? '').slice(0, 300)
  const route = `${method} ${routeOptions.url}`
  return {
    actor: principal?.id ?? SYSTEM,
    data: { route, path, code: error.code, why: error.message.slice(0, 300), address: ip },
    sameAs: [route, principal ? path : ip],
  }
}

/**
 * Has each try to change something written down that this application refuses because of who asked, and the last ones when it closes. What
 * only wanted to read is left out.
 */
export function recordRefusals(app: FastifyInstance, { refusals }: { refusals: Refusals }): void {
  app.addHook('onError', async (request, _reply, error) => {
    const refusal = refusalOf(request, error)
    if (refusal) refusals.note(refusal)
  })
  app.addHook('onClose', () => refusals.flush())
}
