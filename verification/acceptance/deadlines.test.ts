import type { Action } from '@countersign/core'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { ConfigInput } from '../../packages/server/src/config/index.ts'
import { openBeside } from '../../packages/server/src/store/index.ts'
import { resultsHeard } from '../testing/brain-says.ts'
import { settled } from '../testing/decisions.ts'
import { call, startTalk } from '../testing/talk.ts'
import { startTarget } from '../testing/target.ts'
import { raw } from '../testing/temp-store.ts'
import { startTestServer } from '../testing/test-server.ts'

/** Returns a policy under which every write needs approval within these times. */
const asking = (times: { expires?: string; remind?: string }): NonNullable<ConfigInput['policy']> => ({
  rules: [{ name: 'ask in time', match: { effect: 'write' }, verdict: 'ask', ...times }],
})

test('an approval that waits longer than its rule says is announced once, to the session and to the inbox', async () => {
  await using talk = await startTalk({
    says: [{ calls: [call('a', 'keyed', 'x')] }, { text: 'Done.' }],
    policy: asking({ remind: 'PT1S' }),
  })
  const { admin } = talk.server
  using inbox = await admin.stream('/api/events')
  using stream = await admin.stream('/api/chat', { body: { message: 'go' } })
  const { proposal } = await stream.next('action_proposed')
  const overdue = await stream.next('approval_overdue')
  expect(overdue).toMatchObject({ actionId: proposal.id })
  expect(overdue.waitedMs).toBeGreaterThanOrEqual(1_000)
  expect(await inbox.next('approval_overdue')).toEqual(overdue)
  const outside: Action = await admin.post('/api/actions', { tool: 'keyed', arguments: { what: 'y' } })
  expect(await inbox.next('approval_overdue')).toMatchObject({ actionId: outside.id })

  // The action keeps waiting after a restart and is not announced again.
  await talk.server.restart()
  using later = await talk.server.admin.stream(`/api/sessions/${proposal.sessionId}/events`)
  await talk.server.admin.post(`/api/actions/${proposal.id}/decision`, { verdict: 'approve' })
  await later.next('message', (data) => data.message.content === 'Done.')
  expect(later.seen.filter(({ type }) => type === 'approval_overdue').map(({ data }) => data)).toEqual([overdue])
  expect(talk.target.writes).toHaveLength(1)
})

test('an action that nobody decided says so itself, wherever it is read, until it is decided', async () => {
  await using talk = await startTalk({
    says: [{ calls: [call('a', 'keyed', 'x'), call('b', 'keyed', 'y')] }, { text: 'Done.' }],
    policy: asking({ remind: 'PT1S' }),
  })
  const { admin } = talk.server
  using stream = await admin.stream('/api/chat', { body: { message: 'go' } })
  const { proposal } = await stream.next('action_proposed')
  const { proposal: second } = await stream.next('action_proposed', (data) => data.proposal.id !== proposal.id)
  expect([proposal.overdue, second.overdue]).toEqual([false, false])
  await stream.next('approval_overdue', ({ actionId }) => actionId === proposal.id)
  await admin.post(`/api/actions/${second.id}/decision`, { verdict: 'decline' })

  // After a restart the state has to show it, because no event comes again.
  await talk.server.restart()
  const { admin: after } = talk.server
  const path = `/api/sessions/${proposal.sessionId}`
  const overdue = { id: proposal.id, overdue: true }
  expect(await after.get(`/api/actions/${proposal.id}`)).toMatchObject(overdue)
  expect((await after.get('/api/actions?state=proposed')).items).toMatchObject([overdue])
  expect((await after.get(path)).pendingApprovals).toMatchObject([overdue])
  expect((await after.get('/api/sessions')).items).toMatchObject([{ pendingApprovals: [overdue] }])
  const { items } = await after.get(`${path}/messages`)
  const shown: Action[] = items.flatMap(({ actions = [] }: { actions?: Action[] }) => actions)
  expect(shown.map(({ id, state, overdue }) => [id, state, overdue])).toEqual([
    [proposal.id, 'proposed', true],
    [second.id, 'declined', false],
  ])
  expect(await after.post(`/api/actions/${proposal.id}/decision`, { verdict: 'approve' })).toMatchObject({ overdue: false })
})

test('neither a vote that is not enough nor an edit makes an overdue action less overdue', async () => {
  const rules = [{ name: 'three', match: { effect: 'write' as const }, verdict: 'ask' as const, remind: 'PT1S', requires: { quorum: 3 } }]
  await using talk = await startTalk({ says: [], policy: { rules } })
  const { admin } = talk.server
  using inbox = await admin.stream('/api/events')
  const { id }: Action = await admin.post('/api/actions', { tool: 'keyed', arguments: { what: 'x' } })
  await inbox.next('approval_overdue')
  const [ana, ben] = [
    await talk.server.as({ name: 'Ana', kind: 'person', roles: ['approver'] }),
    await talk.server.as({ name: 'Ben', kind: 'person', roles: ['approver'] }),
  ]
  const still = { state: 'proposed', overdue: true }
  expect(await ana.post(`/api/actions/${id}/decision`, { verdict: 'approve' })).toMatchObject({ ...still, revision: 1 })
  const edit = { verdict: 'approve', arguments: { what: 'y' } }
  expect(await ben.post(`/api/actions/${id}/decision`, edit)).toMatchObject({ ...still, revision: 2 })
  expect(await inbox.next('action_update', ({ revision }) => revision === 2)).toMatchObject(still)
})

test('an action is not overdue while its rule still waits, nor where its deadline comes first', async () => {
  await using talk = await startTalk({ says: [], policy: asking({ expires: 'PT1H', remind: 'PT2H' }) })
  const { admin } = talk.server
  const patient: Action = await admin.post('/api/actions', { tool: 'keyed', arguments: { what: 'x' } })
  const allowed: Action = await admin.post('/api/actions', { tool: 'look', arguments: { what: 'x' } })
  for (const { id } of [patient, allowed]) expect(await admin.get(`/api/actions/${id}`)).toMatchObject({ overdue: false })
})

test('an approval that nobody answers in time is a Timeout for the model, and the model answers', async () => {
  await using talk = await startTalk({
    says: [{ calls: [call('a', 'unkeyed', 'x')] }, { text: 'Nobody was there.' }],
    policy: asking({ expires: 'PT1S' }),
  })
  const { admin } = talk.server
  using stream = await admin.stream('/api/chat', { body: { message: 'go' } })
  const { proposal } = await stream.next('action_proposed')
  expect(Date.parse(proposal.expiresAt ?? '') - Date.parse(proposal.createdAt)).toBe(1_000)
  expect(await stream.next('action_update')).toMatchObject({ proposalId: proposal.id, state: 'expired' })
  expect((await stream.next('tool_call_result')).toolCall.result).toEqual({ declined: true, reason: 'Timeout' })
  await stream.next('message', ({ message }) => message.content === 'Nobody was there.')
  await stream.ended()
  expect(resultsHeard(talk.brain, 1)).toEqual([['a', { denied: true, reason: 'Timeout' }]])
  expect(await admin.get(`/api/sessions/${proposal.sessionId}`)).toMatchObject({ status: 'completed', pendingApprovals: [] })

  const late = { verdict: 'approve' }
  for (const [path, body] of [
    [`/api/actions/${proposal.id}/decision`, late],
    ['/api/chat/approve', { approvalId: proposal.id, approved: true }],
    [`/api/sessions/${proposal.sessionId}/approve`, { ...late, actionId: proposal.id }],
  ] as const) {
    expect(await admin.send('POST', path, { body }), path).toMatchObject({
      status: 409,
      body: {
        code: 'already_decided',
        detail: expect.stringContaining(`expired at ${proposal.expiresAt}`),
        action: { state: 'expired', votes: [] },
      },
    })
  }
  expect(talk.target.writes).toEqual([])
})

test('one line, `expires`, ends every approval that no rule says otherwise about', async () => {
  const rules = [
    { name: 'reads run', match: { effect: 'read' as const }, verdict: 'allow' as const },
    { name: 'longer', match: { tool: 'unkeyed' }, verdict: 'ask' as const, expires: 'PT2H' },
    { name: 'unsaid', match: { tool: 'keyed', when: 'args.what == "x"' }, verdict: 'ask' as const },
  ]
  await using talk = await startTalk({ says: [], policy: { expires: 'PT1H', rules } })
  const { admin } = talk.server
  const lasts = async (tool: string, what: string) => {
    const { createdAt, expiresAt }: Action = await admin.post('/api/actions', { tool, arguments: { what } })
    return expiresAt === null || expiresAt === undefined ? undefined : (Date.parse(expiresAt) - Date.parse(createdAt)) / 60_000
  }
  expect(await lasts('keyed', 'by default')).toBe(60)
  expect(await lasts('keyed', 'x')).toBe(60)
  expect(await lasts('unkeyed', 'x')).toBe(120)
  expect(await lasts('look', 'x')).toBeUndefined()
})

test('a deny rule says why, and the model hears it as the tool’s result', async () => {
  const reason = 'Refunds go through finance: open a ticket in the queue refunds'
  await using talk = await startTalk({
    says: [{ calls: [call('a', 'unkeyed', 'x')] }, { text: 'I open a ticket.' }],
    policy: { rules: [{ name: 'no refunds', match: { tool: 'unkeyed' }, verdict: 'deny', reason }] },
  })
  using stream = await talk.server.admin.stream('/api/chat', { body: { message: 'go' } })
  await stream.ended()
  const wanted = `Denied by the rule "no refunds": ${reason}`
  expect(resultsHeard(talk.brain, 1)).toEqual([['a', { denied: true, reason: wanted }]])
  expect((await talk.server.admin.get('/api/actions')).items[0]).toMatchObject({ state: 'declined', policy: { reason: wanted } })
  expect(talk.target.writes).toEqual([])
})

test('where a decline stops the run, an approval that nobody answers stops it too, with no further model call', async () => {
  await using talk = await startTalk({
    says: [{ calls: [call('a', 'keyed', 'x')] }, { text: 'Not asked.' }],
    policy: asking({ expires: 'PT1S' }),
    agent: { onDecline: 'stop' },
  })
  using stream = await talk.server.admin.stream('/api/chat', { body: { message: 'go' } })
  expect(await stream.next('error')).toMatchObject({ code: 'cancelled', error: expect.stringContaining('in time') })
  await stream.ended()
  await talk.server.settle()
  expect(talk.brain.requests).toHaveLength(1)
})

test('an agent elsewhere says how long people may take, policy may give them less, and its long poll ends when they took longer', async () => {
  await using talk = await startTalk({ says: [], policy: asking({ expires: 'PT1H' }) })
  const { admin } = talk.server
  const agent = await talk.server.as({ name: 'Robin', kind: 'agent', roles: ['agent'] })
  const propose = (expiresIn?: string): Promise<Action> =>
    agent.post('/api/actions', { tool: 'keyed', arguments: { what: 'x' }, expiresIn })
  const lasts = ({ expiresAt, createdAt }: Action) => Date.parse(expiresAt ?? '') - Date.parse(createdAt)
  expect(lasts(await propose())).toBe(3_600_000)
  expect(lasts(await propose('P1D'))).toBe(3_600_000)
  const short = await propose('PT1S')
  expect(lasts(short)).toBe(1_000)
  expect(await agent.get(`/api/actions/${short.id}?wait=60`)).toMatchObject({ state: 'expired', votes: [], expiresAt: short.expiresAt })
  expect(await admin.get(`/api/actions/${short.id}`)).toMatchObject({ state: 'expired' })

  for (const expiresIn of ['PT0S', 'P401D', '1h', 60, null]) {
    const answer = await agent.send('POST', '/api/actions', { body: { tool: 'keyed', arguments: { what: 'x' }, expiresIn } })
    expect([expiresIn, answer.status, answer.body.code]).toEqual([expiresIn, 400, 'bad_request'])
  }
})

test('an action that policy decides has no deadline', async () => {
  await using talk = await startTalk({ says: [], policy: { rules: [{ name: 'go', match: { tool: 'keyed' }, verdict: 'allow' }] } })
  const body = { tool: 'keyed', arguments: { what: 'x' }, expiresIn: 'PT1S' }
  expect(await talk.server.admin.post('/api/actions', body)).toMatchObject({ state: 'approved', expiresAt: null })
})

test('an approved action that no client claims expires at its deadline; one that was claimed in time does not', async () => {
  await using target = await startTarget(() => ({ status: 200, body: {} }))
  await using server = await startTestServer({
    config: {
      agents: { desk: { model: 'scripted/desk.json', tools: ['*'] } },
      tools: {
        own: {
          prefix: false,
          routes: {
            baseUrl: target.url,
            tools: {
              mine: { method: 'POST', path: '/mine', executor: 'client', timeoutMs: 600_000 },
              free: { method: 'POST', path: '/free', executor: 'client', timeoutMs: 600_000 },
            },
          },
        },
      },
      policy: {
        rules: [
          { name: 'free', match: { tool: 'free' }, verdict: 'allow' },
          { name: 'asked', match: { tool: 'mine' }, verdict: 'ask', expires: 'PT1H' },
        ],
      },
    },
    scripts: { desk: [{ calls: [{ tool: 'mine', arguments: {} }] }, { text: 'Nobody did it.' }] },
  })
  const { admin } = server
  using stream = await admin.stream('/api/chat', { body: { message: 'go' } })
  const { proposal } = await stream.next('action_proposed')
  const free = await admin.post('/api/actions', { tool: 'free', arguments: {}, expiresIn: 'PT1H' })
  const held = await admin.post('/api/actions', { tool: 'free', arguments: {}, expiresIn: 'PT1H' })
  expect([free.state, held.state]).toEqual(['approved', 'approved'])
  const { epoch } = await admin.post(`/api/actions/${held.id}/claim`, {})
  expect((await admin.post(`/api/actions/${proposal.id}/decision`, { verdict: 'approve' })).state).toBe('approved')

  const store = await openBeside(server.database)
  const now = Date.now()
  await store.transact(() => raw(sql`update action set expires_at = ${now}, due_at = ${now} where state = 'approved'`))
  await store.close()
  // The new expiry makes the server look for everything due, so it finds the two actions.
  await admin.post('/api/actions', { tool: 'free', arguments: {}, expiresIn: 'PT1S' })
  expect((await stream.next('tool_call_result')).toolCall.result).toEqual({ declined: true, reason: 'Timeout' })
  await stream.next('message', ({ message }) => message.content === 'Nobody did it.')
  await stream.ended()
  for (const { id } of [proposal, free]) {
    expect(await settled(server, id)).toMatchObject({
      ...{ state: 'expired', attempt: 0 },
      outcome: { text: expect.stringContaining('This was approved, but no client claimed it in time') },
    })
    expect(await admin.send('POST', `/api/actions/${id}/claim`, { body: {} })).toMatchObject({
      status: 409,
      body: { action: { state: 'expired' } },
    })
  }
  const again = await admin.send('POST', `/api/actions/${proposal.id}/decision`, { body: { verdict: 'decline' } })
  expect(again).toMatchObject({
    status: 409,
    body: { code: 'already_decided', detail: expect.stringContaining('no client had claimed it by then') },
  })
  // A claimed action has its own deadline.
  expect((await admin.post(`/api/actions/${held.id}/result`, { epoch, output: 'done' })).state).toBe('succeeded')
  expect(target.writes).toEqual([])
})
