import type { ErrorCode } from '@countersign/core'
import type { FastifyInstance, RouteOptions } from 'fastify'
import { z } from 'zod'
import type { Right } from '../rights.ts'
import { errorsOf, isGateway, type RequestHeader, type ResponseHeader } from './answers.ts'
import { TAGS } from './tags.ts'

declare module 'fastify' {
  interface FastifySchema {
    /** Codes of the route, besides those that every route of its kind has: see {@link errorsOf}. */
    errors?: readonly ErrorCode[]
    /** Headers that the route reads, besides those that every route of its kind reads. */
    takes?: readonly RequestHeader[]
    /** Headers of its successful answer. */
    sends?: readonly ResponseHeader[]
    /** One event of its stream, for a route that produces `text/event-stream`. */
    streams?: z.ZodType
  }
}

/** The documentation of an operation, besides its schemas. */
export interface Operation {
  method: string
  access: 'key' | 'public' | 'probe'
  /** Undefined for a route without authentication. */
  right: Right | undefined
  isGateway: boolean
  isEventStream: boolean
  /** True when a request without a body counts as `{}`. */
  isBodyOptional: boolean
  /** The texts of its query parameters: Zod keeps them in a registry of its own, which the document is not made with. */
  queryTexts: Readonly<Record<string, string>>
  errors: readonly ErrorCode[]
  takes: readonly RequestHeader[]
  sends: readonly ResponseHeader[]
}

/**
 * Collects the documentation of routes by `operationId` as they are registered. Call it before routes are registered.
 * @throws Error from the registration of a route that lacks an `operationId`, a `summary`, a known tag or a right, or whose `operationId` is
 * taken: a route can be left out of the document (`hide: true`), but not be undocumented in it.
 */
export function collectOperations(app: FastifyInstance): ReadonlyMap<string, Operation> {
  const operations = new Map<string, Operation>()
  app.addHook('onRoute', (route) => {
    // HEAD is GET without a body.
    if (route.method === 'HEAD' || route.schema?.hide === true) return
    const { operationId = '', takes = [], sends = [], produces = [], body, querystring } = route.schema ?? {}
    const faults = faultsOf(route)
    if (operations.has(operationId)) faults.push(`the operationId ${operationId} belongs to another route`)
    if (faults.length > 0) throw new Error(`${route.method} ${route.url} is not documented: ${faults.join('; ')}`)
    operations.set(operationId, {
      method: String(route.method),
      access: route.config?.access ?? 'key',
      right: route.config?.right,
      isGateway: isGateway(route.url),
      isEventStream: produces.includes('text/event-stream'),
      isBodyOptional: body instanceof z.ZodType && body.safeParse({}).success,
      queryTexts: queryTextsOf(querystring),
      errors: errorsOf(route),
      takes,
      sends,
    })
  })
  return operations
}

/** Returns the text of each query parameter; empty for one without. */
function queryTextsOf(querystring: unknown): Record<string, string> {
  const shape: Record<string, z.ZodType> = querystring instanceof z.ZodObject ? querystring.shape : {}
  return Object.fromEntries(Object.entries(shape).map(([name, { description = '' }]) => [name, description]))
}

/** Returns what is missing in the schema of a route before it can be documented, as sentences. */
function faultsOf({ schema, method, config }: RouteOptions): string[] {
  const { operationId, summary, tags = [], streams, produces = [], response, querystring } = schema ?? {}
  const [tag] = tags
  const faults: string[] = []
  if (Array.isArray(method)) faults.push('register one method at a time')
  if (operationId === undefined || !/^[a-z][a-zA-Z0-9]+$/.test(operationId)) faults.push('its schema needs an operationId in camelCase')
  if (summary === undefined || !/^[A-Z].{3,79}[^.]$/.test(summary))
    faults.push('its schema needs a summary: 5 to 81 characters, no full stop')
  if (tags.length !== 1 || tag === undefined || !Object.hasOwn(TAGS, tag)) faults.push('its schema needs one tag of http/docs/tags.ts')
  if ((config?.right === undefined) === (config?.access === undefined))
    faults.push('its config needs either a right of http/rights.ts or, for callers without a key, access')
  for (const [name, text] of Object.entries(queryTextsOf(querystring)))
    if (text === '') faults.push(`its query parameter ${name} needs a text: .describe()`)
  if (produces.includes('text/event-stream') !== (streams !== undefined))
    faults.push('a stream of events needs `streams`: one of its events')
  if (response === undefined && produces.length === 0) faults.push('its schema needs a response, or `produces` for a file or a stream')
  return faults
}
