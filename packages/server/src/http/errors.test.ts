import Fastify from 'fastify'
import { expect, test } from 'vitest'
import { handleError } from './errors.ts'

test('what is not in the table is told as an id of the log, never in its own words', async () => {
  await using app = Fastify()
  app.setErrorHandler(handleError)
  app.get('/', () => {
    throw new TypeError('connect to postgres://admin:secret@db failed')
  })
  const answer = await app.inject('/')
  expect(answer.statusCode).toBe(500)
  expect(answer.json()).toMatchObject({ code: 'internal', detail: expect.stringContaining('req-1') })
  expect(answer.body).not.toMatch(/postgres|secret|TypeError|errors\.test/)
})
