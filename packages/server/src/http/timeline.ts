import { PageQuery, Timeline } from '@countersign/core'
import { findVisibleSession } from '../agent/index.ts'
import { viewTimelineEntry } from '../gate/index.ts'
import { callerOf } from '../identity/authenticate.ts'
import { mapInTurn, messages } from '../store/index.ts'
import type { App, HttpDeps } from './app.ts'
import { decodeCursor, pageOf } from './page.ts'
import { IdParams, taggedRoute } from './route.ts'

const route = taggedRoute('sessions')

/** Registers the timeline of a session: its messages and actions with the model calls behind them. */
export function timelineRoutes(app: App, { store, clock, prices }: HttpDeps): void {
  app.get(
    '/api/sessions/:id/timeline',
    route('by-object', {
      operationId: 'listTimeline',
      summary: 'List the messages of a session with the model calls behind them',
      params: IdParams,
      querystring: PageQuery,
      response: { 200: Timeline },
    }),
    (request) => {
      const caller = callerOf(request)
      const { limit, cursor } = request.query
      const before = Number(decodeCursor('timeline', cursor, ['number'])?.[0] ?? Number.MAX_SAFE_INTEGER)
      return store.read(function* () {
        const { id } = yield* findVisibleSession(request.params.id, caller)
        const found = yield* messages.listMessages.all({ session_id: id, before, limit: limit + 1 })
        const { items, nextCursor } = pageOf('timeline', found, limit, (row) => [row.seq])
        return { items: yield* mapInTurn(items, (row) => viewTimelineEntry(row, { prices, nowMs: clock.nowMs() })), nextCursor }
      })
    },
  )
}
