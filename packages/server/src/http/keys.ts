import { CreatedKey, CreateKeyBody, Key, KeyList, PageQuery } from '@countersign/core'
import { callerOf } from '../identity/authenticate.ts'
import type { App, HttpDeps } from './app.ts'
import { pageById } from './page.ts'
import { IdParams, taggedRoute } from './route.ts'

const route = taggedRoute('identity')

/** Registers the routes for keys: admins manage all keys, and every person sees their own and accepts keys that others made for them. */
export function keyRoutes(app: App, { directory }: HttpDeps): void {
  app.post(
    '/api/keys',
    route('admin', {
      operationId: 'createKey',
      summary: 'Make a key',
      errors: ['not_found', 'invalid_arguments'],
      body: CreateKeyBody,
      response: { 201: CreatedKey },
    }),
    (request) => directory.createKey(request.body, callerOf(request)),
  )
  app.get(
    '/api/keys',
    route('admin', {
      operationId: 'listKeys',
      summary: 'List all keys',
      errors: ['forbidden'],
      querystring: PageQuery,
      response: { 200: KeyList },
    }),
    async (request) => {
      const page = pageById('keys', request.query)
      return page.of(await directory.listKeys(page.range))
    },
  )
  app.get(
    '/api/keys/own',
    route('person', {
      operationId: 'listOwnKeys',
      summary: 'List your own keys',
      errors: ['forbidden'],
      querystring: PageQuery,
      response: { 200: KeyList },
    }),
    async (request) => {
      const { id: principalId } = callerOf(request).principal
      const page = pageById('own-keys', request.query)
      return page.of(await directory.listKeys({ principalId, ...page.range }))
    },
  )
  app.post(
    '/api/keys/:id/accept',
    route('decide', {
      operationId: 'acceptKey',
      summary: 'Accept a key that another person made for you',
      errors: ['gone'],
      params: IdParams,
      response: { 200: Key },
    }),
    (request) => directory.acceptKey(request.params.id, callerOf(request)),
  )
  app.delete(
    '/api/keys/:id',
    route('admin', {
      operationId: 'revokeKey',
      summary: 'Revoke a key',
      params: IdParams,
      response: { 200: Key },
    }),
    (request) => directory.revokeKey(request.params.id, callerOf(request)),
  )
}
