import { CreatedKey, CreateKeyBody, Key, KeyList, PageQuery } from '@countersign/core'
import { z } from 'zod'
import { requireAdmin } from '../../gate/index.ts'
import type { App, HttpParts } from '../app.ts'
import { decodeCursor, pageOf } from '../page.ts'
import { callerOf } from './authenticate.ts'

/** The keys that were given out: for admins. */
export function keyRoutes(app: App, { directory }: HttpParts): void {
  const tags = ['identity']

  app.post('/api/keys', { schema: { tags, body: CreateKeyBody, response: { 201: CreatedKey } } }, async (request, reply) => {
    const caller = callerOf(request)
    requireAdmin(caller.principal, 'makes keys')
    reply.code(201)
    return directory.createKey(request.body, caller)
  })

  app.get('/api/keys', { schema: { tags, querystring: PageQuery, response: { 200: KeyList } } }, async (request) => {
    requireAdmin(callerOf(request).principal, 'sees the keys')
    const { limit, cursor } = request.query
    const place = decodeCursor(cursor, ['string'])
    const found = await directory.listKeys({ before: place && String(place[0]), limit: limit + 1 })
    const { rows: items, nextCursor } = pageOf(found, limit, ({ id }) => [id])
    return { items, nextCursor }
  })

  app.delete(
    '/api/keys/:id',
    { schema: { tags, params: z.object({ id: z.string().max(100) }), response: { 200: Key } } },
    async (request) => {
      const caller = callerOf(request)
      requireAdmin(caller.principal, 'revokes keys')
      return directory.revokeKey(request.params.id, caller)
    },
  )
}
