import type { Action, AuditEntryView } from '@countersign/core'
import { expect, test } from 'vitest'
import type { ConfigInput } from '../../packages/server/src/config/index.ts'
import { resultsHeard } from '../testing/brain-says.ts'
import { call, startTalk } from '../testing/talk.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { startTestServer } from '../testing/test-server.ts'

type Policy = NonNullable<ConfigInput['policy']>

const withGrace = (grace: string, more: object = {}): Policy => ({
  rules: [{ name: 'slowly', match: { effect: 'write' }, verdict: 'ask', requires: { grace, ...more } }],
})

async function startDesk(policy: Policy = { rules: [] }) {
  const stack = new AsyncDisposableStack()
  const target = stack.use(await startTarget(() => ({ status: 200, body: { id: 4 } })))
  const server = stack.use(await startTestServer({ config: { tools: toolsOf(target), policy } }))
  const agent = await server.as({ name: 'billing bot', kind: 'agent', agent: 'billing', roles: ['agent'] })
  const propose = (more: object = {}, what = 'x'): Promise<Action> =>
    agent.post('/api/actions', { tool: 'keyed', arguments: { what }, ...more })
  const person = (name: string, roles = ['approver']) => server.as({ name, kind: 'person', roles })
  return { target, server, agent, propose, person, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

const msBetween = (from: string | null, to: string | null) => Date.parse(to ?? '') - Date.parse(from ?? '')

test('an approval with a grace period is taken back: it waits again as a new revision, everybody hears it, and nothing was sent', async () => {
  await using desk = await startDesk()
  const { server, target, agent } = desk
  using inbox = await server.admin.stream('/api/events')
  const proposed = await desk.propose({ expiresIn: 'PT1H' })
  const { id, revision, digest } = proposed
  const decision = { verdict: 'approve', revision, digest, startAfter: 'PT10M' }
  const approved: Action = await server.admin.post(`/api/actions/${id}/decision`, decision)
  expect(approved).toMatchObject({ state: 'approved', attempt: 0 })
  expect(msBetween(approved.updatedAt, approved.startsAt)).toBe(600_000)
  const told = await inbox.next('action_update', ({ proposalId }) => proposalId === id)
  expect(told).toMatchObject({ state: 'approved', startsAt: approved.startsAt })

  // Only people who approved it or may decide about it.
  expect((await agent.send('POST', `/api/actions/${id}/undo`)).status).toBe(403)
  const viewer = await desk.person('Vera', ['viewer'])
  expect((await viewer.send('POST', `/api/actions/${id}/undo`)).status).toBe(403)
  const ben = await desk.person('Ben')
  const undone: Action = await ben.post(`/api/actions/${id}/undo`)
  expect(undone).toMatchObject({
    state: 'proposed',
    revision: 2,
    digest,
    startsAt: null,
    votes: [],
    expiresAt: proposed.expiresAt,
    overdue: false,
    revised: { why: 'undone', by: { name: 'Ben' }, reason: 'Ben took the approval back before it started.' },
  })
  expect(await inbox.next('action_update', ({ proposalId }) => proposalId === id)).toMatchObject({
    state: 'proposed',
    revision: 2,
    startsAt: null,
  })
  expect(await ben.post(`/api/actions/${id}/undo`)).toEqual(undone)
  // An approval that was on its way does not start it.
  expect(await server.admin.send('POST', `/api/actions/${id}/decision`, { body: decision })).toMatchObject({
    status: 409,
    body: { code: 'revision_mismatch' },
  })
  const { items } = await server.admin.get(`/api/audit?action=${id}`)
  expect(items.map(({ kind }: { kind: string }) => kind)).toEqual(['asked_again', 'approved', 'proposed'])
  expect(items[0]).toMatchObject({ actor: { name: 'Ben' }, data: { why: 'undone', state: 'proposed' } })
  expect(items[1]).toMatchObject({ data: { startsAt: approved.startsAt } })
  expect((await server.admin.get(`/api/actions/${id}/revisions`)).items).toMatchObject([
    { revision: 1, votes: [{ verdict: 'approve' }], ended: { why: 'undone' } },
  ])
  await server.settle()
  expect(target.writes).toEqual([])

  const again = await server.admin.post(`/api/actions/${id}/decision`, { verdict: 'approve', revision: 2, digest })
  expect(again).toMatchObject({ startsAt: null })
  await server.settle()
  expect(target.writes).toHaveLength(1)
})

test('a rule’s grace period holds for every approval, also across a restart; it starts once when that is over, and then there is nothing to take back', async () => {
  await using desk = await startDesk(withGrace('PT1S'))
  const { server, target } = desk
  const actions = [await desk.propose(), await desk.propose({}, 'y'), await desk.propose({}, 'z')]
  const approve = (chosen: Action[], startAfter: string): Promise<{ results: { action: Action }[] }> =>
    server.admin.post('/api/actions/decisions', {
      ...{ verdict: 'approve', startAfter },
      items: chosen.map(({ id, revision, digest }) => ({ id, revision, digest })),
    })
  const [{ results: kept }, { results: undone }] = [await approve(actions.slice(1), 'PT5S'), await approve(actions.slice(0, 1), 'PT1H')]
  for (const { action } of kept) expect(msBetween(action.updatedAt, action.startsAt)).toBe(5_000)
  for (const { action } of undone) expect(msBetween(action.updatedAt, action.startsAt)).toBe(3_600_000)
  const [first] = actions
  if (!first) throw new Error('there are three')
  expect(await server.admin.post(`/api/actions/${first.id}/undo`)).toMatchObject({ state: 'proposed' })
  await server.restart()
  const { admin } = server
  for (const { id } of actions.slice(1)) {
    const ended: Action = await admin.get(`/api/actions/${id}?wait=60&until=settled`)
    expect(ended).toMatchObject({ state: 'succeeded', attempt: 1, startsAt: null })
    expect(await admin.send('POST', `/api/actions/${id}/undo`)).toMatchObject({
      status: 409,
      body: { code: 'illegal_transition', detail: expect.stringContaining('only an approval can be taken back'), action: { id } },
    })
  }
  expect(target.writes).toHaveLength(2)
  const began: AuditEntryView[] = (await admin.get('/api/audit?kind=executing')).items
  const startOf = (id: string) => began.find(({ actionId }) => actionId === id)?.at
  expect(kept.map(({ action }) => msBetween(action.startsAt, startOf(action.id) ?? '') >= 0)).toEqual([true, true])
  expect(await admin.send('POST', `/api/actions/${first.id}/undo`)).toMatchObject({ status: 200 })
  expect(await admin.get(`/api/actions/${first.id}`)).toMatchObject({ state: 'proposed', revision: 2 })
})

test('without a grace period nothing is held back, and what cannot be taken back says why', async () => {
  await using desk = await startDesk()
  const { server } = desk
  const waiting = await desk.propose()
  expect(await server.admin.send('POST', `/api/actions/${waiting.id}/undo`)).toMatchObject({
    status: 409,
    body: { detail: expect.stringContaining('waits for a decision') },
  })
  for (const startAfter of ['PT0S', 'PT2H', '5s', 5, null]) {
    const answer = await server.admin.send('POST', `/api/actions/${waiting.id}/decision`, { body: { verdict: 'approve', startAfter } })
    expect([startAfter, answer.status, answer.body.code]).toEqual([startAfter, 400, 'bad_request'])
  }
  const declined = { verdict: 'decline', startAfter: 'PT5S' }
  expect((await server.admin.send('POST', `/api/actions/${waiting.id}/decision`, { body: declined })).status).toBe(400)
  await server.admin.post(`/api/actions/${waiting.id}/decision`, { verdict: 'approve' })
  await server.settle()
  expect((await server.admin.send('POST', `/api/actions/${waiting.id}/undo`)).status).toBe(409)
})

test('with two approvers the grace begins with the last vote, and who takes it back starts the count again', async () => {
  await using desk = await startDesk(withGrace('PT10M', { quorum: 2 }))
  const [ana, ben] = [await desk.person('Ana'), await desk.person('Ben')]
  const { id, digest } = await desk.propose()
  const vote = { verdict: 'approve', revision: 1, digest }
  expect(await ana.post(`/api/actions/${id}/decision`, vote)).toMatchObject({ state: 'proposed', startsAt: null })
  const approved: Action = await ben.post(`/api/actions/${id}/decision`, vote)
  expect(msBetween(approved.updatedAt, approved.startsAt)).toBe(600_000)
  expect(await ana.post(`/api/actions/${id}/undo`)).toMatchObject({ state: 'proposed', revision: 2, votes: [] })
  const second = { verdict: 'approve', revision: 2, digest }
  expect(await ana.post(`/api/actions/${id}/decision`, second)).toMatchObject({ state: 'proposed' })
})

test('in a chat the agent waits meanwhile, and hears what people decide in the end', async () => {
  await using talk = await startTalk({
    says: [{ calls: [call('a', 'keyed', 'x'), call('b', 'keyed', 'y')] }, { text: 'Only one then.' }],
  })
  const { admin } = talk.server
  using stream = await admin.stream('/api/chat', { body: { message: 'go' } })
  const { proposal: first } = await stream.next('action_proposed')
  const { proposal: second } = await stream.next('action_proposed', ({ proposal }) => proposal.id !== first.id)
  const undone: Action[] = []
  for (const { id } of [first, second]) {
    await admin.post(`/api/actions/${id}/decision`, { verdict: 'approve', startAfter: 'PT10M' })
    undone.push(await admin.post(`/api/actions/${id}/undo`))
  }
  expect(await admin.get(`/api/sessions/${first.sessionId}`)).toMatchObject({ status: 'waiting_approval' })
  const { items } = await admin.get(`/api/sessions/${first.sessionId}/messages`)
  expect(items[0]).toMatchObject({ kind: 'request', content: expect.stringContaining('took the approval back before it started') })
  const [one, other] = undone.map(({ id, digest, revision }) => ({ id, body: { digest, revision } }))
  await admin.post(`/api/actions/${one?.id}/decision`, { ...one?.body, verdict: 'decline', reason: 'Wrong order' })
  await admin.post(`/api/actions/${other?.id}/decision`, { ...other?.body, verdict: 'approve', startAfter: 'PT1S' })
  await stream.ended()
  expect(resultsHeard(talk.brain, 1)).toEqual([
    ['a', { denied: true, reason: 'Wrong order' }],
    ['b', { id: 1 }],
  ])
  expect(talk.target.writes).toHaveLength(1)
})

test('a call that a grant allows starts at once, also under a rule with a grace period', async () => {
  await using desk = await startDesk(withGrace('PT10M'))
  const { id } = await desk.propose()
  await desk.server.admin.post(`/api/actions/${id}/decision`, {
    verdict: 'approve',
    remember: { scope: 'agent', expiresIn: 'P1D', exact: true },
  })
  const again = await desk.propose()
  expect(again).toMatchObject({ policy: { rule: expect.stringContaining('grant ') }, startsAt: null })
  expect(await desk.agent.get(`/api/actions/${again.id}?wait=60&until=settled`)).toMatchObject({ state: 'succeeded' })
  expect(await desk.server.admin.get(`/api/actions/${id}`)).toMatchObject({ state: 'approved' })
  expect(desk.target.writes).toHaveLength(1)
})

test('who takes an approval back revokes the grant that came with it, and no other', async () => {
  await using desk = await startDesk()
  const { server, target } = desk
  const [ana, ben] = [await desk.person('Ana'), await desk.person('Ben')]
  const { id, digest } = await desk.propose()
  const made = (when: string) => ({ scope: 'agent', expiresIn: 'P1D', when })
  const apart = await ana.post('/api/grants', { actionId: id, ...made('args.what == "apart"') })
  await ana.post(`/api/actions/${id}/decision`, {
    ...{ verdict: 'approve', revision: 1, digest, startAfter: 'PT10M' },
    remember: made('args.what != "apart"'),
  })
  expect(await desk.propose({}, 'meanwhile')).toMatchObject({ policy: { verdict: 'allow' } })
  await server.settle()

  expect(await ben.post(`/api/actions/${id}/undo`)).toMatchObject({ state: 'proposed', revision: 2 })
  expect(await desk.propose({}, 'afterwards')).toMatchObject({ state: 'proposed', policy: { verdict: 'ask' } })
  expect(await desk.propose({}, 'apart')).toMatchObject({ policy: { verdict: 'allow', rule: `grant ${apart.id}` } })
  const { items: grants } = await ana.get('/api/grants')
  expect(grants).toMatchObject([
    { actionId: id, state: 'revoked', revokedBy: { name: 'Ben' } },
    { id: apart.id, state: 'standing' },
  ])
  const { items } = await server.admin.get(`/api/audit?action=${id}`)
  expect(items[0]).toMatchObject({ kind: 'grant_revoked', actor: { name: 'Ben' }, data: { grant: grants[0].id } })
  await server.settle()
  expect(target.writes).toHaveLength(2)
})

test('who takes back one approval of an “approve all” revokes what came with it: the next call in the session asks', async () => {
  await using talk = await startTalk({
    says: [{ calls: [call('a', 'keyed', 'x'), call('b', 'keyed', 'y')] }, { calls: [call('c', 'keyed', 'z')] }, { text: 'Done.' }],
    policy: withGrace('PT10M'),
  })
  const { server, target } = talk
  const { admin } = server
  const { id: sessionId } = await admin.post('/api/sessions', {})
  await admin.post(`/api/sessions/${sessionId}/messages`, { content: 'go' })
  await server.settle()
  await admin.post(`/api/sessions/${sessionId}/approve`, { verdict: 'approve_all' })
  const { items } = await admin.get(`/api/actions?session=${sessionId}`)
  expect(items).toMatchObject([{ state: 'approved' }, { state: 'approved' }])
  const undone: Action[] = []
  for (const { id } of items) undone.push(await admin.post(`/api/actions/${id}/undo`))
  for (const { id, revision, digest } of undone) await admin.post(`/api/actions/${id}/decision`, { verdict: 'decline', revision, digest })
  await server.settle()

  const [next] = (await admin.get('/api/actions?state=proposed')).items
  expect(next).toMatchObject({ arguments: { what: 'z' }, policy: { verdict: 'ask' } })
  expect((await admin.get('/api/grants')).items).toMatchObject([{ sessionId, tool: null, state: 'revoked' }])
  expect(target.writes).toEqual([])
})
