import Fastify from 'fastify'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { createUnconnectedApp } from '../../../../../verification/testing/unconnected-app.ts'
import { collectOperations } from './describe.ts'

const said = { operationId: 'listThings', summary: 'List the things', tags: ['actions'], response: { 200: z.object({}) } }

async function register(schema: object, config: object = { right: 'anyone' }): Promise<ReadonlyMap<string, unknown>> {
  const app = Fastify()
  const operations = collectOperations(app)
  app.setValidatorCompiler(() => () => true)
  app.setSerializerCompiler(() => JSON.stringify)
  app.get('/api/first', { config: { right: 'anyone' }, schema: { ...said, operationId: 'first' } }, async () => ({}))
  app.get('/api/things', { config, schema }, async () => ({}))
  await app.close()
  return operations
}

test.each([
  ['an operationId in camelCase', { operationId: undefined }],
  ['an operationId in camelCase', { operationId: 'list_things' }],
  ['an operationId of its own', { operationId: 'first' }],
  ['a summary', { summary: undefined }],
  ['a summary without a full stop', { summary: 'Lists the things.' }],
  ['a tag', { tags: undefined }],
  ['a tag that is described', { tags: ['things'] }],
  ['a response', { response: undefined }],
  ['the events of its stream', { produces: ['text/event-stream'] }],
  ['a text for each query parameter', { querystring: z.object({ said: z.string().describe('It.'), limit: z.string() }) }],
])('a route is not registered without %s', async (_what, missing) => {
  await expect(register({ ...said, ...missing })).rejects.toThrow(/^GET \/api\/things is not documented: [a-z]/)
})

test.each([
  ['neither', {}],
  ['both', { right: 'admin', access: 'public' }],
])('a route needs a right or access without a key; with %s it is not registered', async (_what, config) => {
  await expect(register(said, config)).rejects.toThrow(/^GET \/api\/things is not documented: its config needs either a right/)
  await expect(register(said, { access: 'public' })).resolves.toHaveProperty('size', 2)
})

test('a route that says what it is goes into the document; a hidden one does not have to', async () => {
  expect([...(await register(said)).keys()]).toEqual(['first', 'listThings'])
  expect([...(await register({ hide: true })).keys()]).toEqual(['first'])
})

test('what is missing is said all at once, with the route', async () => {
  await expect(register({})).rejects.toThrow(
    'GET /api/things is not documented: its schema needs an operationId in camelCase; its schema needs a summary: 5 to 81 characters, no full stop; its schema needs one tag of http/docs/tags.ts; its schema needs a response, or `produces` for a file or a stream',
  )
})

test('the document has a text for every query parameter', async () => {
  const app = await createUnconnectedApp()
  const { paths = {} } = app.swagger()
  await app.close()
  type Parameter = { in?: string; name?: string; description?: string }
  const parameters = Object.entries(paths as Record<string, Record<string, { parameters?: Parameter[] }>>).flatMap(([path, operations]) =>
    Object.values(operations).flatMap((operation) => (operation.parameters ?? []).map((one) => ({ ...one, path }))),
  )
  const inQuery = parameters.filter((one) => one.in === 'query')
  expect(inQuery.length).toBeGreaterThan(80)
  expect(inQuery.filter(({ description = '' }) => description === '').map(({ path, name }) => `${path} ${name}`)).toEqual([])
})
