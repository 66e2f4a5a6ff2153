import type { FastifySchema } from 'fastify'
import { z } from 'zod'
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
