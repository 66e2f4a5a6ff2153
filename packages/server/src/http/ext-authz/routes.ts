import { type CountersignError, isCountersignError } from '@countersign/core'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { whenDelivered } from '../../gateway/exchange.ts'
import { callerOf } from '../../identity/authenticate.ts'
import type { App, HttpDeps } from '../app.ts'
import { hasHungUp, sendProblem } from '../errors.ts'
import { skipBody } from '../intake.ts'
import type { Passed } from './authorize.ts'
import { ENDPOINT, KEY_HEADER } from './endpoint.ts'
import { refused } from './refusals.ts'

/** The arguments of a tool are no longer than this. */
const MAX_BODY_BYTES = 256 * 1024

/**
 * Registers the endpoint for gateways that ask about each HTTP request: Envoy's `ext_authz`, nginx's `auth_request`. 200 lets the request pass,
 * and is said of nothing else. Everything that is not allowed is 403, also what fails here: a gateway may be set to let requests pass while
 * the server that it asks is in trouble.
 */
export function extAuthzRoutes(app: App, deps: HttpDeps): void {
  app.register(
    async (scope) => {
      const results = new Map<string, Promise<unknown>>()
      scope.addHook('onClose', () => Promise.all(results.values()))
      scope.setErrorHandler(refuse)
      scope.setNotFoundHandler((request, reply) => refuse(refused(`${request.method} requests do not pass here`), request, reply))
      scope.removeAllContentTypeParsers()
      scope.addContentTypeParser(
        '*',
        { parseAs: 'buffer', bodyLimit: MAX_BODY_BYTES },
        async (_request: FastifyRequest, body: Buffer) => body,
      )
      scope.all(
        '',
        {
          config: { right: 'agent', keyHeader: KEY_HEADER, anyBody: true },
          bodyLimit: MAX_BODY_BYTES,
          schema: { hide: true, summary: 'Let a request pass' },
        },
        async (request, reply) => {
          if (deps.hold.why !== undefined) throw refused(`this server is held: ${deps.hold.why}`)
          const { once: _, ...caller } = callerOf(request)
          // Few servers stand behind a gateway: the others start without this.
          const [{ authorize }, { readHeldRequest }] = await Promise.all([import('./authorize.ts'), import('./read-request.ts')])
          const delivered = whenDelivered(reply)
          const asking = { isGone: () => request.raw.socket.destroyed, results }
          const passed = await authorize(deps, readHeldRequest(request), { ...caller, signIn: `${caller.signIn}, gateway` }, asking)
          // After one turn of the event loop it is known whether the gateway hung up meanwhile.
          await new Promise((done) => setImmediate(done))
          results.set(
            passed.actionId,
            report(passed, delivered, request).finally(() => results.delete(passed.actionId)),
          )
          return reply.code(200).header('countersign-action', passed.actionId).send()
        },
      )
    },
    { prefix: ENDPOINT },
  )
}

/**
 * Stores that the gateway has the answer. A gateway that was gone before passes nothing on: that action stays without a result, until its time
 * is over and a person settles it.
 */
async function report(passed: Passed, delivered: Promise<boolean>, { log }: FastifyRequest): Promise<void> {
  try {
    if (await delivered) await passed.report()
    else log.warn({ actionId: passed.actionId }, 'ext_authz.gateway_gone')
  } catch (error) {
    log.error({ actionId: passed.actionId, error }, 'ext_authz.not_recorded')
  }
}

/** Every error is a refusal. Details that nobody outside should read go to the log. */
function refuse(error: FastifyError | Error, request: FastifyRequest, reply: FastifyReply): void {
  const isTooLarge = 'code' in error && error.code === 'FST_ERR_CTP_BODY_TOO_LARGE'
  const said = isTooLarge
    ? refused('the body is larger than 256 KB')
    : (asRefusal(error) ?? refused('Countersign failed while it looked at this request'))
  if (!isTooLarge && asRefusal(error) === undefined && !hasHungUp(request)) request.log.error({ error }, 'ext_authz.failed')
  const { actionId, decideAt } = said.extra
  if (typeof actionId === 'string') reply.header('countersign-action', actionId)
  if (typeof decideAt === 'string') reply.header('countersign-decide-at', decideAt)
  if (isTooLarge) skipBody(request.raw, () => sendProblem(reply, said))
  else sendProblem(reply, said)
}

function asRefusal(error: Error): CountersignError | undefined {
  if (!isCountersignError(error) || error.code === 'internal') return undefined
  if (error.code === 'forbidden') return error
  const { retryAfterSeconds } = error.extra
  return refused(error.message, { retryAfterSeconds })
}
