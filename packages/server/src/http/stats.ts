import { Stats, StatsQuery } from '@countersign/core'
import { readStats } from '../stats/index.ts'
import type { App, HttpDeps } from './app.ts'

/** Registers the statistics about proposals, decisions and executions. */
export function statsRoutes(app: App, { store, clock, prices }: HttpDeps): void {
  app.get(
    '/api/stats',
    {
      config: { right: 'see-all' },
      schema: {
        operationId: 'getStats',
        summary: 'Read statistics',
        errors: ['forbidden'],
        tags: ['stats'],
        querystring: StatsQuery,
        response: { 200: Stats },
      },
    },
    (request) => readStats(store, request.query, clock.nowMs(), prices),
  )
}
