import { VERSION } from '@countersign/toolkit/internal'
import fastifySwagger from '@fastify/swagger'
import fastifySwaggerUi from '@fastify/swagger-ui'
import { createJsonSchemaTransform, createJsonSchemaTransformObject } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { PUBLIC, registerPublic } from '../../identity/access.ts'
import { CONSOLE_HEADER } from '../../identity/console-credential.ts'
import type { App } from '../app.ts'
import { completeDocument } from './complete.ts'
import { schemaRegistry } from './components.ts'
import { collectOperations } from './describe.ts'
import { LOGO, PAGE_STYLE } from './page-style.ts'

const DESCRIPTION = `The approval layer for AI agents: agents propose actions, policy says allow, ask or deny, a person decides, and what was
approved runs once. Times are ISO 8601 in UTC, durations ISO 8601. Lists answer \`{items, nextCursor}\`; give \`nextCursor\` back as \`cursor\`.
Errors are problem documents (RFC 9457) with a \`code\`. Unknown ids and ids you may not see answer the same 404.`

const toJsonSchema = createJsonSchemaTransform({ schemaRegistry })
const addComponents = createJsonSchemaTransformObject({ schemaRegistry })

/** The content of routes that produce a stream or a file: events have a shape, a file is text. */
const transform: typeof toJsonSchema = ({ schema, ...route }) => {
  const produces = schema?.produces
  if (!schema || !produces) return toJsonSchema({ ...route, schema })
  const content = Object.fromEntries(produces.map((type) => [type, { schema: schema.streams ?? z.string() }]))
  return toJsonSchema({ ...route, schema: { ...schema, response: { ...(schema.response ?? {}), 200: { content } } } })
}

/**
 * Serves the OpenAPI 3.1 document, generated from the routes' own schemas, and a page that shows it. Register it before the routes: an
 * undocumented route cannot be registered then.
 * @param publicUrl Where clients reach the server; without one the document names the server that it came from.
 */
export async function docsRoutes(app: App, publicUrl: string | undefined): Promise<void> {
  const operations = collectOperations(app)
  await app.register(fastifySwagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Countersign',
        version: VERSION,
        description: DESCRIPTION,
        contact: { name: 'Countersign' },
        license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
      },
      servers: [{ url: publicUrl ?? '/' }],
      components: {
        securitySchemes: {
          key: { type: 'http', scheme: 'bearer', description: 'A key of an agent, a service or a person.' },
          console: {
            type: 'apiKey',
            in: 'header',
            name: CONSOLE_HEADER,
            description: 'The console of a person who signed in, with an Origin of this server. Over https a cookie replaces this header.',
          },
        },
      },
      security: [{ key: [] }, { console: [] }],
    },
    transform,
    transformObject: (given) => completeDocument(addComponents(given), operations),
  })
  app.get('/api/openapi.json', { config: { ...PUBLIC.config, queryNames: [] }, schema: { hide: true } }, async () => app.swagger())
  await registerPublic(app, async (scope) => {
    await scope.register(fastifySwaggerUi, {
      routePrefix: '/api/docs',
      uiConfig: { deepLinking: true },
      logo: { type: 'image/svg+xml', content: LOGO, href: '/' },
      theme: {
        title: 'Countersign API',
        css: [{ filename: 'countersign.css', content: PAGE_STYLE }],
        favicon: [{ filename: 'favicon.svg', rel: 'icon', type: 'image/svg+xml', sizes: 'any', content: LOGO }],
      },
      staticCSP:
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    })
  })
}
