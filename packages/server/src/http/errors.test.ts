import { type AddressInfo, connect } from 'node:net'
import { CountersignError } from '@countersign/core'
import Fastify from 'fastify'
import { validatorCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod'
import { expect, test } from 'vitest'
import { z } from 'zod'
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

test('a client that hangs up in the middle of its body is no error of the server, and a failure behind a whole body is one', async () => {
  const lines: string[] = []
  await using app = Fastify({ logger: { level: 'error', stream: { write: (line: string) => void lines.push(line) } } })
  const handled = Promise.withResolvers<void>()
  app.setErrorHandler((error: Error, request, reply) => {
    handleError(error, request, reply)
    handled.resolve()
  })
  const hasBegun = Promise.withResolvers<void>()
  app.addHook('preParsing', async () => hasBegun.resolve())
  app.post('/', () => {
    throw new TypeError('broken')
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  const socket = connect(port, '127.0.0.1')
  socket.write('POST / HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{"a')
  await hasBegun.promise
  socket.destroy()
  await handled.promise
  expect(lines).toEqual([])
  await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' })
  expect(lines.join('')).toContain('http.failed')
})

test('every 401 says how to authenticate, as HTTP requires', async () => {
  await using app = Fastify()
  app.setErrorHandler(handleError)
  app.get('/', () => {
    throw new CountersignError('unauthenticated', 'a key is needed')
  })
  const { statusCode, headers } = await app.inject('/')
  expect([statusCode, headers['www-authenticate']]).toEqual([401, 'Bearer realm="countersign"'])
})

test('a body that has none of several shapes is told what is wrong with the one that it is nearest to', async () => {
  await using app = Fastify().withTypeProvider<ZodTypeProvider>()
  app.setErrorHandler(handleError)
  app.setValidatorCompiler(validatorCompiler)
  const shape = z.union([z.strictObject({ a: z.int() }), z.strictObject({ b: z.strictObject({ c: z.enum(['x', 'y']) }) })])
  app.post('/', { schema: { body: z.strictObject({ in: shape }) } }, () => 'ok')
  const detailOf = async (value: unknown) => (await app.inject({ method: 'POST', url: '/', payload: { in: value } })).json().detail
  expect(await detailOf({ a: 'one' })).toBe('body/in/a: Invalid input: expected number, received string')
  expect(await detailOf({ b: { c: 'z' } })).toBe('body/in/b/c: Invalid option: expected one of "x"|"y"')
  expect(await detailOf({ b: 5 })).toBe('body/in/b: Invalid input: expected object, received number')
  // As near to the one as to the other.
  expect(await detailOf({})).toBe('body/in: Invalid input')
  expect(await detailOf(5)).toBe('body/in: Invalid input')
})
