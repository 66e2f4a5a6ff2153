import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestServer, type TestServer } from '../testing/test-server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer({ config: { agents: { desk: { model: 'scripted/talk.json' } } }, scripts: { talk: [{ text: 'Hi' }] } })
})
afterAll(() => server?.[Symbol.asyncDispose]())

const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`key${at}`, 0]))

test('a body of very many values is refused for that, however few bytes it has', async () => {
  const { status, body } = await server.admin.send('POST', '/api/sessions', { raw: JSON.stringify(keys(36_000)) })
  expect(status).toBe(413)
  expect(body).toMatchObject({ code: 'too_large', detail: expect.stringContaining('more than 20000 values') })
  const inside = JSON.stringify({ tool: 'x', arguments: { list: Array.from({ length: 25_000 }, () => 0) } })
  expect((await server.admin.send('POST', '/api/actions', { raw: inside })).status).toBe(413)
})

test('an answer names at most 20 issues, each cut, and says how many more there are', async () => {
  const unknown = await server.admin.send('POST', '/api/sessions', { raw: JSON.stringify(keys(15_000)) })
  expect(unknown.status).toBe(400)
  expect(JSON.stringify(unknown.body).length).toBeLessThan(3_000)
  const items = Array.from({ length: 40 }, () => ({ id: 1 }))
  const { status, body } = await server.admin.send('POST', '/api/actions/decisions', { raw: JSON.stringify({ items, verdict: 'x' }) })
  expect(status).toBe(400)
  expect(body.issues).toHaveLength(20)
  expect(body.moreIssues).toBeGreaterThan(0)
})
