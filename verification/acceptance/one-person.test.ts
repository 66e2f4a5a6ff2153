import { expect, test } from 'vitest'
import type { ApiClient } from '../testing/api-client.ts'
import { signInLocally, signInWithKey } from '../testing/sign-in.ts'
import { call, startTalk } from '../testing/talk.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { startTestServer, type TestServer } from '../testing/test-server.ts'

/** Starts a server on which every action needs the votes of two people. */
async function startDesk(requires: object) {
  const target = await startTarget(() => ({ status: 200, body: { id: 1 } }))
  const server = await startTestServer({
    config: {
      agents: {},
      tools: toolsOf(target),
      policy: { rules: [{ name: 'needs approval', match: {}, verdict: 'ask', requires }] },
    },
  })
  return {
    target,
    server,
    propose: async (client: TestServer['admin']) =>
      (await client.post('/api/actions', { tool: 'unkeyed', arguments: { what: 'x' }, expiresIn: 'P1D' })).id as string,
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]()
      await target[Symbol.asyncDispose]()
    },
  }
}

const localPage = async (server: TestServer) => server.with({ ...(await signInLocally(server)), origin: server.url })

const stateOf = async ({ admin }: TestServer, id: string): Promise<string> => (await admin.get(`/api/actions/${id}`)).state

test('the person at this machine and the owner of the bootstrap key are one person: together they are one vote of two', async () => {
  await using desk = await startDesk({ quorum: 2 })
  const { server, target } = desk
  const page = await localPage(server)
  const ids = await Promise.all([page, server.admin].map(async (one) => (await one.get('/api/me')).principal.id))
  expect(ids).toEqual(['prn_local', 'prn_local'])
  const bot = await server.as({ name: 'bot', kind: 'agent' })
  for (const voters of [
    [page, server.admin],
    [server.admin, page],
  ]) {
    const id = await desk.propose(bot)
    for (const voter of voters) await voter.send('POST', `/api/actions/${id}/decision`, { body: { verdict: 'approve' } })
    expect(await stateOf(server, id)).toBe('proposed')
  }
  expect(target.writes).toEqual([])
})

test('who asked with the bootstrap key, or through an agent of it, does not approve at the console where the requester may not', async () => {
  await using desk = await startDesk({ notRequester: true })
  const { server, target } = desk
  const page = await localPage(server)
  const bot = await server.as({ name: 'bot', kind: 'agent' })
  for (const requester of [server.admin, bot]) {
    const id = await desk.propose(requester)
    for (const voter of [page, server.admin]) {
      expect((await voter.send('POST', `/api/actions/${id}/decision`, { body: { verdict: 'approve' } })).status).toBe(403)
    }
  }
  expect(target.writes).toEqual([])
})

const TWO = { name: 'two', match: { tool: 'unkeyed' }, verdict: 'ask' as const, requires: { quorum: 2, roles: ['approver'] } }

/** Opens a conversation in which an action waits for two people. */
async function startConversation() {
  const talk = await startTalk({ says: [{ calls: [call('a', 'unkeyed', 'x')] }, { text: 'Done.' }], policy: { rules: [TWO] } })
  const { server } = talk
  const person = (name: string, roles = ['approver', 'viewer']) => server.as({ name, kind: 'person', roles })
  const begin = async (who: ApiClient) => {
    using stream = await who.stream('/api/chat', { body: { message: 'go' } })
    const { sessionId } = await stream.next('session')
    const { proposal } = await stream.next('action_proposed')
    await stream.next('session_status', ({ status }) => status === 'waiting_approval')
    talk.letPeopleRead()
    return { sessionId: sessionId as string, id: proposal.id as string }
  }
  return { talk, server, person, begin }
}

test('one person by key, second key, console, chat word, bulk and every chat route is one vote of two, with two delegations as well', async () => {
  const { talk, server, person, begin } = await startConversation()
  await using _talk = talk
  const [ana, fay, gil] = [await person('Ana'), await person('Fay'), await person('Gil')]
  const { key } = await server.makeKey({ name: 'Ana’s phone', principal: ana.principal.id, kind: 'person' })
  const [phone, page] = [
    server.with({ authorization: `Bearer ${key}` }),
    server.with({ ...(await signInWithKey(server.url, key)), origin: server.url }),
  ]
  for (const lender of [fay, gil]) await lender.post('/api/delegations', { to: ana.principal.id, expiresIn: 'PT1H' })
  const { sessionId, id } = await begin(ana)
  const { revision, digest } = await ana.get(`/api/actions/${id}`)
  const ways: [ApiClient, string, object][] = [
    [ana, `/api/actions/${id}/decision`, { verdict: 'approve', revision, digest }],
    [phone, `/api/actions/${id}/decision`, { verdict: 'approve', reason: 'from the phone' }],
    [page, `/api/actions/${id}/decision`, { verdict: 'approve' }],
    [page, `/api/sessions/${sessionId}/messages`, { content: 'approve' }],
    [ana, `/api/sessions/${sessionId}/messages`, { content: `approve ${id}` }],
    [phone, `/api/sessions/${sessionId}/messages`, { content: 'approve all' }],
    [ana, `/api/sessions/${sessionId}/approve`, { verdict: 'approve' }],
    [phone, `/api/sessions/${sessionId}/approve`, { verdict: 'approve_all' }],
    [page, '/api/chat/approve', { approvalId: id, approved: true }],
    [phone, `/api/approve-tool/${id}`, { approved: true }],
    [page, '/api/actions/decisions', { items: [{ id, revision, digest }], verdict: 'approve' }],
  ]
  for (const order of [ways, ways.toReversed()]) {
    // Together, and one after the other.
    await Promise.all(order.map(([who, path, body]) => who.send('POST', path, { body })))
    for (const [who, path, body] of order) await who.send('POST', path, { body })
    const action = await server.admin.get(`/api/actions/${id}`)
    expect([action.state, action.votes.map(({ by }: { by: { name: string } }) => by.name)]).toEqual(['proposed', ['Ana']])
  }
  expect(talk.target.writes).toHaveLength(0)
  await fay.post(`/api/actions/${id}/decision`, { verdict: 'approve' })
  expect((await server.admin.get(`/api/actions/${id}?wait=60&until=settled`)).state).toBe('succeeded')
  expect(talk.target.writes).toHaveLength(1)
})

test('a delegate of two people is one person and one vote, and stands in for the one of them who has not voted', async () => {
  const { talk, server, person, begin } = await startConversation()
  await using _talk = talk
  const [fay, gil, vic] = [await person('Fay'), await person('Gil'), await person('Vic', ['viewer'])]
  const page = server.with({
    ...(await signInWithKey(server.url, (await server.makeKey({ name: 'Vic', principal: vic.principal.id, kind: 'person' })).key)),
    origin: server.url,
  })
  for (const lender of [fay, gil]) await lender.post('/api/delegations', { to: vic.principal.id, expiresIn: 'PT1H' })
  const { id } = await begin(fay)
  const approve = (who: ApiClient) => who.send('POST', `/api/actions/${id}/decision`, { body: { verdict: 'approve' } })
  for (const who of [vic, page, vic]) await approve(who)
  const seen = await server.admin.get(`/api/actions/${id}`)
  expect([seen.state, seen.votes]).toEqual(['proposed', [expect.objectContaining({ by: expect.objectContaining({ name: 'Vic' }) })]])
  // Fay’s own vote takes the place of the one for her: still one right of two.
  await approve(fay)
  expect((await server.admin.get(`/api/actions/${id}`)).state).toBe('proposed')
  expect(talk.target.writes).toHaveLength(0)
  await approve(vic)
  expect((await server.admin.get(`/api/actions/${id}?wait=60&until=settled`)).state).toBe('succeeded')
  expect(talk.target.writes).toHaveLength(1)
})

test('a host’s person with two embed tokens is one vote of two, and the id of a person here makes nobody that person', async () => {
  const { talk, server, person, begin } = await startConversation()
  await using _talk = talk
  const ana = await person('Ana')
  const portal = await server.as({ name: 'portal', kind: 'service', scopes: ['embed'], embedRoles: ['approver'], person: null })
  const as = async (id: string) => {
    const { token, principal } = await portal.post('/api/embed-tokens', { person: { id, name: 'Ana' }, roles: ['approver'] })
    return { ...server.with({ authorization: `Bearer ${token}` }), principal }
  }
  const [one, again, posing] = [await as('ana'), await as('ana'), await as(ana.principal.id)]
  expect(again.principal.id).toBe(one.principal.id)
  expect(posing.principal.id).not.toBe(ana.principal.id)
  const { id } = await begin(ana)
  const approve = (who: ApiClient) => who.send('POST', `/api/actions/${id}/decision`, { body: { verdict: 'approve' } })
  await Promise.all([one, again, one, again].map(approve))
  for (const who of [one, again]) await approve(who)
  expect(await server.admin.get(`/api/actions/${id}`)).toMatchObject({ state: 'proposed', votes: [{ by: { id: one.principal.id } }] })
  await approve(ana)
  expect((await server.admin.get(`/api/actions/${id}?wait=60&until=settled`)).state).toBe('succeeded')
  expect(talk.target.writes).toHaveLength(1)
})
