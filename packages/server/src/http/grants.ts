import { Grant, GrantBody, GrantList, GrantListQuery, GrantSuggestion } from '@countersign/core'
import { z } from 'zod'
import { findVisibleGrant, seesEveryGrant, viewGrant } from '../gate/index.ts'
import { callerOf } from '../identity/authenticate.ts'
import { grants } from '../store/index.ts'
import type { App, HttpDeps } from './app.ts'
import { decodeCursor, pageOf } from './page.ts'

const Params = z.object({ id: z.string().max(100) })

const TAGS = ['grants']

/** Registers the routes for grants: recorded approvals of later calls. */
export function grantRoutes(app: App, deps: HttpDeps): void {
  listGrantsRoute(app, deps)
  getGrantRoute(app, deps)
  createGrantRoute(app, deps)
  revokeGrantRoute(app, deps)
  suggestGrantRoute(app, deps)
}

function listGrantsRoute(app: App, { store, clock }: HttpDeps): void {
  app.get(
    '/api/grants',
    {
      config: { right: 'person' },
      schema: {
        operationId: 'listGrants',
        summary: 'List the grants you may see',
        errors: ['forbidden'],
        tags: TAGS,
        querystring: GrantListQuery,
        response: { 200: GrantList },
      },
    },
    (request) => {
      const { principal } = callerOf(request)
      const { limit, cursor, session, agent, state } = request.query
      const place = decodeCursor('grants', cursor, ['string'])
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
        const { rows, nextCursor } = pageOf('grants', found, limit, (row) => [row.id])
        const items: Grant[] = []
        for (const row of rows) items.push(yield* viewGrant(row, nowMs))
        return { items, nextCursor }
      })
    },
  )
}

function getGrantRoute(app: App, { store, clock }: HttpDeps): void {
  app.get(
    '/api/grants/:id',
    {
      config: { right: 'by-object' },
      schema: { operationId: 'getGrant', summary: 'Read a grant', tags: TAGS, params: Params, response: { 200: Grant } },
    },
    (request) => {
      const caller = callerOf(request)
      return store.read(function* () {
        return yield* viewGrant(yield* findVisibleGrant(request.params.id, caller), clock.nowMs())
      })
    },
  )
}

function createGrantRoute(app: App, { gate }: HttpDeps): void {
  app.post(
    '/api/grants',
    {
      config: { right: 'by-object' },
      schema: {
        operationId: 'createGrant',
        summary: 'Allow later calls like an action',
        errors: ['not_found', 'gone', 'illegal_transition'],
        tags: TAGS,
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
}

function revokeGrantRoute(app: App, { gate }: HttpDeps): void {
  app.delete(
    '/api/grants/:id',
    {
      config: { right: 'by-object' },
      schema: { operationId: 'revokeGrant', summary: 'Revoke a grant', tags: TAGS, params: Params, response: { 200: Grant } },
    },
    (request) => gate.revokeGrant(request.params.id, callerOf(request)),
  )
}

function suggestGrantRoute(app: App, { gate }: HttpDeps): void {
  app.get(
    '/api/actions/:id/suggestion',
    {
      config: { right: 'by-object' },
      schema: {
        operationId: 'suggestGrant',
        summary: 'Suggest a grant for calls like an action',
        tags: TAGS,
        params: Params,
        response: { 200: GrantSuggestion },
      },
    },
    (request) => gate.suggestGrant(request.params.id, callerOf(request)),
  )
}
