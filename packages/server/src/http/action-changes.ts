import { Action, AssignBody, DecisionBody, DecisionsAnswer, DecisionsBody, SeenAnswer, SeenBody, WithdrawBody } from '@countersign/core'
import type { FastifySchema } from 'fastify'
import { z } from 'zod'
import { callerOf } from '../identity/authenticate.ts'
import type { App, HttpDeps } from './app.ts'
import { DECISION_ERRORS } from './docs/index.ts'

const TAGS = ['actions']
const Params = z.object({ id: z.string().max(100) })
const MOVED = ['gone', 'illegal_transition', 'busy'] as const

/** A route that changes the action of its path, and answers it. */
const change = <const Schema extends FastifySchema>(schema: Schema) => ({
  config: { right: 'by-object' as const },
  schema: { tags: TAGS, params: Params, response: { 200: Action }, ...schema },
})

/** Registers the routes that decide about actions and change them. */
export function actionChangeRoutes(app: App, { gate }: HttpDeps): void {
  app.post(
    '/api/actions/:id/decision',
    change({ operationId: 'decideAction', summary: 'Approve or decline an action', errors: DECISION_ERRORS, body: DecisionBody }),
    (request) => gate.decide(request.params.id, request.body, callerOf(request)),
  )
  app.post(
    '/api/actions/:id/preview',
    change({ operationId: 'refreshPreview', summary: 'Read again what a waiting action would change', errors: MOVED }),
    (request) => gate.refresh(request.params.id, callerOf(request)),
  )
  app.post(
    '/api/actions/decisions',
    {
      config: { right: 'by-object' },
      schema: {
        operationId: 'decideActions',
        summary: 'Decide many actions, each on its own',
        tags: TAGS,
        body: DecisionsBody,
        response: { 200: DecisionsAnswer },
      },
    },
    (request) => gate.decideMany(request.body, callerOf(request)),
  )
  app.post(
    '/api/actions/:id/undo',
    change({ operationId: 'undoApproval', summary: 'Take an approval back during its grace period', errors: MOVED }),
    (request) => gate.undo(request.params.id, callerOf(request)),
  )
  app.post(
    '/api/actions/:id/extend',
    change({ operationId: 'extendDeadline', summary: 'Extend the deadline of a waiting action, once', errors: MOVED }),
    (request) => gate.extend(request.params.id, callerOf(request)),
  )
  app.post(
    '/api/actions/:id/assign',
    change({
      operationId: 'assignAction',
      summary: 'Say who should decide about an action',
      errors: ['forbidden', 'gone', 'illegal_transition'],
      body: AssignBody,
    }),
    (request) => gate.assign(request.params.id, request.body, callerOf(request)),
  )
  app.post(
    '/api/actions/:id/seen',
    {
      config: { right: 'decide' },
      schema: {
        operationId: 'markSeen',
        summary: 'Say that you have had an action on your screen, and read who has',
        errors: ['already_decided', 'revision_mismatch', 'gone'],
        tags: TAGS,
        params: Params,
        body: SeenBody,
        response: { 200: SeenAnswer },
      },
    },
    (request) => gate.markSeen(request.params.id, request.body, callerOf(request)),
  )
  app.post(
    '/api/actions/:id/withdraw',
    change({ operationId: 'withdrawAction', summary: 'Take back an action that you proposed', errors: MOVED, body: WithdrawBody }),
    (request) => gate.withdraw(request.params.id, request.body, callerOf(request)),
  )
  app.post(
    '/api/actions/:id/retry',
    change({ operationId: 'retryAction', summary: 'Run a failed action again', errors: [...MOVED, 'stale_preview'] }),
    (request) => gate.retry(request.params.id, callerOf(request)),
  )
}
