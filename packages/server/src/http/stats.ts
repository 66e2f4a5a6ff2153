import { CountersignError, type Principal, Stats, StatsQuery } from '@countersign/core'
import { seesAll } from '../gate/index.ts'
import { callerOf } from '../identity/authenticate.ts'
import { readStats } from '../stats/index.ts'
import type { App, HttpDeps } from './app.ts'

/** @throws CountersignError `forbidden` for principals who do not see everything: the numbers cover everybody. */
export function requireOverview(principal: Principal): void {
  if (seesAll(principal)) return
  throw new CountersignError('forbidden', `${principal.name} may not read the statistics: the role admin or viewer is needed`)
}

/** Registers the statistics about proposals, decisions and executions. */
export function statsRoutes(app: App, { store, clock }: HttpDeps): void {
  app.get(
    '/api/stats',
    {
      schema: {
        operationId: 'getStats',
        summary: 'Read statistics',
        errors: ['forbidden'],
        tags: ['stats'],
        querystring: StatsQuery,
        response: { 200: Stats },
      },
    },
    (request) => {
      requireOverview(callerOf(request).principal)
      return readStats(store, request.query, clock.nowMs())
    },
  )
}
