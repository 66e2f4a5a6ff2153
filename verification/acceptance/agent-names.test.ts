import type { Action, Principal } from '@countersign/core'
import { expect, test } from 'vitest'
import type { ConfigInput } from '../../packages/server/src/config/index.ts'
import { openBeside, principals } from '../../packages/server/src/store/index.ts'
import type { ApiClient } from '../testing/api-client.ts'
import { startTarget, type Target, toolsOf } from '../testing/target.ts'
import { startTestServer, type TestServer } from '../testing/test-server.ts'

// An agent claims the name of another agent to get what policy or a person allowed that agent.

const POLICY: NonNullable<ConfigInput['policy']> = {
  rules: [
    { name: 'ci may', match: { tool: 'keyed', when: 'agent.name == "ci"' }, verdict: 'allow' },
    { name: 'desk may', match: { tool: 'keyed', agent: 'desk' }, verdict: 'allow' },
    { name: 'interns never', match: { tool: 'keyed', when: 'agent.name == "intern"' }, verdict: 'deny' },
    { name: 'small ones run', match: { tool: 'unkeyed', when: 'args.what == "small"' }, verdict: 'allow' },
    { name: 'trainees wait', match: { tool: 'keyed', when: 'agent.name == "trainee"' }, verdict: 'ask', requires: { quorum: 2 } },
  ],
}

interface Desk extends AsyncDisposable {
  server: TestServer
  target: Target
}

async function openDesk(): Promise<Desk> {
  const stack = new AsyncDisposableStack()
  const target = stack.use(await startTarget(() => ({ status: 200, body: { id: 1 } })))
  const config = { agents: { desk: { model: 'scripted/talk.json', tools: ['*'] } }, tools: toolsOf(target), policy: POLICY }
  const server = stack.use(await startTestServer({ config, scripts: { talk: [{ text: 'Hi.' }] } }))
  return { server, target, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

test('a chat goes on with the agent that it began with: who names another one is told so, and nothing is said to either', async () => {
  const agent = { model: 'scripted/talk.json' }
  await using server = await startTestServer({ config: { agents: { desk: agent, night: agent } }, scripts: { talk: [{ text: 'Hi.' }] } })
  const { id: sessionId } = await server.admin.post('/api/sessions', { agent: 'night' })
  for (const path of ['/api/chat', '/api/agent-requests']) {
    const { status, body } = await server.admin.send('POST', path, { body: { sessionId, message: 'Hello', agent: 'desk' } })
    expect([status, body.detail], path).toEqual([404, `the conversation ${sessionId} is with night, not with desk: begin another one`])
  }
  expect((await server.admin.get(`/api/sessions/${sessionId}/messages`)).items).toEqual([])
  using stream = await server.admin.stream('/api/chat', { body: { sessionId, message: 'Hello', agent: 'night' } })
  await stream.next('done')
  await server.admin.post('/api/agent-requests', { sessionId, message: 'Hello', agent: 'night' })
})

const propose = (who: ApiClient, agent?: string, what = 'x') =>
  who.send('POST', '/api/actions', { body: { tool: 'keyed', arguments: { what }, ...(agent !== undefined && { agent }) } })

const overMcp = (server: TestServer, key: string, query: string) =>
  fetch(`${server.url}/mcp${query}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${key}`,
      'mcp-protocol-version': '2025-11-25',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'keyed', arguments: { what: query } } }),
  })

/** Creates an agent from before names were stored, with a further key. */
async function oldAgent(server: TestServer): Promise<ApiClient> {
  const agent: Principal = { id: 'prn_old', kind: 'agent', name: 'old', roles: ['agent'] }
  const store = await openBeside(server.database)
  await store.transact(() => principals.savePrincipal(agent, Date.now()))
  await store.close()
  return server.as({ name: 'old key', kind: 'agent', principal: agent.id })
}

test('an agent that gives itself the name of another one is refused, over HTTP and over MCP, and nothing happens', async () => {
  await using desk = await openDesk()
  const { server, target } = desk
  const { key, principal } = await server.admin.post('/api/keys', { name: 'helper', kind: 'agent' })
  expect(principal).toMatchObject({ name: 'helper', agent: 'helper' })
  const helper = server.with({ authorization: `Bearer ${key}` })
  for (const name of ['ci', 'desk', 'CI', 'helper ']) {
    expect(await propose(helper, name), name).toMatchObject({
      status: 403,
      body: { code: 'forbidden', detail: expect.stringContaining('for the agent helper') },
    })
  }
  expect((await overMcp(server, key, '?agent=desk')).status).toBe(403)
  await server.settle()
  expect(target.writes).toEqual([])
  expect((await server.admin.get('/api/actions')).items).toEqual([])

  for (const name of [undefined, 'helper']) {
    expect((await propose(helper, name, `${name}`)).body).toMatchObject({ state: 'proposed', agent: 'helper', agentVerified: true })
  }
  const ci = await server.as({ name: 'build server', kind: 'agent', agent: 'ci' })
  expect((await propose(ci)).body).toMatchObject({ state: 'approved', agent: 'ci', agentVerified: true, policy: { rule: 'ci may' } })
})

test('an agent that repeats its own name over MCP is answered as one that leaves it out, although the configuration has no such agent', async () => {
  await using desk = await openDesk()
  const { server, target } = desk
  const { key } = await server.admin.post('/api/keys', { name: 'build server', kind: 'agent', agent: 'ci' })
  for (const query of ['?', '?agent=ci']) {
    const answer = await overMcp(server, key, query)
    expect([answer.status, await answer.text()], query).toEqual([200, expect.stringContaining('"structuredContent":{"id":1}')])
  }
  expect(target.writes).toHaveLength(2)
  const verified = { state: 'succeeded', agent: 'ci', agentVerified: true, policy: { rule: 'ci may' } }
  expect((await server.admin.get('/api/actions')).items).toMatchObject([verified, verified])
  const { key: person } = await server.admin.post('/api/keys', { name: 'ci', kind: 'person', roles: ['approver'] })
  expect((await overMcp(server, person, '?agent=ci')).status).toBe(404)
})

test('a name that nothing proves is shown as such: no rule allows by it and no grant answers it, and rules that ask or deny still hold', async () => {
  await using desk = await openDesk()
  const { server, target } = desk
  const bo = await server.as({ name: 'Bo', kind: 'person', roles: ['approver'] })
  const service = await server.as({ name: 'cron', kind: 'service', roles: [] })
  const old = await oldAgent(server)
  for (const who of [old, bo, service]) {
    for (const name of ['ci', 'desk']) {
      const action: Action = (await propose(who, name)).body
      expect(action, name).toMatchObject({ state: 'proposed', agent: name, agentVerified: false })
    }
    expect((await propose(who, 'intern')).body).toMatchObject({ state: 'declined', policy: { rule: 'interns never' } })
    expect((await propose(who, 'trainee')).body).toMatchObject({ state: 'proposed', requires: { quorum: 2 } })
  }

  // A grant applies to the agent whose key proposed the action, not to every caller that uses its name.
  const { body: first } = await propose(old, 'ci', 'again')
  const remember = { scope: 'agent', expiresIn: 'PT1H', exact: true }
  await server.admin.post(`/api/actions/${first.id}/decision`, { verdict: 'approve', remember })
  expect((await propose(old, 'ci', 'again')).body).toMatchObject({ state: 'approved' })
  expect((await propose(old, 'something else', 'again')).body).toMatchObject({ state: 'proposed' })
  expect((await propose(service, 'ci', 'again')).body).toMatchObject({ state: 'proposed' })
  const ci = await server.as({ name: 'another', kind: 'agent', agent: 'ci' })
  expect((await propose(ci, 'ci', 'again')).body.policy.rule).toBe('ci may')
  await server.settle()
  expect(target.writes).toHaveLength(3)
})

test('a rule that names no agent allows a call under a name that nothing proves, as it does without a name', async () => {
  await using desk = await openDesk()
  const service = await desk.server.as({ name: 'cron', kind: 'service', roles: [] })
  const askFor = (what: string, agent?: string): Promise<Action> =>
    service.post('/api/actions', { tool: 'unkeyed', arguments: { what }, ...(agent !== undefined && { agent }) })
  for (const agent of [undefined, 'ci', 'somebody else']) {
    expect(await askFor('small', agent)).toMatchObject({ state: 'approved', policy: { rule: 'small ones run' } })
    expect(await askFor('large', agent)).toMatchObject({ state: 'proposed' })
  }
  expect(await askFor('small', 'ci')).toMatchObject({ agent: 'ci', agentVerified: false })
  await desk.server.settle()
})

test('an agent from before names were kept gets its name with a further key, keeps it, and its rules hold again', async () => {
  await using desk = await openDesk()
  const { server } = desk
  const old = await oldAgent(server)
  expect((await propose(old, 'ci')).body.state).toBe('proposed')
  const named = await server.as({ name: 'named', kind: 'agent', principal: 'prn_old', agent: 'ci' })
  for (const who of [old, named]) {
    expect((await propose(who, undefined, 'now')).body).toMatchObject({ agent: 'ci', agentVerified: true, policy: { rule: 'ci may' } })
    expect((await propose(who, 'desk')).status).toBe(403)
  }
  const other = { name: 'more', kind: 'agent', principal: 'prn_old', agent: 'desk' }
  expect(await server.admin.send('POST', '/api/keys', { body: other })).toMatchObject({ status: 422 })
  const person = { name: 'Eve', kind: 'person', agent: 'ci' }
  expect(await server.admin.send('POST', '/api/keys', { body: person })).toMatchObject({ status: 422 })
})
