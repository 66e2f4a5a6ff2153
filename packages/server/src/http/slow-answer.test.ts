import Fastify from 'fastify'
import { expect, test } from 'vitest'
import { whenThere } from './slow-answer.ts'

/** A server whose only route answers with the given value, with a beat of one millisecond. */
async function startSlow(answer: () => Promise<object>) {
  const app = Fastify({ forceCloseConnections: true })
  app.post('/', (_, reply) => whenThere(reply, answer(), { beatMs: 1 }))
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  return { url, [Symbol.asyncDispose]: async () => void (await app.close()) }
}

test('an answer that is there at once is sent as any other', async () => {
  await using slow = await startSlow(async () => ({ status: 'completed' }))
  const response = await fetch(slow.url, { method: 'POST' })
  expect(response.headers.get('content-length')).toBe('22')
  expect(await response.json()).toEqual({ status: 'completed' })
})

test('while an answer is not there, spaces keep its connection alive, and the whole is its JSON', async () => {
  const { promise, resolve } = Promise.withResolvers<object>()
  await using slow = await startSlow(() => promise)
  const response = await fetch(slow.url, { method: 'POST' })
  expect(response).toMatchObject({ status: 200 })
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
  let text = ''
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk
    if (text.length >= 3) resolve({ status: 'completed' })
  }
  expect(text).toMatch(/^\{ {2,}"status":"completed"\}$/)
  expect(JSON.parse(text)).toEqual({ status: 'completed' })
})

test('an answer that fails before the first space is a problem, one that fails after it breaks the connection off', async () => {
  await using early = await startSlow(() => Promise.reject(new Error('no')))
  expect((await fetch(early.url, { method: 'POST' })).status).toBe(500)

  const { promise, reject } = Promise.withResolvers<object>()
  await using late = await startSlow(() => promise)
  const response = await fetch(late.url, { method: 'POST' })
  expect(response.status).toBe(200)
  reject(new Error('no'))
  await expect(response.text()).rejects.toThrow(/terminated/)
})
