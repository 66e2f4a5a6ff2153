import { CountersignError, Objective, ObjectiveChangeList, ObjectiveList, ObjectiveQuery, PageQuery } from '@countersign/core'
import { visibleAmong } from '../gate/index.ts'
import { callerOf } from '../identity/authenticate.ts'
import { viewChange, viewObjective } from '../objectives/index.ts'
import { mapInTurn, objectives } from '../store/index.ts'
import type { App, HttpDeps } from './app.ts'
import { pageById } from './page.ts'
import { IdParams, taggedRoute } from './route.ts'

const route = taggedRoute('objectives')

/** Registers the routes that show objectives to people. Tools change objectives, through the gate. */
export function objectiveRoutes(app: App, { store, clock }: HttpDeps): void {
  app.get(
    '/api/objectives',
    route('person-with-role', {
      operationId: 'listObjectives',
      summary: 'List objectives',
      errors: ['forbidden'],
      querystring: ObjectiveQuery,
      response: { 200: ObjectiveList },
    }),
    (request) => {
      const { owner, period, state } = request.query
      const page = pageById('objectives', request.query)
      return store.read(function* () {
        const { items, nextCursor } = page.of(yield* objectives.listObjectives({ owner, period, state, ...page.range }))
        return { items: yield* mapInTurn(items, (row) => viewObjective(row, clock.nowMs())), nextCursor }
      })
    },
  )
  app.get(
    '/api/objectives/:id',
    route('person-with-role', {
      operationId: 'getObjective',
      summary: 'Read an objective',
      errors: ['forbidden'],
      params: IdParams,
      response: { 200: Objective },
    }),
    (request) => {
      const { id } = request.params
      return store.read(function* () {
        const row = yield* objectives.findObjective.first({ id })
        if (!row) throw unknown(id)
        return yield* viewObjective(row, clock.nowMs())
      })
    },
  )
  app.get(
    '/api/objectives/:id/history',
    route('person-with-role', {
      operationId: 'listObjectiveChanges',
      summary: 'List the changes of an objective',
      errors: ['forbidden'],
      params: IdParams,
      querystring: PageQuery,
      response: { 200: ObjectiveChangeList },
    }),
    (request) => {
      const { principal } = callerOf(request)
      const { id } = request.params
      const page = pageById('objective-changes', request.query)
      return store.read(function* () {
        if (!(yield* objectives.findObjective.first({ id }))) throw unknown(id)
        const found = yield* objectives.listChanges({ objectiveId: id, keyResultId: undefined, ...page.range })
        const { items, nextCursor } = page.of(found)
        const actionIds = items.map((row) => row.action_id)
        const visible = yield* visibleAmong(principal, actionIds, clock.nowMs())
        return { items: yield* mapInTurn(items, (row) => viewChange(row, (actionId) => visible.has(actionId))), nextCursor }
      })
    },
  )
}

const unknown = (id: string) => new CountersignError('not_found', `there is no objective ${id}`)
