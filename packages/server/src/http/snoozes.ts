import { PageQuery, Snooze, SnoozeBody, SnoozeList } from '@countersign/core'
import { z } from 'zod'
import { viewSnooze } from '../gate/index.ts'
import { callerOf } from '../identity/authenticate.ts'
import { snoozes } from '../store/index.ts'
import type { App, HttpDeps } from './app.ts'
import { decodeCursor, pageOf } from './page.ts'
import { IdParams, taggedRoute } from './route.ts'

const route = taggedRoute('actions')

/** After every id of an action. */
const END = 'act_~'

/** Registers the routes with which people leave actions out of their own inbox for a time. */
export function snoozeRoutes(app: App, { store, gate, clock }: HttpDeps): void {
  app.get(
    '/api/snoozes',
    route('person', {
      operationId: 'listSnoozes',
      summary: 'List the actions you snoozed',
      errors: ['forbidden'],
      querystring: PageQuery,
      response: { 200: SnoozeList },
    }),
    async (request) => {
      const { id } = callerOf(request).principal
      const { limit, cursor } = request.query
      const before = decodeCursor('snoozes', cursor, ['string'])?.map(String)[0] ?? END
      const page = { principal_id: id, before, now: clock.nowMs(), limit: limit + 1 }
      const found = await store.read(() => snoozes.listSnoozes.all(page))
      const { items, nextCursor } = pageOf('snoozes', found, limit, (row) => [row.action_id])
      return { items: items.map(viewSnooze), nextCursor }
    },
  )

  app.post(
    '/api/actions/:id/snooze',
    route('decide-lasting', {
      operationId: 'snoozeAction',
      summary: 'Leave an action out of your own inbox for a time',
      errors: ['illegal_transition'],
      params: IdParams,
      body: SnoozeBody,
      response: { 200: Snooze },
    }),
    (request) => gate.snooze(request.params.id, request.body, callerOf(request)),
  )

  app.delete(
    '/api/actions/:id/snooze',
    route('decide-lasting', {
      operationId: 'endSnooze',
      summary: 'Take an action back into your inbox',
      params: IdParams,
      response: { 200: z.object({}) },
    }),
    async (request) => {
      await gate.endSnooze(request.params.id, callerOf(request))
      return {}
    },
  )
}
