import { CountersignError } from '@countersign/core'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Names of the query parameters that the route accepts; undefined for pages, which accept any. */
    queryNames?: readonly string[]
  }
}

const MAX_NAME_CHARS = 100

/**
 * Refuses requests with a query parameter that their route does not accept: otherwise a misspelt filter would return everything. A route
 * accepts the names in its schema; pages and their files, which no client calls, accept any. Call it before routes are registered and after
 * {@link authenticate}, so that unauthenticated callers learn nothing.
 */
export function refuseUnknownQuery(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    const { querystring, hide } = route.schema ?? {}
    if (hide === true) return
    // A schema of another kind would accept any parameter.
    if (querystring !== undefined && !(querystring instanceof z.ZodObject)) throw new Error(`the query of ${route.url} is no object`)
    route.config = { ...route.config, queryNames: Object.keys(querystring?.shape ?? {}) }
  })
  app.addHook('onRequest', async ({ query, is404, method, routeOptions: { url = '', config } }) => {
    const { queryNames } = config
    if (is404 || queryNames === undefined) return
    const unknown = Object.keys(query as object).filter((name) => !queryNames.includes(name))
    const [first] = unknown
    if (first === undefined) return
    const takes = queryNames.length === 0 ? 'takes none' : `takes ${queryNames.join(', ')}`
    throw new CountersignError('bad_request', `unknown query parameter ${quoted(first)}: ${method} ${url} ${takes}`, {
      issues: unknown.slice(0, 20).map((name) => ({ path: `/${cut(name)}`, message: 'is not a query parameter of this route' })),
    })
  })
}

const cut = (name: string): string => (name.length <= MAX_NAME_CHARS ? name : `${name.slice(0, MAX_NAME_CHARS).toWellFormed()}…`)
const quoted = (name: string): string => JSON.stringify(cut(name))
