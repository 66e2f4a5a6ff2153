import { Action, AssignBody, DecisionBody, DecisionsAnswer, DecisionsBody, SeenAnswer, SeenBody, WithdrawBody } from '@countersign/core'
import { z } from 'zod'
import { callerOf } from '../identity/authenticate.ts'
import type { App, HttpDeps } from './app.ts'
import { DECISION_ERRORS } from './docs/index.ts'

const Params = z.object({ id: z.string().max(100) })

const TAGS = ['actions']

/** Registers the routes that decide about actions and change them. */
export function actionChangeRoutes(app: App, deps: HttpDeps): void {
  decideActionRoute(app, deps)
  refreshPreviewRoute(app, deps)
  decideActionsRoute(app, deps)
  undoApprovalRoute(app, deps)
  extendDeadlineRoute(app, deps)
  assignActionRoute(app, deps)
  markSeenRoute(app, deps)
  withdrawActionRoute(app, deps)
  retryActionRoute(app, deps)
}

function decideActionRoute(app: App, { gate }: HttpDeps): void {
  app.post(
    '/api/actions/:id/decision',
    {
      config: { right: 'by-object' },
      schema: {
        operationId: 'decideAction',
        summary: 'Approve or decline an action',
        errors: DECISION_ERRORS,
        tags: TAGS,
        params: Params,
        body: DecisionBody,
        response: { 200: Action },
      },
    },
    (request) => gate.decide(request.params.id, request.body, callerOf(request)),
  )
}

function refreshPreviewRoute(app: App, { gate }: HttpDeps): void {
  app.post(
    '/api/actions/:id/preview',
    {
      config: { right: 'by-object' },
      schema: {
        operationId: 'refreshPreview',
        summary: 'Read again what a waiting action would change',
        errors: ['gone', 'illegal_transition', 'busy'],
        tags: TAGS,
        params: Params,
        response: { 200: Action },
      },
    },
    (request) => gate.refresh(request.params.id, callerOf(request)),
  )
}

function decideActionsRoute(app: App, { gate }: HttpDeps): void {
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
}

function undoApprovalRoute(app: App, { gate }: HttpDeps): void {
  app.post(
    '/api/actions/:id/undo',
    {
      config: { right: 'by-object' },
      schema: {
        operationId: 'undoApproval',
        summary: 'Take an approval back during its grace period',
        errors: ['gone', 'illegal_transition', 'busy'],
        tags: TAGS,
        params: Params,
        response: { 200: Action },
      },
    },
    (request) => gate.undo(request.params.id, callerOf(request)),
  )
}

function extendDeadlineRoute(app: App, { gate }: HttpDeps): void {
  app.post(
    '/api/actions/:id/extend',
    {
      config: { right: 'by-object' },
      schema: {
        operationId: 'extendDeadline',
        summary: 'Extend the deadline of a waiting action, once',
        errors: ['gone', 'illegal_transition', 'busy'],
        tags: TAGS,
        params: Params,
        response: { 200: Action },
      },
    },
    (request) => gate.extend(request.params.id, callerOf(request)),
  )
}

function assignActionRoute(app: App, { gate }: HttpDeps): void {
  app.post(
    '/api/actions/:id/assign',
    {
      config: { right: 'by-object' },
      schema: {
        operationId: 'assignAction',
        summary: 'Say who should decide about an action',
        errors: ['forbidden', 'gone', 'illegal_transition'],
        tags: TAGS,
        params: Params,
        body: AssignBody,
        response: { 200: Action },
      },
    },
    (request) => gate.assign(request.params.id, request.body, callerOf(request)),
  )
}

function markSeenRoute(app: App, { gate }: HttpDeps): void {
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
}

function withdrawActionRoute(app: App, { gate }: HttpDeps): void {
  app.post(
    '/api/actions/:id/withdraw',
    {
      config: { right: 'by-object' },
      schema: {
        operationId: 'withdrawAction',
        summary: 'Take back an action that you proposed',
        errors: ['gone', 'illegal_transition', 'busy'],
        tags: TAGS,
        params: Params,
        body: WithdrawBody,
        response: { 200: Action },
      },
    },
    (request) => gate.withdraw(request.params.id, request.body, callerOf(request)),
  )
}

function retryActionRoute(app: App, { gate }: HttpDeps): void {
  app.post(
    '/api/actions/:id/retry',
    {
      config: { right: 'by-object' },
      schema: {
        operationId: 'retryAction',
        summary: 'Run a failed action again',
        errors: ['gone', 'illegal_transition', 'busy', 'stale_preview'],
        tags: TAGS,
        params: Params,
        response: { 200: Action },
      },
    },
    (request) => gate.retry(request.params.id, callerOf(request)),
  )
}
