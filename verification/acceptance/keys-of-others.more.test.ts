import { expect, test } from 'vitest'
import type { ApiClient } from '../testing/api-client.ts'
import { databaseFlags, runCommandLine } from '../testing/run-command.ts'
import { signInWithKey } from '../testing/sign-in.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { startTestServer, type TestServer } from '../testing/test-server.ts'

// An admin makes keys, and none of them makes the admin count as a second person.

const withKey = (server: TestServer, key: string) => server.with({ authorization: `Bearer ${key}` })

async function startDesk(requires: object = { quorum: 2 }) {
  const stack = new AsyncDisposableStack()
  const target = stack.use(await startTarget(() => ({ status: 200, body: { id: 1 } })))
  const server = stack.use(
    await startTestServer({
      config: {
        agents: { desk: { model: 'scripted/desk.json', tools: ['*'] } },
        tools: toolsOf(target),
        policy: { rules: [{ name: 'two people', match: { tool: 'keyed' }, verdict: 'ask', requires }] },
      },
      scripts: { desk: [{ calls: [{ tool: 'keyed', arguments: { what: 'money' } }] }, { text: 'Done.' }] },
    }),
  )
  const ana = await server.as({ name: 'Ana', kind: 'person', roles: ['admin', 'approver'] })
  const bob = await server.as({ name: 'Bob', kind: 'person', roles: ['approver'] })
  const bot = await server.as({ name: 'bot', kind: 'agent', person: null })
  const { id: sessionId } = await bot.post('/api/sessions', {})
  await bot.post(`/api/sessions/${sessionId}/messages`, { content: 'go' })
  await server.settle()
  const { id: actionId } = (await ana.get(`/api/sessions/${sessionId}`)).pendingApprovals[0]
  return { server, target, ana, bob, sessionId, actionId, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

async function consoleOf(server: TestServer, key: string): Promise<ApiClient> {
  return server.with({ ...(await signInWithKey(server.url, key)), origin: server.url })
}

const voters = async (server: TestServer) => ((await server.dump()).vote as { principal_id: string }[]).map((vote) => vote.principal_id)

test('an admin does not vote a second time with a key that they made in another’s name, by any route', async () => {
  await using desk = await startDesk()
  const { server, target, ana, bob, sessionId, actionId } = desk
  await ana.post(`/api/actions/${actionId}/decision`, { verdict: 'approve' })
  const { revision, digest } = await ana.get(`/api/actions/${actionId}`)
  const forged = [
    await ana.post('/api/keys', { name: 'more', kind: 'person', principal: bob.principal.id }),
    await ana.post('/api/keys', { name: 'Eve', kind: 'person', roles: ['approver', 'admin'] }),
    await ana.post('/api/keys', { name: 'more', kind: 'person', person: 'prn_local', scopes: ['decide', 'manage', 'propose'] }),
  ]
  const ways: [string, object][] = [
    [`/api/actions/${actionId}/decision`, { verdict: 'approve' }],
    [`/api/actions/${actionId}/decision`, { verdict: 'approve', revision, digest }],
    [`/api/actions/${actionId}/decision`, { verdict: 'decline' }],
    ['/api/chat/approve', { approvalId: actionId, approved: true }],
    [`/api/approve-tool/${actionId}`, { approved: true }],
    [`/api/sessions/${sessionId}/approve`, { verdict: 'approve', actionId }],
    [`/api/sessions/${sessionId}/messages`, { content: 'yes' }],
    ['/api/chat', { sessionId, message: 'approve all' }],
    ['/api/grants', { actionId, scope: 'agent', expiresIn: 'P1D', exact: true }],
    ['/api/delegations', { to: ana.principal.id, expiresIn: 'P1D' }],
    ['/api/actions', { tool: 'keyed', arguments: { what: 'more' } }],
    ['/api/keys', { name: 'more', kind: 'person' }],
    ['/api/agent-requests', { message: 'approve all' }],
  ]
  const made = (await server.dump()).api_key?.length
  for (const { id, key, acceptedAt } of forged) {
    expect(acceptedAt).toBeNull()
    for (const client of [withKey(server, key), await consoleOf(server, key)]) {
      expect((await client.get('/api/me')).principal).toMatchObject({ unaccepted: true, scopes: [] })
      for (const [path, body] of [...ways, ...forged.map((one): [string, object] => [`/api/keys/${one.id}/accept`, {}])]) {
        const answer = await client.send('POST', path, { body })
        expect({ path, status: answer.status }).toEqual({ path, status: 403 })
      }
      const many = await client.send('POST', '/api/actions/decisions', {
        body: { verdict: 'approve', items: [{ id: actionId, revision, digest }] },
      })
      expect(many.text).not.toContain('"status":200')
      expect((await client.send('PUT', '/api/policy', { body: { document: { rules: [] }, reason: 'mine' } })).status).toBe(403)
    }
    expect((await ana.send('POST', `/api/keys/${id}/accept`, { body: {} })).status).toBe(404)
  }
  const problem = await withKey(server, forged[0].key).send('POST', `/api/actions/${actionId}/decision`, { body: { verdict: 'approve' } })
  expect(problem.body.detail).toMatch(/somebody else made it.*until Bob has accepted it.*countersign key accept/)
  expect(await voters(server)).toEqual([ana.principal.id])
  expect(await ana.get(`/api/actions/${actionId}`)).toMatchObject({ state: 'proposed' })
  expect((await server.dump()).api_key).toHaveLength(made ?? 0)
  expect(target.writes).toEqual([])
})

test('a key decides once its person accepts it, signed in with what is their own, and the record says who made and who accepted it', async () => {
  await using desk = await startDesk()
  const { server, target, ana, bob, actionId } = desk
  await ana.post(`/api/actions/${actionId}/decision`, { verdict: 'approve' })
  const { id, key } = await ana.post('/api/keys', { name: 'CI of Bob', kind: 'person', principal: bob.principal.id })
  const bobs = (await bob.get('/api/keys/own')).items
  expect(bobs.find((one: { id: string }) => one.id === id)).toMatchObject({ acceptedAt: null, createdBy: { name: 'Ana' } })
  expect(bobs.every(({ principal }: { principal: { name: string } }) => principal.name === 'Bob')).toBe(true)
  using stream = await withKey(server, key).stream('/api/events')
  expect(await bob.post(`/api/keys/${id}/accept`)).toMatchObject({ id, acceptedAt: expect.any(String) })
  // The key has other rights now, so the server ends its stream, and the client has to open a new one.
  await stream.ended()
  const again = await bob.post(`/api/keys/${id}/accept`)
  await withKey(server, key).post(`/api/actions/${actionId}/decision`, { verdict: 'approve' })
  await server.settle()
  expect(target.writes).toHaveLength(1)
  expect(await voters(server)).toEqual(expect.arrayContaining([ana.principal.id, bob.principal.id]))
  const { items } = await server.admin.get('/api/audit?kind=key_accepted')
  const ours = items.filter((row: { data: { keyId: string } }) => row.data.keyId === id)
  expect(ours).toMatchObject([{ actor: { name: 'Bob' }, data: { madeBy: ana.principal.id, for: bob.principal.id } }])
  expect(again.acceptedAt).toBe((await bob.post(`/api/keys/${id}/accept`)).acceptedAt)

  const late = await ana.post('/api/keys', { name: 'late', kind: 'person', principal: bob.principal.id })
  await ana.send('DELETE', `/api/keys/${late.id}`)
  expect((await bob.send('POST', `/api/keys/${late.id}/accept`, { body: {} })).status).toBe(410)
  expect((await bob.send('POST', '/api/keys/key_nobody/accept', { body: {} })).status).toBe(404)
})

test('who runs the server accepts a key on the data, for a person who has no other way in yet', async () => {
  await using desk = await startDesk({ quorum: 1 })
  const { server, ana, actionId } = desk
  const { id, key } = await ana.post('/api/keys', { name: 'Cy', kind: 'person', roles: ['approver'] })
  const cy = withKey(server, key)
  expect((await cy.send('POST', `/api/actions/${actionId}/decision`, { body: { verdict: 'approve' } })).status).toBe(403)
  const command = ['key', 'accept', id, ...databaseFlags(server.database, server.dataDir)]
  expect(await runCommandLine(command)).toMatchObject({ code: 0, stdout: expect.stringContaining('of Cy was accepted') })
  expect((await cy.get('/api/me')).principal).not.toHaveProperty('unaccepted')
  expect((await cy.send('POST', `/api/actions/${actionId}/decision`, { body: { verdict: 'approve' } })).status).toBe(200)
})

test('a limited key makes and accepts nothing wider than itself: in scopes, in roles, or for another person', async () => {
  await using desk = await startDesk()
  const { server, ana, bob } = desk
  const mine = { kind: 'person', principal: ana.principal.id } as const
  const manage = withKey(server, (await ana.post('/api/keys', { ...mine, name: 'm', scopes: ['manage'] })).key)
  const admin = withKey(server, (await ana.post('/api/keys', { ...mine, name: 'a', roles: ['admin'] })).key)
  const decides = withKey(server, (await ana.post('/api/keys', { ...mine, name: 'd', scopes: ['decide'] })).key)
  const others = (await server.as({ name: 'of Bob', kind: 'agent', person: bob.principal.id })).principal.id
  const wider: [ApiClient, object][] = [
    [manage, { ...mine }],
    [manage, { ...mine, scopes: ['decide'] }],
    [manage, { ...mine, scopes: ['manage', 'propose'] }],
    [manage, { kind: 'agent' }],
    [manage, { kind: 'agent', scopes: ['propose'] }],
    [manage, { kind: 'agent', scopes: [], person: null }],
    [manage, { kind: 'agent', scopes: [], person: bob.principal.id }],
    [manage, { kind: 'agent', scopes: [], principal: others }],
    [manage, { kind: 'person', roles: ['viewer'], scopes: [] }],
    [manage, { kind: 'person', principal: bob.principal.id, scopes: [] }],
    [admin, { ...mine }],
    [admin, { ...mine, roles: ['approver'] }],
    [admin, { kind: 'person', roles: ['approver'] }],
  ]
  const before = (await server.dump()).api_key?.length
  for (const [client, body] of wider) {
    const answer = await client.send('POST', '/api/keys', { body: { name: 'wider', ...body } })
    expect(answer, JSON.stringify(body)).toMatchObject({
      status: 403,
      body: { detail: expect.stringContaining('nothing wider than itself') },
    })
  }
  expect((await server.dump()).api_key).toHaveLength(before ?? 0)
  for (const [client, body] of [
    [manage, { ...mine, scopes: ['manage'] }],
    [manage, { kind: 'agent', scopes: [] }],
    [admin, { ...mine, roles: ['admin'] }],
    [admin, { kind: 'agent' }],
  ] as const) {
    expect((await client.send('POST', '/api/keys', { body: { name: 'as narrow', ...body } })).status, JSON.stringify(body)).toBe(201)
  }
  const full = await server.admin.post('/api/keys', { ...mine, name: 'full' })
  expect((await decides.send('POST', `/api/keys/${full.id}/accept`, { body: {} })).status).toBe(403)
  const narrow = await server.admin.post('/api/keys', { ...mine, name: 'narrow', scopes: ['decide'] })
  expect((await decides.send('POST', `/api/keys/${narrow.id}/accept`, { body: {} })).status).toBe(200)
  expect((await ana.send('POST', `/api/keys/${full.id}/accept`, { body: {} })).status).toBe(200)
})

test('an admin does not lend themselves the vote of somebody else; a third person may be lent it', async () => {
  await using desk = await startDesk({ roles: ['finance'] })
  const { server, ana, bob, actionId } = desk
  const fay = await server.as({ name: 'Fay', kind: 'person', roles: ['finance'] })
  const lend = (to: string) => ana.send('POST', '/api/delegations', { body: { from: fay.principal.id, to, expiresIn: 'P1D' } })
  expect(await lend(ana.principal.id)).toMatchObject({ status: 403, body: { code: 'forbidden' } })
  expect((await ana.send('POST', `/api/actions/${actionId}/decision`, { body: { verdict: 'approve' } })).status).toBe(403)
  expect((await lend(bob.principal.id)).status).toBe(201)
  expect((await bob.send('POST', `/api/actions/${actionId}/decision`, { body: { verdict: 'approve' } })).status).toBe(200)
})
