import { Stats, StatsQuery } from '@countersign/core'
import { readStats } from '../stats/index.ts'
import type { App, HttpDeps } from './app.ts'
import { taggedRoute } from './route.ts'

const route = taggedRoute('stats')

/** Registers the statistics about proposals, decisions and executions. */
export function statsRoutes(app: App, { store, clock, prices }: HttpDeps): void {
  app.get(
    '/api/stats',
    route('see-all', {
      operationId: 'getStats',
      summary: 'Read statistics',
      errors: ['forbidden'],
      querystring: StatsQuery,
      response: { 200: Stats },
    }),
    (request) => readStats(store, request.query, clock.nowMs(), prices),
  )
}
