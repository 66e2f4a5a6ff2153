import type { FastifySchema } from 'fastify'
import { z } from 'zod'
import type { App } from './app.ts'
import type { Right } from './rights.ts'

/** The path of one object. */
export const IdParams = z.object({ id: z.string().max(100) })

/**
 * Returns what makes the options of the routes under a tag of the reference: the right that callers need, and the schema.
 * @example
 * const route = taggedRoute('snoozes')
 * app.get('/api/snoozes', route('person', { operationId: 'listSnoozes', summary: 'List the actions you snoozed' }), handler)
 */
export const taggedRoute =
  (tag: string) =>
  <const Schema extends FastifySchema>(right: Right, schema: Schema) => ({ config: { right }, schema: { tags: [tag], ...schema } })

/** Lets the routes whose schema names one success, 201 or 202, answer with it. */
export function answerWithDeclaredStatus(app: App): void {
  app.addHook('onRoute', (route) => {
    const [status, ...others] = Object.keys(route.schema?.response ?? {}).map(Number)
    if ((status !== 201 && status !== 202) || others.length > 0) return
    route.preHandler = async (_request, reply) => void reply.code(status)
  })
}
