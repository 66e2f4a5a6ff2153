import { CountersignError } from '@countersign/core'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { PUBLIC } from '../../identity/access.ts'
import { callerOf } from '../../identity/authenticate.ts'
import type { App, HttpDeps } from '../app.ts'
import { type Asker, evaluate, evaluateAll } from './evaluate.ts'
import { Decision, Decisions, Evaluation, Evaluations, Metadata } from './messages.ts'

const EVALUATION = '/access/v1/evaluation'
const EVALUATIONS = '/access/v1/evaluations'

/** Registers AuthZEN 1.0: gateways ask whether policy allows a call. An evaluation changes nothing. */
export function authzenRoutes(app: App, deps: HttpDeps): void {
  const tags = ['authzen']
  const baseUrlOf = ({ protocol, host }: FastifyRequest): string => deps.publicUrl ?? `${protocol}://${host}`

  const askerOf = (request: FastifyRequest): Asker => ({ principal: callerOf(request).principal, baseUrl: baseUrlOf(request) })

  app.get(
    '/.well-known/authzen-configuration',
    {
      ...PUBLIC,
      schema: { operationId: 'getAuthzenConfiguration', summary: 'Find the AuthZEN endpoints', tags, response: { 200: Metadata } },
    },
    async (request) => {
      const baseUrl = baseUrlOf(request)
      return {
        policy_decision_point: baseUrl,
        access_evaluation_endpoint: baseUrl + EVALUATION,
        access_evaluations_endpoint: baseUrl + EVALUATIONS,
      }
    },
  )

  app.post(
    EVALUATION,
    {
      onSend: repeatRequestId,
      config: { right: 'propose' },
      schema: {
        operationId: 'evaluateAccess',
        summary: 'Ask whether policy allows a call',
        tags,
        body: Evaluation,
        sends: ['X-Request-ID'],
        response: { 200: Decision },
      },
    },
    (request) => evaluate(deps, request.body, askerOf(request)),
  )

  app.post(
    EVALUATIONS,
    {
      onSend: repeatRequestId,
      config: { right: 'propose' },
      schema: {
        operationId: 'evaluateAccessToMany',
        summary: 'Ask whether policy allows several calls',
        tags,
        body: Evaluations,
        sends: ['X-Request-ID'],
        response: { 200: Decisions },
      },
    },
    async (request) => {
      const asker = askerOf(request)
      const { evaluations, ...only } = request.body
      if (evaluations !== undefined && evaluations.length > 0) return { evaluations: await evaluateAll(deps, request.body, asker) }
      const one = Evaluation.safeParse(only)
      if (!one.success) throw new CountersignError('bad_request', 'send evaluations, or subject, action and resource')
      return evaluate(deps, one.data, asker)
    },
  )
}

/** The specification wants the caller's identifier of the request in every answer to it, also in a refusal. */
async function repeatRequestId({ headers }: FastifyRequest, reply: FastifyReply): Promise<void> {
  const id = headers['x-request-id']
  if (typeof id === 'string' && id.length <= 200) reply.header('x-request-id', id)
}
