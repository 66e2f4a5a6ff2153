import { expect, test } from 'vitest'
import type { ApiClient } from '../testing/api-client.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { startTestServer } from '../testing/test-server.ts'

// People who may ask agents for actions but cannot decide.

async function openDesk(policy: object = { rules: [] }) {
  const stack = new AsyncDisposableStack()
  const target = stack.use(await startTarget(() => ({ status: 200, body: { id: 1 } })))
  const server = stack.use(
    await startTestServer({
      config: { agents: { desk: { model: 'scripted/desk.json', tools: ['*'] } }, tools: toolsOf(target), policy },
      scripts: { desk: [{ calls: [{ tool: 'keyed', arguments: { what: 'x' } }] }, { text: 'Done.' }] },
    }),
  )
  return {
    server,
    target,
    mem: await server.as({ name: 'Mem', kind: 'person', roles: ['member'] }),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

const decideEveryWay = async (who: ApiClient, actionId: string, sessionId: string) => {
  const tries: [string, object][] = [
    [`/api/actions/${actionId}/decision`, { verdict: 'approve' }],
    ['/api/chat/approve', { approvalId: actionId, approved: true }],
    [`/api/approve-tool/${actionId}`, { approved: true }],
    [`/api/sessions/${sessionId}/approve`, { verdict: 'approve_all' }],
    ['/api/grants', { actionId, scope: 'session', expiresIn: 'PT1H', exact: true }],
  ]
  for (const [path, body] of tries) expect(await who.send('POST', path, { body }), path).toMatchObject({ status: 403 })
}

test('a member starts sessions, writes and proposes, sees what is theirs, and decides nothing; a group alone does none of it', async () => {
  await using desk = await openDesk()
  const { mem, server, target } = desk
  const { id: sessionId } = await mem.post('/api/sessions', {})
  expect((await mem.send('POST', `/api/sessions/${sessionId}/messages`, { body: { content: 'go' } })).status).toBe(202)
  await server.settle()
  const { items } = await mem.get(`/api/actions?session=${sessionId}`)
  expect(items).toMatchObject([{ state: 'proposed', requires: { roles: ['approver'] } }])
  await decideEveryWay(mem, items[0].id, sessionId)
  // A command word from a person without a vote is an ordinary message.
  expect((await mem.post(`/api/sessions/${sessionId}/messages`, { content: 'yes' })).decided).toBeUndefined()
  expect((await mem.get('/api/actions?mine=true')).items).toEqual([])
  expect((await mem.post('/api/actions', { tool: 'keyed', arguments: { what: 'y' } })).state).toBe('proposed')
  expect(target.writes).toEqual([])

  const other = await server.as({ name: 'Gus', kind: 'person', roles: ['sales'] })
  expect((await other.send('POST', '/api/sessions', { body: {} })).status).toBe(403)
  expect((await other.get('/api/sessions')).items).toEqual([])
  expect((await mem.get('/api/sessions')).items).toHaveLength(1)
})

test('a member decides nothing, even where a rule names the role', async () => {
  await using desk = await openDesk({
    rules: [{ name: 'odd', match: { tool: 'keyed' }, verdict: 'ask', requires: { roles: ['member', 'finance'] } }],
  })
  const { mem, server } = desk
  const action = await mem.post('/api/actions', { tool: 'keyed', arguments: { what: 'x' } })
  const { id: sessionId } = await mem.post('/api/sessions', {})
  await mem.post(`/api/sessions/${sessionId}/messages`, { content: 'go' })
  await server.settle()
  const { items } = await mem.get(`/api/actions?session=${sessionId}`)
  await decideEveryWay(mem, items[0].id, sessionId)
  expect((await mem.send('POST', `/api/actions/${action.id}/decision`, { body: { verdict: 'approve' } })).status).toBe(403)
  const fay = await server.as({ name: 'Fay', kind: 'person', roles: ['finance'] })
  expect((await fay.send('POST', `/api/actions/${action.id}/decision`, { body: { verdict: 'approve' } })).status).toBe(200)
  // The delegate of a person without a vote has no vote either.
  const del = await server.as({ name: 'Del', kind: 'person', roles: [] })
  await mem.send('POST', '/api/delegations', { body: { to: del.principal.id, expiresIn: 'PT1H' } })
  expect((await del.send('POST', `/api/actions/${items[0].id}/decision`, { body: { verdict: 'approve' } })).status).toBe(404)
})

test('no agent or service is given the role of a member', async () => {
  await using desk = await openDesk()
  for (const kind of ['agent', 'service']) {
    expect(await desk.server.admin.send('POST', '/api/keys', { body: { name: 'bot', kind, roles: ['member'] } })).toMatchObject({
      status: 422,
    })
  }
})

test('an approver sees and ends the grants of everybody; a member and a group see only their own', async () => {
  await using desk = await openDesk({ rules: [{ name: 'money', match: {}, verdict: 'ask', requires: { roles: ['finance'] } }] })
  const { mem, server } = desk
  const person = (name: string, role: string) => server.as({ name, kind: 'person', roles: [role] })
  const [fay, other, ana] = [await person('Fay', 'finance'), await person('Otto', 'support'), await person('Ana', 'approver')]
  const { id: actionId } = await mem.post('/api/actions', { tool: 'keyed', arguments: { what: 'x' } })
  const { id } = await fay.post('/api/grants', { actionId, scope: 'agent', expiresIn: 'PT1H', exact: true })
  for (const who of [mem, other]) {
    expect((await who.get('/api/grants')).items).toEqual([])
    expect((await who.send('GET', `/api/grants/${id}`)).status).toBe(404)
  }
  expect((await ana.get('/api/grants')).items).toMatchObject([{ id }])
  expect((await ana.send('DELETE', `/api/grants/${id}`)).status).toBe(200)
  expect((await fay.get('/api/grants?state=standing')).items).toEqual([])
})
