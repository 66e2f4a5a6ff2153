import { once } from 'node:events'
import { request } from 'node:http'
import { expect, test } from 'vitest'
import type { ApiClient } from '../testing/api-client.ts'
import { countStatements } from '../testing/count-cost.ts'
import { signInWithKey } from '../testing/sign-in.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { startTestServer } from '../testing/test-server.ts'

// Who asks is known from the headers. A body may come half a minute later, when they may have lost what the headers proved.

/** Sends all of a request but its last byte. Resolves when the server has its headers. */
async function sendMost(url: string, method: string, headers: Record<string, string>, body: unknown) {
  const text = JSON.stringify(body)
  const sent = request(url, {
    method,
    agent: false,
    headers: { ...headers, 'content-type': 'application/json', 'content-length': String(text.length), expect: '100-continue' },
  })
  sent.flushHeaders()
  await once(sent, 'continue')
  sent.write(text.slice(0, -1))
  return {
    /** Sends the rest. */
    async finish(): Promise<number> {
      sent.end(text.slice(-1))
      const [answer] = await once(sent, 'response')
      answer.resume()
      return answer.statusCode
    },
  }
}

async function startDesk() {
  const stack = new AsyncDisposableStack()
  const target = stack.use(await startTarget(() => ({ status: 200, body: { id: 1 } })))
  const server = stack.use(
    await startTestServer({
      config: { agents: { desk: { model: 'scripted/desk.json', tools: ['*'] } }, tools: toolsOf(target) },
      scripts: { desk: [{ text: 'Done.' }] },
    }),
  )
  let asked = 0
  const propose = (who: ApiClient) => who.post('/api/actions', { tool: 'keyed', arguments: { what: `${++asked}` } })
  return { target, server, propose, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

test('a vote whose last byte comes after its right was taken away does not count: key, role, person, session, token', async () => {
  await using desk = await startDesk()
  const { server, target, propose } = desk
  const bot = await server.as({ name: 'bot', kind: 'agent' })
  const portal = await server.makeKey({ name: 'portal', kind: 'service', person: null, scopes: ['embed'], embedRoles: ['approver'] })
  const host = server.with({ authorization: `Bearer ${portal.key}` })
  const person = () => server.makeKey({ name: 'Ana', kind: 'person', roles: ['approver'] })
  const bearer = (key: string) => ({ authorization: `Bearer ${key}` })
  const ways: Record<string, () => Promise<[headers: Record<string, string>, takeAway: () => Promise<{ status: number }>]>> = {
    key: async () => {
      const { key, id } = await person()
      return [bearer(key), () => server.admin.send('DELETE', `/api/keys/${id}`)]
    },
    role: async () => {
      const { key, principal } = await person()
      return [bearer(key), () => server.admin.send('PATCH', `/api/people/${principal.id}`, { body: { roles: ['viewer'] } })]
    },
    person: async () => {
      const { key, principal } = await person()
      return [bearer(key), () => server.admin.send('POST', `/api/people/${principal.id}/disable`, { body: {} })]
    },
    session: async () => {
      const { key } = await person()
      const headers = { ...(await signInWithKey(server.url, key)), origin: server.url }
      return [headers, () => server.with(headers).send('POST', '/api/sign-out', { body: {} })]
    },
    token: async () => {
      const { token } = await host.post('/api/embed-tokens', { person: 'user-1', roles: ['approver'] })
      return [bearer(token), () => server.admin.send('DELETE', `/api/keys/${portal.id}`)]
    },
  }
  const answered: Record<string, unknown> = {}
  for (const [what, begin] of Object.entries(ways)) {
    const { id } = await propose(bot)
    const [headers, takeAway] = await begin()
    const vote = await sendMost(`${server.url}/api/actions/${id}/decision`, 'POST', headers, { verdict: 'approve' })
    // By then the server knows who asks.
    for (let nth = 0; nth < 5; nth++) await server.with(headers).get('/api/me')
    expect((await takeAway()).status).toBeLessThan(300)
    const status = await vote.finish()
    await server.settle()
    const { state } = await server.admin.get(`/api/actions/${id}`)
    answered[what] = [status, state]
  }
  expect(answered).toEqual({
    key: [401, 'proposed'],
    role: [403, 'proposed'],
    person: [401, 'proposed'],
    session: [401, 'proposed'],
    token: [401, 'proposed'],
  })
  expect(target.writes).toEqual([])
})

test('an admin who is none any more when the last byte comes adds no webhook', async () => {
  await using desk = await startDesk()
  const { server } = desk
  const { key, principal } = await server.makeKey({ name: 'Ana', kind: 'person', roles: ['admin'] })
  const headers = { authorization: `Bearer ${key}` }
  const body = { url: 'https://hooks.example.com', events: ['action.overdue'] }
  const added = await sendMost(`${server.url}/api/webhooks`, 'POST', headers, body)
  for (let nth = 0; nth < 5; nth++) await server.with(headers).get('/api/me')
  const taken = await server.admin.send('PATCH', `/api/people/${principal.id}`, { body: { roles: ['viewer'] } })
  expect(taken.status).toBe(200)
  expect(await added.finish()).toBe(403)
  expect((await server.admin.get('/api/webhooks')).items).toEqual([])
})

test('who sends a request whole is looked up once', async () => {
  using counted = countStatements()
  await using desk = await startDesk()
  const { key } = await desk.server.makeKey({ name: 'Ana', kind: 'person', roles: ['admin'] })
  const ana = desk.server.with({ authorization: `Bearer ${key}` })
  // The first use of a key is noted.
  await ana.get('/api/me')
  const before = counted.sent.length
  // Refused as it is read, so that nothing else looks anybody up.
  expect((await ana.send('POST', '/api/webhooks', { body: {} })).status).toBe(400)
  expect(counted.sent.slice(before).filter((text) => text.includes('from "api_key"'))).toHaveLength(1)
})
