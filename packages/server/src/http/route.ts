import type { FastifySchema } from 'fastify'
import { z } from 'zod'
import type { App } from './app.ts'
import type { Right } from './rights.ts'

/** The path parameters of a route about one object. */
export const IdParams = z.object({ id: z.string().max(100) })

/**
 * Returns a function that makes the options of a route: the right that its callers need, and its schema with the tag under which the HTTP
 * reference lists it.
 * @example
 * const route = taggedRoute('snoozes')
 * app.get('/api/snoozes', route('person', { operationId: 'listSnoozes', summary: 'List the actions you snoozed' }), handler)
 */
export const taggedRoute =
  (tag: string) =>
  <const Schema extends FastifySchema>(right: Right, schema: Schema) => ({ config: { right }, schema: { tags: [tag], ...schema } })

/** Sets the status of each route whose schema declares one successful answer, 201 or 202. Call it before routes are registered. */
export function answerWithDeclaredStatus(app: App): void {
  app.addHook('onRoute', (route) => {
    const declared = Object.keys(route.schema?.response ?? {}).map(Number)
    const [status, ...others] = declared.filter((code) => code >= 200 && code < 300)
    if ((status !== 201 && status !== 202) || others.length > 0) return
    const before = [route.preHandler ?? []].flat()
    route.preHandler = [async (_request, reply) => void reply.code(status), ...before]
  })
}
