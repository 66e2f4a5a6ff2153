import { type ErrorCode, isCountersignError } from '@countersign/core'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type Refusal, type Refusals, SYSTEM } from '../audit/index.ts'

const READS = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Codes of refused attempts. A caller gets `not_found` for an action that they may not see. */
const REFUSALS = new Set<ErrorCode>(['unauthenticated', 'forbidden', 'not_found'])

function refusalOf(request: FastifyRequest, error: Error): Refusal | undefined {
  const { method, url, ip, principal, routeOptions } = request
  if (READS.has(method) || !isCountersignError(error) || !REFUSALS.has(error.code)) return undefined
  // A URL that does not exist is a typo, and no id is looked up without a name.
  if (routeOptions.url === undefined || (error.code === 'not_found' && !principal)) return undefined
  // Sign-in itself records a wrong key or link, with the method. A request with a wrong key in its header never gets this far.
  const isTooEarly = request.headers.authorization !== undefined && !principal
  if (routeOptions.url === '/api/sign-in' && error.code === 'unauthenticated' && !isTooEarly) return undefined
  const path = (url.split('?')[0] ?? '').slice(0, 300)
  // The words of an action belong to its own rows alone, where a redaction takes them away.
  const { actionId, state } = error.extra
  const why = typeof actionId === 'string' ? `action ${actionId} is ${state}` : error.message.slice(0, 300)
  const route = `${method} ${routeOptions.url}`
  return {
    actor: principal?.id ?? SYSTEM,
    data: { route, path, code: error.code, why, address: ip },
    // With the reason, because it may be all that tells attempts apart: what they are about may stand in the body.
    sameAs: [route, principal ? path : ip, why],
  }
}

/**
 * Records each attempted change that this application refuses because of the caller, and flushes the last ones when it closes. Refused
 * reads are not recorded.
 */
export function recordRefusals(app: FastifyInstance, { refusals }: { refusals: Refusals }): void {
  app.addHook('onError', async (request, _reply, error) => {
    const refusal = refusalOf(request, error)
    if (refusal) refusals.note(refusal)
  })
  app.addHook('onClose', () => refusals.flush())
}
