import { CountersignError, Grant, GrantBody, GrantList, GrantListQuery, GrantSuggestion } from '@countersign/core'
import { z } from 'zod'
import { findVisibleGrant, seesEveryGrant, viewGrant } from '../gate/index.ts'
import { callerOf } from '../identity/authenticate.ts'
import { grants } from '../store/index.ts'
import type { App, HttpDeps } from './app.ts'
import { decodeCursor, pageOf } from './page.ts'

const Params = z.object({ id: z.string().max(100) })

/** Registers the routes for grants: recorded approvals of later calls. */
export function grantRoutes(app: App, { store, gate, clock }: HttpDeps): void {
  const tags = ['grants']

  app.get(
    '/api/grants',
    {
      schema: {
        operationId: 'listGrants',
        summary: 'List the grants you may see',
        errors: ['forbidden'],
        tags,
        querystring: GrantListQuery,
        response: { 200: GrantList },
      },
    },
    (request) => {
      const { principal } = callerOf(request)
      if (principal.kind !== 'person') throw new CountersignError('forbidden', 'grants are for persons to see')
      const { limit, cursor, session, agent, state } = request.query
      const place = decodeCursor(cursor, ['string'])
      const nowMs = clock.nowMs()
      return store.read(function* () {
        const found = yield* grants.listGrants({
          session,
          agent,
          madeBy: seesEveryGrant(principal) ? undefined : principal.id,
          standingAt: state === undefined ? undefined : nowMs,
          before: place && String(place[0]),
          limit: limit + 1,
        })
        const { rows, nextCursor } = pageOf(found, limit, (row) => [row.id])
        const items: Grant[] = []
        for (const row of rows) items.push(yield* viewGrant(row, nowMs))
        return { items, nextCursor }
      })
    },
  )

  app.get(
    '/api/grants/:id',
    { schema: { operationId: 'getGrant', summary: 'Read a grant', tags, params: Params, response: { 200: Grant } } },
    (request) => {
      const caller = callerOf(request)
      return store.read(function* () {
        return yield* viewGrant(yield* findVisibleGrant(request.params.id, caller), clock.nowMs())
      })
    },
  )

  app.post(
    '/api/grants',
    {
      schema: {
        operationId: 'createGrant',
        summary: 'Allow later calls like an action',
        errors: ['not_found', 'gone', 'illegal_transition'],
        tags,
        body: GrantBody,
        response: { 201: Grant },
      },
    },
    async (request, reply) => {
      const grant = await gate.createGrant(request.body, callerOf(request))
      reply.code(201)
      return grant
    },
  )

  app.delete(
    '/api/grants/:id',
    { schema: { operationId: 'revokeGrant', summary: 'Revoke a grant', tags, params: Params, response: { 200: Grant } } },
    (request) => gate.revokeGrant(request.params.id, callerOf(request)),
  )

  app.get(
    '/api/actions/:id/suggestion',
    {
      schema: {
        operationId: 'suggestGrant',
        summary: 'Suggest a grant for calls like an action',
        tags,
        params: Params,
        response: { 200: GrantSuggestion },
      },
    },
    (request) => gate.suggestGrant(request.params.id, callerOf(request)),
  )
}
