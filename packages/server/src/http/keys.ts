import { CreatedKey, CreateKeyBody, Key, KeyList, PageQuery } from '@countersign/core'
import { z } from 'zod'
import { callerOf } from '../identity/authenticate.ts'
import type { App, HttpDeps } from './app.ts'
import { decodeCursor, pageOf } from './page.ts'

const TAGS = ['identity']

/** Registers the routes for keys: admins manage all keys, and every person sees their own and accepts keys that others made for them. */
export function keyRoutes(app: App, deps: HttpDeps): void {
  createKeyRoute(app, deps)
  listKeysRoute(app, deps)
  listOwnKeysRoute(app, deps)
  acceptKeyRoute(app, deps)
  revokeKeyRoute(app, deps)
}

function createKeyRoute(app: App, { directory }: HttpDeps): void {
  app.post(
    '/api/keys',
    {
      config: { right: 'admin' },
      schema: {
        operationId: 'createKey',
        summary: 'Make a key',
        errors: ['not_found', 'invalid_arguments'],
        tags: TAGS,
        body: CreateKeyBody,
        response: { 201: CreatedKey },
      },
    },
    async (request, reply) => {
      const caller = callerOf(request)
      reply.code(201)
      return directory.createKey(request.body, caller)
    },
  )
}

function listKeysRoute(app: App, { directory }: HttpDeps): void {
  app.get(
    '/api/keys',
    {
      config: { right: 'admin' },
      schema: {
        operationId: 'listKeys',
        summary: 'List all keys',
        errors: ['forbidden'],
        tags: TAGS,
        querystring: PageQuery,
        response: { 200: KeyList },
      },
    },
    async (request) => {
      const { limit, cursor } = request.query
      const place = decodeCursor('keys', cursor, ['string'])
      const found = await directory.listKeys({ before: place && String(place[0]), limit: limit + 1 })
      const { rows: items, nextCursor } = pageOf('keys', found, limit, ({ id }) => [id])
      return { items, nextCursor }
    },
  )
}

function listOwnKeysRoute(app: App, { directory }: HttpDeps): void {
  app.get(
    '/api/keys/own',
    {
      config: { right: 'person' },
      schema: {
        operationId: 'listOwnKeys',
        summary: 'List your own keys',
        errors: ['forbidden'],
        tags: TAGS,
        querystring: PageQuery,
        response: { 200: KeyList },
      },
    },
    async (request) => {
      const { id: principalId } = callerOf(request).principal
      const { limit, cursor } = request.query
      const place = decodeCursor('own-keys', cursor, ['string'])
      const found = await directory.listKeys({ principalId, before: place && String(place[0]), limit: limit + 1 })
      const { rows: items, nextCursor } = pageOf('own-keys', found, limit, ({ id }) => [id])
      return { items, nextCursor }
    },
  )
}

function acceptKeyRoute(app: App, { directory }: HttpDeps): void {
  app.post(
    '/api/keys/:id/accept',
    {
      config: { right: 'decide' },
      schema: {
        operationId: 'acceptKey',
        summary: 'Accept a key that another person made for you',
        errors: ['gone'],
        tags: TAGS,
        params: z.object({ id: z.string().max(100) }),
        response: { 200: Key },
      },
    },
    async (request) => {
      const caller = callerOf(request)
      return directory.acceptKey(request.params.id, caller)
    },
  )
}

function revokeKeyRoute(app: App, { directory }: HttpDeps): void {
  app.delete(
    '/api/keys/:id',
    {
      config: { right: 'admin' },
      schema: {
        operationId: 'revokeKey',
        summary: 'Revoke a key',
        tags: TAGS,
        params: z.object({ id: z.string().max(100) }),
        response: { 200: Key },
      },
    },
    async (request) => {
      const caller = callerOf(request)
      return directory.revokeKey(request.params.id, caller)
    },
  )
}
