import { Grant, GrantBody, GrantList, GrantListQuery, GrantSuggestion } from '@countersign/core'
import { findVisibleGrant, seesEveryGrant, viewGrant } from '../gate/index.ts'
import { callerOf } from '../identity/authenticate.ts'
import { grants, mapInTurn } from '../store/index.ts'
import type { App, HttpDeps } from './app.ts'
import { pageById } from './page.ts'
import { IdParams, taggedRoute } from './route.ts'

const route = taggedRoute('grants')

/** Registers the routes for grants: recorded approvals of later calls. */
export function grantRoutes(app: App, { store, clock, gate }: HttpDeps): void {
  app.get(
    '/api/grants',
    route('person', {
      operationId: 'listGrants',
      summary: 'List the grants you may see',
      errors: ['forbidden'],
      querystring: GrantListQuery,
      response: { 200: GrantList },
    }),
    (request) => {
      const { principal } = callerOf(request)
      const { session, agent, state } = request.query
      const page = pageById('grants', request.query)
      const nowMs = clock.nowMs()
      return store.read(function* () {
        const found = yield* grants.listGrants({
          session,
          agent,
          madeBy: seesEveryGrant(principal) ? undefined : principal.id,
          standingAt: state === undefined ? undefined : nowMs,
          ...page.range,
        })
        const { items, nextCursor } = page.of(found)
        return { items: yield* mapInTurn(items, (row) => viewGrant(row, nowMs)), nextCursor }
      })
    },
  )
  app.get(
    '/api/grants/:id',
    route('by-object', { operationId: 'getGrant', summary: 'Read a grant', params: IdParams, response: { 200: Grant } }),
    (request) => {
      const caller = callerOf(request)
      return store.read(function* () {
        return yield* viewGrant(yield* findVisibleGrant(request.params.id, caller), clock.nowMs())
      })
    },
  )
  app.post(
    '/api/grants',
    route('by-object', {
      operationId: 'createGrant',
      summary: 'Allow later calls like an action',
      errors: ['not_found', 'gone', 'illegal_transition', 'revision_mismatch'],
      body: GrantBody,
      response: { 201: Grant },
    }),
    (request) => gate.createGrant(request.body, callerOf(request)),
  )
  app.delete(
    '/api/grants/:id',
    route('by-object', { operationId: 'revokeGrant', summary: 'Revoke a grant', params: IdParams, response: { 200: Grant } }),
    (request) => gate.revokeGrant(request.params.id, callerOf(request)),
  )
  app.get(
    '/api/actions/:id/suggestion',
    route('by-object', {
      operationId: 'suggestGrant',
      summary: 'Suggest a grant for calls like an action',
      params: IdParams,
      response: { 200: GrantSuggestion },
    }),
    (request) => gate.suggestGrant(request.params.id, callerOf(request)),
  )
}
