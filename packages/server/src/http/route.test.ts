import Fastify from 'fastify'
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { App } from './app.ts'
import { answerWithDeclaredStatus } from './route.ts'

const Empty = z.object({})

test('a route answers with the one success that its schema declares, also beside errors and a check of its own', async () => {
  const app = Fastify()
  // Schemas are only read here: no compiler is needed.
  app.setValidatorCompiler(() => () => true)
  app.setSerializerCompiler(() => (answer) => JSON.stringify(answer))
  answerWithDeclaredStatus(app as unknown as App)
  const checked: string[] = []
  const preHandler = async (request: { url: string }) => void checked.push(request.url)
  app.post('/created', { schema: { response: { 201: Empty, 409: Empty } }, preHandler }, async () => ({}))
  app.post('/refused', { schema: { response: { 202: Empty, 409: Empty } } }, async (_, reply) => reply.code(409).send({}))
  app.post('/either', { schema: { response: { 200: Empty, 201: Empty } } }, async () => ({}))
  app.post('/plain', async () => ({}))
  const statusOf = async (url: string) => (await app.inject({ method: 'POST', url })).statusCode
  expect(await statusOf('/created')).toBe(201)
  expect(checked).toEqual(['/created'])
  expect(await statusOf('/refused')).toBe(409)
  expect(await statusOf('/either')).toBe(200)
  expect(await statusOf('/plain')).toBe(200)
  await app.close()
})
