import { Action, Json, Message, Principal, Session } from '@countersign/core'
import fastifySwagger from '@fastify/swagger'
import fastifySwaggerUi from '@fastify/swagger-ui'
import { createJsonSchemaTransform, createJsonSchemaTransformObject } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { App } from './app.ts'
import { PUBLIC, registerPublic } from './identity/access.ts'

/** Every error, RFC 9457; a 409 about an action carries the `action` as it is now. */
const Problem = z.looseObject({ type: z.string(), title: z.string(), status: z.int(), code: z.string(), detail: z.string() })

const ANY_PROBLEM = { description: 'A problem document (RFC 9457)', content: { 'application/problem+json': { schema: Problem } } }

/** What a route answers that produces text of these media types. */
const textIn = (types: readonly string[]) => ({
  description: types.includes('text/event-stream') ? 'Server-sent events' : 'A file',
  content: Object.fromEntries(types.map((type) => [type, { schema: z.string() }])),
})

/** What stands under its own name. `Json` has to: it contains itself, and inline it would refer to a place that is not there. */
const schemaRegistry = z.registry<{ id: string }>()
for (const [id, schema] of Object.entries({ Action, Json, Message, Principal, Problem, Session })) schemaRegistry.add(schema, { id })

const toJsonSchema = createJsonSchemaTransform({ schemaRegistry })
const addComponents = createJsonSchemaTransformObject({ schemaRegistry })

/** What every route answers besides its own shapes, said once: a problem, and where it produces a stream or a file, that. */
const transform: typeof toJsonSchema = ({ schema, ...route }) => {
  const produces = schema?.produces
  const response = { ...(schema?.response ?? {}), ...(produces && { 200: textIn(produces) }), default: ANY_PROBLEM }
  return toJsonSchema({ ...route, schema: { ...schema, response } })
}

/** The OpenAPI 3.1 document, made from the routes' own schemas, and a page that shows it. Register before the routes. */
export async function docsRoutes(app: App): Promise<void> {
  await app.register(fastifySwagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Countersign', version: '0.1.0', description: 'The approval layer for AI agents.' },
      components: { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
      security: [{ key: [] }],
    },
    transform,
    transformObject: addComponents,
  })
  app.get('/api/openapi.json', { ...PUBLIC, schema: { hide: true } }, async () => app.swagger())
  await registerPublic(app, async (scope) => {
    await scope.register(fastifySwaggerUi, {
      routePrefix: '/api/docs',
      uiConfig: { deepLinking: true },
      staticCSP:
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    })
  })
}
