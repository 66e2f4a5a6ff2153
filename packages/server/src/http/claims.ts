import { Action, Claim, ClaimBody, ClientResultBody } from '@countersign/core'
import { z } from 'zod'
import { callerOf } from '../identity/authenticate.ts'
import type { App, HttpDeps } from './app.ts'

const Params = z.object({ id: z.string().max(100) })

/** Registers the routes of clients that execute approved actions themselves. */
export function claimRoutes(app: App, { gate }: Pick<HttpDeps, 'gate'>): void {
  const tags = ['actions']

  app.post(
    '/api/actions/:id/claim',
    {
      config: { right: 'by-object' },
      schema: {
        operationId: 'claimAction',
        summary: 'Claim an approved action to carry it out yourself',
        errors: ['gone', 'illegal_transition', 'busy', 'stale_preview'],
        tags,
        params: Params,
        body: ClaimBody,
        response: { 200: Claim },
      },
    },
    (request) => gate.claim(request.params.id, request.body, callerOf(request)),
  )

  app.post(
    '/api/actions/:id/result',
    {
      config: { right: 'by-object' },
      schema: {
        operationId: 'reportResult',
        summary: 'Report the result of a claimed action',
        errors: ['gone', 'illegal_transition', 'busy'],
        tags,
        params: Params,
        body: ClientResultBody,
        response: { 200: Action },
      },
    },
    (request) => gate.takeClientResult(request.params.id, request.body, callerOf(request)),
  )
}
