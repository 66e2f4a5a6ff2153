import { Action, ResolveBody } from '@countersign/core'
import { z } from 'zod'
import { callerOf } from '../identity/authenticate.ts'
import type { App, HttpDeps } from './app.ts'

const Params = z.object({ id: z.string().max(100) })

/** Registers the routes with which persons settle actions whose outcome is unknown. */
export function outcomeRoutes(app: App, { gate }: Pick<HttpDeps, 'gate'>): void {
  const tags = ['actions']

  app.post(
    '/api/actions/:id/resolve',
    {
      config: { right: 'by-object' },
      schema: {
        operationId: 'resolveAction',
        summary: 'Settle an action whose outcome is unknown',
        errors: ['gone', 'illegal_transition', 'busy'],
        tags,
        params: Params,
        body: ResolveBody,
        response: { 200: Action },
      },
    },
    (request) => gate.resolve(request.params.id, request.body, callerOf(request)),
  )

  app.post(
    '/api/actions/:id/verify',
    {
      config: { right: 'by-object' },
      schema: {
        operationId: 'verifyAction',
        summary: 'Let the tool find out an unknown outcome',
        errors: ['gone', 'illegal_transition', 'busy'],
        tags,
        params: Params,
        response: { 200: Action },
      },
    },
    (request) => gate.verify(request.params.id, callerOf(request)),
  )
}
