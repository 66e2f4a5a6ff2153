import {
  Action,
  AssignBody,
  Claim,
  ClaimBody,
  ClientResultBody,
  DecisionBody,
  DecisionsAnswer,
  DecisionsBody,
  ResolveBody,
  SeenAnswer,
  SeenBody,
  WithdrawBody,
} from '@countersign/core'
import type { FastifySchema } from 'fastify'
import { callerOf } from '../identity/authenticate.ts'
import type { App, HttpDeps } from './app.ts'
import { DECISION_ERRORS } from './docs/index.ts'
import { IdParams, taggedRoute } from './route.ts'

const route = taggedRoute('actions')
const MOVED = ['gone', 'illegal_transition', 'busy'] as const

/** A route that changes the action of its path, and answers it. */
const change = <const Schema extends FastifySchema>(schema: Schema) =>
  route('by-object', { params: IdParams, response: { 200: Action }, ...schema })

/** Registers the routes that decide about actions and change them. */
export function actionChangeRoutes(app: App, deps: HttpDeps): void {
  decisionRoutes(app, deps)
  executionRoutes(app, deps)
}

function decisionRoutes(app: App, { gate }: HttpDeps): void {
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
    route('by-object', {
      operationId: 'decideActions',
      summary: 'Decide many actions, each on its own',
      body: DecisionsBody,
      response: { 200: DecisionsAnswer },
    }),
    (request) => gate.decideMany(request.body, callerOf(request)),
  )
  app.post(
    '/api/actions/:id/undo',
    change({ operationId: 'undoApproval', summary: 'Take an approval back before the action starts', errors: MOVED }),
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
    route('decide', {
      operationId: 'markSeen',
      summary: 'Say that you have had an action on your screen, and read who has',
      errors: ['already_decided', 'revision_mismatch', 'gone'],
      params: IdParams,
      body: SeenBody,
      response: { 200: SeenAnswer },
    }),
    (request) => gate.markSeen(request.params.id, request.body, callerOf(request)),
  )
  app.post(
    '/api/actions/:id/withdraw',
    change({ operationId: 'withdrawAction', summary: 'Take back an action before it starts', errors: MOVED, body: WithdrawBody }),
    (request) => gate.withdraw(request.params.id, request.body, callerOf(request)),
  )
}

/** Registers the routes that retry an action, settle an unknown outcome, and let clients claim an action and report its result. */
function executionRoutes(app: App, { gate }: HttpDeps): void {
  app.post(
    '/api/actions/:id/retry',
    change({ operationId: 'retryAction', summary: 'Run a failed action again', errors: [...MOVED, 'stale_preview'] }),
    (request) => gate.retry(request.params.id, callerOf(request)),
  )
  app.post(
    '/api/actions/:id/resolve',
    change({ operationId: 'resolveAction', summary: 'Settle an action whose outcome is unknown', errors: MOVED, body: ResolveBody }),
    (request) => gate.resolve(request.params.id, request.body, callerOf(request)),
  )
  app.post(
    '/api/actions/:id/verify',
    change({ operationId: 'verifyAction', summary: 'Let the tool find out an unknown outcome', errors: MOVED }),
    (request) => gate.verify(request.params.id, callerOf(request)),
  )
  app.post(
    '/api/actions/:id/claim',
    route('by-object', {
      operationId: 'claimAction',
      summary: 'Claim an approved action to carry it out yourself',
      errors: [...MOVED, 'stale_preview'],
      params: IdParams,
      body: ClaimBody,
      response: { 200: Claim },
    }),
    (request) => gate.claim(request.params.id, request.body, callerOf(request)),
  )
  app.post(
    '/api/actions/:id/result',
    change({ operationId: 'reportResult', summary: 'Report the result of a claimed action', errors: MOVED, body: ClientResultBody }),
    (request) => gate.takeClientResult(request.params.id, request.body, callerOf(request)),
  )
}
