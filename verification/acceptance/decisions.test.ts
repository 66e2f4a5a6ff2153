import type { Action, Grant } from '@countersign/core'
import { expect, test } from 'vitest'
import { ADMIN_NAME } from '../testing/bootstrap-key.ts'
import { brainHeard } from '../testing/brain-says.ts'
import { call, startTalk } from '../testing/talk.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { startTestServer } from '../testing/test-server.ts'

const ASK = { default: 'ask', rules: [{ name: 'reads run', match: { effect: 'read' }, verdict: 'allow' }] } as const
const rule = (requires: object, more: object = {}) => ({
  ...ASK,
  rules: [{ name: 'asks', match: { tool: 'unkeyed' }, verdict: 'ask' as const, requires, ...more }],
})
const approver = (name: string) => ({ name, kind: 'person' as const, roles: ['approver', 'viewer'] })

test('two approvals: typed in the chat by one, given over the chat’s route by another; in between it says 1 of 2', async () => {
  await using talk = await startTalk({ says: [{ calls: [call('a', 'unkeyed', 'x')] }, { text: 'Done.' }], policy: rule({ quorum: 2 }) })
  const { admin } = talk.server
  const [ana, ben] = [await talk.server.as(approver('Ana')), await talk.server.as(approver('Ben'))]
  using stream = await ana.stream('/api/chat', { body: { message: 'go' } })
  const { sessionId } = await stream.next('session')
  const { proposal } = await stream.next('action_proposed')
  await stream.next('session_status', (data) => data.status === 'waiting_approval')
  talk.letPeopleRead()
  const typed = await ana.post(`/api/sessions/${sessionId}/messages`, { content: 'approve' })
  expect(typed.decided).toMatchObject([
    { id: proposal.id, state: 'proposed', requires: { quorum: 2 }, votes: [{ by: { name: 'Ana' }, verdict: 'approve' }] },
  ])
  expect(await stream.next('action_update')).toMatchObject({ state: 'proposed', votes: [{ by: { name: 'Ana' } }] })
  const { items } = await admin.get(`/api/sessions/${sessionId}/messages`)
  expect(items[0]).toMatchObject({ kind: 'note', content: expect.stringContaining('It takes 2 to approve') })
  // The same decision by other routes is the same vote.
  expect((await ana.post(`/api/actions/${proposal.id}/decision`, { verdict: 'approve' })).votes).toHaveLength(1)
  expect((await ana.post(`/api/sessions/${sessionId}/approve`, { verdict: 'approve' })).pendingApprovals).toHaveLength(1)
  expect(talk.target.writes).toHaveLength(0)
  const { action } = await ben.post('/api/chat/approve', { approvalId: proposal.id, approved: true })
  expect(action).toMatchObject({ state: 'approved', votes: [{ by: { name: 'Ana' } }, { by: { name: 'Ben' } }] })
  await stream.next('message', (data) => data.message.content === 'Done.')
  expect(talk.target.writes).toHaveLength(1)
})

test('who asked does not approve: neither who owns the session nor who wrote in it', async () => {
  await using talk = await startTalk({
    says: [{ text: 'Yes?' }, { calls: [call('a', 'unkeyed', 'x')] }, { text: 'Done.' }],
    policy: rule({ notRequester: true }),
  })
  const [ana, ben, cleo] = await Promise.all(['Ana', 'Ben', 'Cleo'].map((name) => talk.server.as(approver(name))))
  if (!ana || !ben || !cleo) throw new Error('three people')
  const { id } = await ana.post('/api/sessions', {})
  await ana.post(`/api/sessions/${id}/participants`, { person: ben.principal.id })
  using stream = await ana.stream(`/api/sessions/${id}/events`)
  await ben.post(`/api/sessions/${id}/messages`, { content: 'when Ana asks, do x' })
  await stream.next('done')
  await ana.post(`/api/sessions/${id}/messages`, { content: 'now' })
  const { proposal } = await stream.next('action_proposed')
  await stream.next('session_status', (data) => data.status === 'waiting_approval')
  expect((await ana.post(`/api/sessions/${id}/messages`, { content: 'yes' })).decided).toEqual([])
  for (const who of [ana, ben]) {
    const refused = await who.send('POST', `/api/actions/${proposal.id}/decision`, { body: { verdict: 'approve' } })
    expect(refused).toMatchObject({
      status: 403,
      body: { code: 'forbidden', detail: expect.stringContaining('somebody else has to decide') },
    })
    expect((await who.get('/api/actions?mine=true')).items).toEqual([])
  }
  expect((await cleo.get('/api/actions?mine=true')).items).toMatchObject([{ id: proposal.id }])
  talk.letPeopleRead()
  expect((await cleo.post(`/api/sessions/${id}/messages`, { content: 'yes' })).decided).toMatchObject([{ state: 'approved' }])
  await stream.next('message', (data) => data.message.content === 'Done.')
})

test('who asked neither settles an unknown outcome nor runs it again where somebody else has to decide', async () => {
  await using target = await startTarget((_request, nth) => (nth === 1 ? 'reset' : { status: 200, body: {} }))
  await using server = await startTestServer({ config: { tools: toolsOf(target), policy: rule({ notRequester: true }) } })
  const [ana, ben] = [await server.as(approver('Ana')), await server.as(approver('Ben'))]
  const { id } = await ana.post('/api/actions', { tool: 'unkeyed', arguments: { what: 'pay Ana' } })
  await ben.post(`/api/actions/${id}/decision`, { verdict: 'approve' })
  await server.settle()
  expect(await ana.get(`/api/actions/${id}`)).toMatchObject({ state: 'outcome_unknown', requires: { notRequester: true } })
  const refused = async (what: string, body: object = {}) => {
    const answer = await ana.send('POST', `/api/actions/${id}/${what}`, { body })
    expect(answer, what).toMatchObject({ status: 403, body: { detail: expect.stringContaining('somebody else has to decide') } })
  }
  await refused('verify')
  await refused('resolve', { outcome: 'failed', note: 'It did not arrive' })
  await ben.post(`/api/actions/${id}/resolve`, { outcome: 'failed', note: 'The bank has nothing' })
  await refused('retry')
  await server.settle()
  expect(target.writes).toHaveLength(1)
  await ben.post(`/api/actions/${id}/retry`)
  await server.settle()
  expect(target.writes).toHaveLength(2)
})

test('what was declined is not asked again in the run: the model is told why, and is stopped when it insists', async () => {
  const again = { calls: [call('a', 'unkeyed', 'x')] }
  await using talk = await startTalk({
    says: [again, again, { calls: [call('a', 'unkeyed', 'x'), call('b', 'unkeyed', 'y')] }, again, { text: 'never said' }],
  })
  const { admin } = talk.server
  using stream = await admin.stream('/api/chat', { body: { message: 'go' } })
  const { sessionId } = await stream.next('session')
  const { proposal } = await stream.next('action_proposed')
  await stream.next('session_status', (data) => data.status === 'waiting_approval')
  await admin.post(`/api/actions/${proposal.id}/decision`, { verdict: 'decline', reason: 'wrong account' })
  const second = (await stream.next('action_proposed')).proposal
  expect(second).toMatchObject({
    state: 'declined',
    policy: { verdict: 'deny', rule: 'declined before', reason: expect.stringContaining('wrong account') },
  })
  expect((await stream.next('action_proposed')).proposal.state).toBe('declined')
  // A different action in the same step needs approval as usual.
  const other = (await stream.next('action_proposed')).proposal
  expect(other).toMatchObject({ state: 'proposed', arguments: { what: 'y' } })
  await stream.next('session_status', (data) => data.pendingApprovals.includes(other.id))
  await admin.post(`/api/actions/${other.id}/decision`, { verdict: 'approve' })
  expect(await stream.next('error')).toMatchObject({ error: expect.stringContaining('proposed a declined action 3 times again') })
  await stream.ended()
  expect(talk.brain.requests).toHaveLength(4)
  expect(JSON.stringify(brainHeard(talk.brain, 2))).toContain('wrong account')
  expect(talk.target.writes.map(({ body }) => body)).toEqual([{ what: 'y' }])
  const session = await admin.get(`/api/sessions/${sessionId}`)
  expect(session).toMatchObject({ status: 'completed', pendingApprovals: [] })
})

test('the next run asks again about what was declined in the one before', async () => {
  const again = { calls: [call('a', 'unkeyed', 'x')] }
  await using talk = await startTalk({ says: [again, { text: 'All right.' }, again] })
  const { admin } = talk.server
  const { id } = await admin.post('/api/sessions', {})
  using stream = await admin.stream(`/api/sessions/${id}/events`)
  await admin.post(`/api/sessions/${id}/messages`, { content: 'go' })
  await stream.next('session_status', (data) => data.status === 'waiting_approval')
  await admin.post(`/api/sessions/${id}/approve`, { verdict: 'reject' })
  await stream.next('done')
  await admin.post(`/api/sessions/${id}/messages`, { content: 'do it after all' })
  expect((await stream.next('action_proposed', (data) => data.proposal.createdAt > '')).proposal.state).toBe('proposed')
})

test('"approve all" is a grant: listed, revoked, and never for a high risk', async () => {
  await using talk = await startTalk({
    says: [
      { calls: [call('a', 'keyed', 'x')] },
      { calls: [call('b', 'keyed', 'y'), call('c', 'unkeyed', 'risky')] },
      { text: 'Done.' },
      { calls: [call('d', 'keyed', 'z')] },
    ],
    policy: rule({}, { risk: 'high' }),
  })
  const { admin } = talk.server
  const { id } = await admin.post('/api/sessions', {})
  using stream = await admin.stream(`/api/sessions/${id}/events`)
  await admin.post(`/api/sessions/${id}/messages`, { content: 'go' })
  await stream.next('session_status', (data) => data.status === 'waiting_approval')
  talk.letPeopleRead()
  await admin.post(`/api/sessions/${id}/messages`, { content: 'approve all' })
  const { proposal } = await stream.next('action_proposed', (data) => data.proposal.arguments.what === 'risky')
  expect(proposal, 'a high risk is asked about each time').toMatchObject({ state: 'proposed', risk: { level: 'high' } })
  expect((await admin.get(`/api/actions?session=${id}&risk=high`)).items).toMatchObject([{ id: proposal.id }])
  await admin.post(`/api/actions/${proposal.id}/decision`, { verdict: 'approve' })
  await stream.next('message', (data) => data.message.content === 'Done.')
  const { items } = await admin.get('/api/grants?state=standing')
  expect(items).toMatchObject([
    { scope: 'session', sessionId: id, agent: 'desk', tool: null, used: 1, state: 'standing', madeBy: { name: ADMIN_NAME } },
  ])
  const [grant]: Grant[] = items
  const agent = await talk.server.as({ name: 'bot', kind: 'agent', roles: ['agent'] })
  expect((await agent.send('GET', '/api/grants')).status).toBe(403)
  expect((await agent.send('DELETE', `/api/grants/${grant?.id}`)).status).toBe(404)
  expect((await admin.send('DELETE', `/api/grants/${grant?.id}`)).body).toMatchObject({ state: 'revoked' })
  expect((await admin.get('/api/grants?state=standing')).items).toEqual([])
  await admin.post(`/api/sessions/${id}/messages`, { content: 'and now?' })
  expect((await stream.next('action_proposed', (data) => data.proposal.arguments.what === 'z')).proposal.state).toBe('proposed')
})

test('many are decided at once, each on its own: one that changed, is settled or is not there keeps no other back', async () => {
  await using target = await startTarget(() => ({ status: 200, body: { id: 1 } }))
  await using server = await startTestServer({ config: { tools: toolsOf(target), policy: { ...ASK, rules: [...ASK.rules] } } })
  const { admin } = server
  const [a, b, c]: Action[] = await Promise.all(
    ['a', 'b', 'c'].map((what) => admin.post('/api/actions', { tool: 'unkeyed', arguments: { what } })),
  )
  if (!a || !b || !c) throw new Error('three actions')
  await admin.post(`/api/actions/${b.id}/decision`, { verdict: 'decline' })
  const items = [
    { id: a.id, revision: 1, digest: a.digest },
    { id: b.id, revision: 1, digest: b.digest },
    { id: c.id, revision: 1, digest: a.digest },
    { id: 'act_nobody', revision: 1, digest: a.digest },
  ]
  const key = { 'idempotency-key': 'batch-1' }
  const answer = await admin.post('/api/actions/decisions', { items, verdict: 'approve', reason: 'looked at all' }, key)
  expect(answer.results).toMatchObject([
    { id: a.id, status: 200, action: { state: 'approved', votes: [{ reason: 'looked at all' }] } },
    { id: b.id, status: 409, error: { code: 'already_decided', action: { state: 'declined' } } },
    { id: c.id, status: 409, error: { code: 'revision_mismatch' } },
    { id: 'act_nobody', status: 404, error: { code: 'not_found' } },
  ])
  expect(
    (await admin.post('/api/actions/decisions', { items, verdict: 'approve', reason: 'looked at all' }, key)).results[0].action.state,
  ).toBe('approved')
  expect((await admin.get(`/api/actions/${c.id}`)).state).toBe('proposed')
  await admin.get(`/api/actions/${a.id}?wait=60&until=settled`)
  expect(target.writes).toHaveLength(1)
  expect((await admin.send('POST', '/api/actions/decisions', { body: { items: [{ id: a.id }], verdict: 'approve' } })).status).toBe(400)
})

test('one stands in for another for a time, sees what waits for that vote, and says in whose place it is', async () => {
  await using target = await startTarget(() => ({ status: 200, body: { id: 1 } }))
  await using server = await startTestServer({ config: { tools: toolsOf(target), policy: rule({ roles: ['finance'] }) } })
  const { admin } = server
  const fay = await server.as({ name: 'Fay', kind: 'person', roles: ['finance'] })
  const vic = await server.as({ name: 'Vic', kind: 'person', roles: ['viewer'] })
  const propose = (what: string): Promise<Action> => admin.post('/api/actions', { tool: 'unkeyed', arguments: { what } })
  const first = await propose('x')
  expect((await vic.get('/api/actions?mine=true')).items).toEqual([])
  expect((await vic.send('POST', `/api/actions/${first.id}/decision`, { body: { verdict: 'approve' } })).status).toBe(403)
  expect((await admin.send('POST', `/api/actions/${first.id}/decision`, { body: { verdict: 'approve' } })).body.detail).toContain(
    'the role finance is needed',
  )
  expect((await fay.get('/api/people?q=vI')).items).toEqual([{ id: vic.principal.id, name: 'Vic' }])
  expect((await fay.get('/api/people?q=%25')).items).toEqual([])
  const page = await fay.get('/api/people?limit=1')
  const others = await fay.get(`/api/people?cursor=${page.nextCursor}`)
  expect([...page.items, ...others.items].map(({ name }: { name: string }) => name)).toContain('Fay')
  expect(page.items).toHaveLength(1)
  expect(others.items).not.toContainEqual(page.items[0])
  const lent = await fay.post('/api/delegations', { to: vic.principal.id, expiresIn: 'P7D', reason: 'on leave' })
  expect(lent).toMatchObject({ from: { name: 'Fay' }, to: { name: 'Vic' }, state: 'standing', reason: 'on leave' })
  expect((await vic.get('/api/delegations')).items).toMatchObject([{ id: lent.id }])
  expect((await vic.get('/api/actions?mine=true')).items).toMatchObject([{ id: first.id }])
  expect(await vic.post(`/api/actions/${first.id}/decision`, { verdict: 'approve' })).toMatchObject({
    state: 'approved',
    votes: [{ by: { name: 'Vic' }, for: { name: 'Fay' } }],
  })
  expect((await vic.send('DELETE', `/api/delegations/${lent.id}`)).status).toBe(403)
  expect((await fay.send('DELETE', `/api/delegations/${lent.id}`)).body).toMatchObject({ state: 'revoked' })
  const second = await propose('y')
  expect((await vic.send('POST', `/api/actions/${second.id}/decision`, { body: { verdict: 'approve' } })).status).toBe(403)
  expect((await fay.send('POST', '/api/delegations', { body: { to: vic.principal.id, expiresIn: 'P91D' } })).status).toBe(400)
})

test('what could be granted is suggested, with how often it would have answered, and granted', async () => {
  await using target = await startTarget(() => ({ status: 200, body: { id: 1 } }))
  await using server = await startTestServer({ config: { tools: toolsOf(target), policy: { ...ASK, rules: [...ASK.rules] } } })
  const { admin } = server
  const agent = await server.as({ name: 'bot', kind: 'agent', roles: ['agent'] })
  const propose = (what: string): Promise<Action> => agent.post('/api/actions', { tool: 'unkeyed', arguments: { what } })
  for (const what of ['ORD-1', 'ORD-2', 'ORD-3']) {
    const { id } = await propose(what)
    await admin.post(`/api/actions/${id}/decision`, { verdict: 'approve' })
  }
  const waiting = await propose('ORD-2')
  const suggested = await admin.get(`/api/actions/${waiting.id}/suggestion`)
  expect(suggested).toMatchObject({ refusal: null, exact: { matched: 1, of: 3 }, rule: { matched: 3, of: 3 } })
  expect(await agent.get(`/api/actions/${waiting.id}/suggestion`)).toMatchObject({
    refusal: expect.stringContaining('only persons decide'),
    rule: null,
  })
  const decided = await admin.post(`/api/actions/${waiting.id}/decision`, {
    verdict: 'approve',
    remember: { scope: 'agent', expiresIn: 'P7D', when: suggested.rule.when, uses: 1 },
  })
  expect(decided.state).toBe('approved')
  expect((await propose('ORD-9')).policy.rule).toMatch(/^grant gra_/)
  expect((await propose('ORD-8')).state, 'used up').toBe('proposed')
  expect((await admin.get('/api/grants')).items).toMatchObject([
    { state: 'used_up', used: 1, usesLeft: 0, requestedBy: { name: 'bot' }, when: suggested.rule.when },
  ])
  for (const remember of [
    { scope: 'agent', expiresIn: 'P31D', exact: true },
    { scope: 'agent', expiresIn: 'P1D' },
    { scope: 'agent', expiresIn: 'P1D', exact: true, when: 'true' },
    { scope: 'agent', exact: true },
    { scope: 'everything', expiresIn: 'P1D', exact: true },
  ]) {
    const { id } = await propose('z')
    expect((await admin.send('POST', `/api/actions/${id}/decision`, { body: { verdict: 'approve', remember } })).status).toBe(400)
  }
})

test('a request decides at most 200 actions', async () => {
  await using server = await startTestServer({ config: { tools: {} } })
  const decide = (count: number) => {
    const items = Array.from({ length: count }, (_, n) => ({ id: `act_${n}`, revision: 1, digest: 'sha256:0' }))
    return server.admin.send('POST', '/api/actions/decisions', { body: { items, verdict: 'approve' } })
  }
  expect(await decide(201)).toMatchObject({ status: 400 })
  const { status, body } = await decide(200)
  expect([status, body.results.length]).toEqual([200, 200])
})
