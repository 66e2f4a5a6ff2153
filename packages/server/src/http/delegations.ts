import { Delegation, DelegationBody, DelegationList, PageQuery, PeopleQuery, PersonList } from '@countersign/core'
import { delegationsSeenBy, isAdmin, isoTime, viewDelegation } from '../gate/index.ts'
import { callerOf } from '../identity/authenticate.ts'
import { delegations, mapInTurn, principals } from '../store/index.ts'
import type { App, HttpDeps } from './app.ts'
import { decodeCursor, pageById, pageOf } from './page.ts'
import { IdParams, taggedRoute } from './route.ts'

const route = taggedRoute('delegations')

/** Registers the routes for delegated votes, and for the people who can be named. Persons see and end their own delegations; admins all. */
export function delegationRoutes(app: App, { store, clock, gate }: HttpDeps): void {
  app.get(
    '/api/delegations',
    route('decide-lasting', {
      operationId: 'listDelegations',
      summary: 'List the delegations you may see',
      errors: ['forbidden'],
      querystring: PageQuery,
      response: { 200: DelegationList },
    }),
    (request) => {
      const personId = delegationsSeenBy(callerOf(request))
      const page = pageById('delegations', request.query)
      return store.read(function* () {
        const { items, nextCursor } = page.of(yield* delegations.listDelegations({ personId, ...page.range }))
        return { items: yield* mapInTurn(items, (row) => viewDelegation(row, clock.nowMs())), nextCursor }
      })
    },
  )
  app.get(
    '/api/people',
    route('list-people', {
      operationId: 'listPeople',
      summary: 'List the people',
      errors: ['forbidden'],
      querystring: PeopleQuery,
      response: { 200: PersonList },
    }),
    (request) => {
      const { principal } = callerOf(request)
      const isForAdmin = isAdmin(principal)
      const { limit, cursor, q } = request.query
      const [name, id] = decodeCursor('people', cursor, ['string', 'string']) ?? []
      const after = name === undefined ? undefined : { name: String(name), id: String(id) }
      return store.read(function* () {
        const found = yield* principals.listPeople({ text: q, after, withDisabled: isForAdmin, limit: limit + 1 })
        const { items: rows, nextCursor } = pageOf('people', found, limit, (row) => [row.name, row.id])
        const items = rows.map(({ id, name, roles, disabled_at }) => ({
          id,
          name,
          ...(isForAdmin && { roles: JSON.parse(roles), disabledAt: disabled_at === null ? null : isoTime(disabled_at) }),
        }))
        return { items, nextCursor }
      })
    },
  )
  app.post(
    '/api/delegations',
    route('decide-lasting', {
      operationId: 'createDelegation',
      summary: 'Let another person vote in your place',
      errors: ['not_found'],
      body: DelegationBody,
      response: { 201: Delegation },
    }),
    (request) => gate.createDelegation(request.body, callerOf(request)),
  )
  app.delete(
    '/api/delegations/:id',
    route('decide-lasting', { operationId: 'endDelegation', summary: 'End a delegation', params: IdParams, response: { 200: Delegation } }),
    (request) => gate.endDelegation(request.params.id, callerOf(request)),
  )
}
