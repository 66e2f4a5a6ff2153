import { request } from 'node:http'
import { expect, test } from 'vitest'
import { startReplayServer } from '../../packages/server/src/models/testing/replay-server.ts'
import { speak } from '../../packages/server/src/models/testing/speak.ts'
import type { ApiAnswer, ApiClient } from '../testing/api-client.ts'
import { brainHeard, resultsHeard } from '../testing/brain-says.ts'
import { startLiveBrain } from '../testing/live-brain.ts'
import { providerEnvironment } from '../testing/providers.ts'
import { call, startTalk, type Talk, type TalkOptions } from '../testing/talk.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { BOOTSTRAP_KEY, startTestServer } from '../testing/test-server.ts'

const ASKS = { text: 'I would do x.', calls: [call('c1', 'keyed', 'x')] }

/** Starts a held request on a server whose agent has scripted answers. */
async function startRequest(
  options: TalkOptions,
): Promise<Talk & { id: string; sessionId: string; execute(): Promise<ApiAnswer['body']> }> {
  const talk = await startTalk(options)
  const { requestId: id, sessionId } = await talk.server.admin.post('/api/agent-requests', { message: 'do x' })
  return { ...talk, id, sessionId, execute: () => talk.server.admin.post(`/api/agent-requests/${id}/execute`) }
}

test('a request runs when it is executed: to the next pause, with its checkpoint, and from there to its end', async () => {
  await using talk = await startTalk({ says: [{ calls: [call('r', 'look', 'it')] }, ASKS, { text: 'Done with x.' }] })
  const { server, brain } = talk
  const made = await server.admin.send('POST', '/api/agent-requests', { body: { message: 'do x' } })
  expect(made.status).toBe(201)
  const { requestId, sessionId, status } = made.body
  expect(status).toBe('held')
  await server.settle()
  expect(brain.requests).toHaveLength(0)
  expect((await server.admin.get(`/api/sessions/${sessionId}/messages`)).items).toMatchObject([{ content: 'do x', queued: true }])

  // Reading the status executes nothing.
  const now = () => server.admin.get(`/api/agent-requests/${requestId}`)
  expect(await now()).toEqual({
    requestId,
    sessionId,
    status: 'held',
    checkpoint: { iterationCount: 0, lastToolCall: null, status: 'held' },
    pendingApprovals: [],
  })
  expect(brain.requests).toHaveLength(0)

  const paused = await server.admin.post(`/api/agent-requests/${requestId}/execute`)
  expect(await now()).toEqual(paused)
  expect(paused).toMatchObject({
    requestId,
    sessionId,
    status: 'awaiting_approval',
    checkpoint: { iterationCount: 2, lastToolCall: { name: 'keyed', input: { what: 'x' } }, status: 'awaiting_approval' },
    pendingApprovals: [{ tool: 'keyed', state: 'proposed', runId: requestId }],
    message: expect.stringContaining('I need approval to use keyed'),
  })
  expect(paused.checkpoint.lastToolCall.id).toBe(paused.pendingApprovals[0].toolCallId)
  expect(await server.admin.post(`/api/agent-requests/${requestId}/execute`)).toEqual(paused)
  expect(brain.requests).toHaveLength(2)

  await server.admin.post(`/api/actions/${paused.pendingApprovals[0].id}/decision`, { verdict: 'approve' })
  expect(await server.admin.post(`/api/agent-requests/${requestId}/execute`)).toMatchObject({
    requestId,
    status: 'completed',
    checkpoint: { iterationCount: 3, lastToolCall: { name: 'keyed' }, status: 'completed' },
    pendingApprovals: [],
    message: 'Done with x.',
  })
  expect(talk.target.writes).toHaveLength(1)
  expect(brain.requests).toHaveLength(3)
})

test('the checkpoint names the call that waits, also behind one that ran or was sent back', async () => {
  for (const { agent, behind } of [
    { agent: {}, behind: call('c2', 'look', 'y') },
    { agent: { actionsPerStep: 'one' as const }, behind: call('c2', 'unkeyed', 'y') },
  ]) {
    await using talk = await startRequest({ says: [{ calls: [call('c1', 'keyed', 'x'), behind] }, { text: 'Done.' }], agent })
    const paused = await talk.execute()
    expect(paused).toMatchObject({ status: 'awaiting_approval', checkpoint: { lastToolCall: { name: 'keyed', input: { what: 'x' } } } })
    const done = await talk.server.admin.post(`/api/approve-tool/${paused.checkpoint.lastToolCall.id}`, { approved: true })
    expect(done).toMatchObject({ status: 'completed', message: 'Done.' })
    expect(talk.target.writes.map(({ path }) => path)).toEqual(['/keyed'])
  }
})

test('once it is decided, a request does not answer with the question any more, also when the model ends without a word', async () => {
  await using talk = await startRequest({ says: [{ calls: [call('c1', 'keyed', 'x')] }, {}] })
  const paused = await talk.execute()
  expect(paused).toMatchObject({ status: 'awaiting_approval', message: expect.stringContaining('I need approval to use keyed') })
  const done = await talk.server.admin.post(`/api/approve-tool/${paused.pendingApprovals[0].id}`, { approved: true })
  expect(done).toMatchObject({ status: 'completed', pendingApprovals: [] })
  expect(done).not.toHaveProperty('message')
  const { items } = await talk.server.admin.get(`/api/sessions/${talk.sessionId}/messages`)
  expect(items[0]).toMatchObject({ role: 'system', kind: 'note', content: 'The model’s answer was empty.', runId: talk.id })
  expect(talk.target.writes).toHaveLength(1)
})

test('a request whose model fails says so, and stays so', async () => {
  await using talk = await startRequest({ says: [], agent: { maxSteps: 1 } })
  const failed = await talk.execute()
  expect(failed).toMatchObject({
    status: 'failed',
    checkpoint: { lastToolCall: null, status: 'failed' },
    message: expect.stringMatching(/\S/),
  })
  expect(await talk.execute()).toEqual(failed)
})

test('a request in a session that is busy waits its turn, held until it is executed', async () => {
  await using talk = await startTalk({ says: [ASKS, { text: 'First done.' }, { text: 'Second done.' }, { text: 'And hello.' }] })
  const { server, brain } = talk
  const { id: sessionId } = await server.admin.post('/api/sessions', {})
  const first = await server.admin.post('/api/agent-requests', { message: 'first', sessionId })
  const second = await server.admin.post('/api/agent-requests', { message: 'second', sessionId })
  const paused = await server.admin.post(`/api/agent-requests/${first.requestId}/execute`)
  await server.admin.post(`/api/sessions/${sessionId}/messages`, { content: 'hello' })
  // Executed early, the request queues behind the actions that wait for approval, and lists them.
  const behind = await server.admin.post(`/api/agent-requests/${second.requestId}/execute`)
  expect(behind).toMatchObject({ status: 'awaiting_approval', checkpoint: { iterationCount: 0, lastToolCall: null } })
  expect(behind.pendingApprovals).toEqual(paused.pendingApprovals)

  await server.admin.post(`/api/approve-tool/${paused.pendingApprovals[0].id}`, { approved: true })
  const done = await server.admin.post(`/api/agent-requests/${second.requestId}/execute`)
  expect(done).toMatchObject({ requestId: second.requestId, status: 'completed', message: 'Second done.' })
  await server.settle()
  const asked = brain.requests.map((_, nth) => brainHeard(brain, nth).findLast(({ role }) => role === 'user')?.content)
  expect(asked).toEqual(['first', 'first', 'second', 'hello'])
})

test('a held request keeps nobody else from the session, and enters the conversation when it is executed', async () => {
  await using talk = await startTalk({ says: [{ text: 'Hello to you.' }, { text: 'Now the request.' }] })
  const { server, brain } = talk
  const held = await server.admin.post('/api/agent-requests', { message: 'later' })
  using stream = await server.admin.stream('/api/chat', { body: { sessionId: held.sessionId, message: 'hello' } })
  await stream.ended()
  expect(await server.admin.post(`/api/agent-requests/${held.requestId}/execute`)).toMatchObject({ message: 'Now the request.' })
  expect(brainHeard(brain, 1).map(({ content }) => content)).toEqual(['hello', 'Hello to you.', 'later'])
})

test('an approval carries the action out and answers where the run stands then', async () => {
  await using talk = await startRequest({ says: [ASKS, { calls: [call('c2', 'unkeyed', 'y')] }, { text: 'All done.' }] })
  const { server, target } = talk
  const [first] = (await talk.execute()).pendingApprovals
  const next = await server.admin.post(`/api/approve-tool/${first.id}`, { approved: true })
  expect(next).toMatchObject({
    requestId: talk.id,
    status: 'awaiting_approval',
    checkpoint: { iterationCount: 2, lastToolCall: { name: 'unkeyed' } },
  })
  expect(target.writes).toHaveLength(1)
  const { toolCallId } = next.pendingApprovals[0]
  expect(await server.admin.post(`/api/approve-tool/${toolCallId}`, { approved: true })).toMatchObject({
    status: 'completed',
    message: 'All done.',
  })
  expect(target.writes).toHaveLength(2)
})

test('a decline with stop ends the request with no further model call; without it the model hears the reason', async () => {
  await using talk = await startRequest({ says: [{ calls: [call('c1', 'keyed', 'x'), call('c2', 'unkeyed', 'y')] }, { text: 'never' }] })
  const [first, second] = (await talk.execute()).pendingApprovals
  const ended = await talk.server.admin.post(`/api/approve-tool/${first.id}`, { approved: false, reason: 'no', stop: true })
  expect(ended).toMatchObject({ status: 'rejected', checkpoint: { iterationCount: 1, status: 'rejected' }, pendingApprovals: [] })
  expect(await talk.execute()).toEqual(ended)
  expect(await talk.server.admin.post(`/api/approve-tool/${first.id}`, { approved: false, reason: 'no', stop: true })).toEqual(ended)
  await talk.server.settle()
  expect(talk.brain.requests).toHaveLength(1)
  expect(talk.target.writes).toHaveLength(0)
  expect((await talk.server.admin.get(`/api/actions/${second.id}`)).state).toBe('cancelled')

  await using gentle = await startRequest({ says: [ASKS, { text: 'Then not.' }] })
  const [asked] = (await gentle.execute()).pendingApprovals
  const heard = await gentle.server.admin.post(`/api/approve-tool/${asked.id}`, { approved: false, reason: 'too early' })
  expect(heard).toMatchObject({ status: 'completed', message: 'Then not.' })
  expect(resultsHeard(gentle.brain, 1)).toEqual([['c1', { denied: true, reason: 'too early' }]])
  expect(gentle.target.writes).toHaveLength(0)
})

test('a person who cancels the session ends its request, and those behind it', async () => {
  await using talk = await startRequest({ says: [ASKS] })
  const behind = await talk.server.admin.post('/api/agent-requests', { message: 'more', sessionId: talk.sessionId })
  await talk.execute()
  await talk.server.admin.post(`/api/agent-requests/${behind.requestId}/execute`)
  await talk.server.admin.post(`/api/sessions/${talk.sessionId}/cancel`)
  expect(await talk.execute()).toMatchObject({ status: 'rejected', message: expect.stringContaining('Cancelled by') })
  expect(await talk.server.admin.post(`/api/agent-requests/${behind.requestId}/execute`)).toMatchObject({ status: 'rejected' })
  expect(talk.brain.requests).toHaveLength(1)
})

test('eight concurrent calls take a request forward once, and all hear the same', async () => {
  const release = Promise.withResolvers<void>()
  await using talk = await startRequest({
    says: [{ calls: [call('r', 'look', 'it')] }, ASKS, { text: 'Done.' }],
    answer: async ({ method }) => {
      if (method === 'GET') await release.promise
      return { status: 200, body: { id: 1 } }
    },
  })
  const calls = Array.from({ length: 8 }, talk.execute)
  release.resolve()
  const answers = await Promise.all(calls)
  for (const answer of answers) expect(answer).toEqual(answers[0])
  expect(answers[0].status).toBe('awaiting_approval')
  expect(talk.brain.requests).toHaveLength(2)

  const approve = () => talk.server.admin.post(`/api/approve-tool/${answers[0].pendingApprovals[0].toolCallId}`, { approved: true })
  const decided = await Promise.all(Array.from({ length: 8 }, approve))
  for (const answer of decided) expect(answer).toEqual(decided[0])
  expect(decided[0]).toMatchObject({ status: 'completed', message: 'Done.' })
  expect(await approve()).toEqual(decided[0])
  expect(talk.target.writes).toHaveLength(1)
  expect(talk.brain.requests).toHaveLength(3)
})

test('a caller whose connection is cut in the middle stops nothing: the next call hears what the cut one would have', async () => {
  const isAsked = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  await using talk = await startRequest({
    says: [{ calls: [call('r', 'look', 'it')] }, ASKS, { text: 'Done.' }],
    answer: async ({ method }) => {
      if (method !== 'GET') return { status: 200, body: { id: 1 } }
      isAsked.resolve()
      await release.promise
      return { status: 200, body: {} }
    },
  })
  const cut = request(`${talk.server.url}/api/agent-requests/${talk.id}/execute`, {
    method: 'POST',
    headers: { authorization: `Bearer ${BOOTSTRAP_KEY}` },
  })
  const isCut = new Promise((resolve) => cut.on('error', resolve))
  cut.end()
  await isAsked.promise
  cut.destroy()
  await isCut
  release.resolve()
  expect(await talk.execute()).toMatchObject({ status: 'awaiting_approval', checkpoint: { iterationCount: 2 } })
  expect(talk.brain.requests).toHaveLength(2)
})

test('a server that stops lets its waiting callers go; the next one answers them', async () => {
  const isAsked = Promise.withResolvers<void>()
  await using target = await startTarget(() => ({ status: 200, body: { id: 1 } }))
  await using brain = await startLiveBrain(() => {
    isAsked.resolve()
    return brain.calls.length === 1 ? new Promise<never>(() => {}) : { text: 'Here I am.' }
  })
  await using server = await startTestServer({
    config: { agents: { desk: { model: `remote/${brain.baseUrl}`, tools: ['*'] } }, tools: toolsOf(target) },
  })
  const { requestId } = await server.admin.post('/api/agent-requests', { message: 'hello' })
  const execute = `/api/agent-requests/${requestId}/execute`
  const waiting = server.admin.send('POST', execute).catch((error) => error)
  await isAsked.promise
  await server.restart()
  const left = await waiting
  expect(left instanceof TypeError || left.status === 503, String(left.status ?? left)).toBe(true)
  expect(await server.admin.post(execute)).toMatchObject({ status: 'completed', message: 'Here I am.' })
  expect(brain.calls).toHaveLength(2)
})

test('an Idempotency-Key gets its first answer again, however far the request has come since', async () => {
  await using talk = await startTalk({ says: [ASKS, { text: 'Done.' }] })
  const { admin } = talk.server
  const key = (name: string) => ({ 'idempotency-key': name })
  const made = await admin.post('/api/agent-requests', { message: 'do x' }, key('make'))
  expect(await admin.post('/api/agent-requests', { message: 'do x' }, key('make'))).toEqual(made)
  expect((await admin.get('/api/sessions')).items).toHaveLength(1)
  const path = `/api/agent-requests/${made.requestId}/execute`
  const first = await admin.post(path, undefined, key('go'))
  const approvePath = `/api/approve-tool/${first.pendingApprovals[0].id}`
  const approval = await admin.post(approvePath, { approved: true }, key('yes'))
  expect(approval.status).toBe('completed')
  expect(await admin.post(path, undefined, key('go'))).toEqual(first)
  expect(await admin.post(approvePath, { approved: true }, key('yes'))).toEqual(approval)
  expect((await admin.post(path, undefined, key('go-on'))).status).toBe('completed')
  const other = await admin.send('POST', approvePath, { body: { approved: false }, headers: key('yes') })
  expect(other).toMatchObject({ status: 422, body: { code: 'idempotency_mismatch' } })
  expect(talk.target.writes).toHaveLength(1)
})

/** Returns the status and code with which the server refuses a caller's request. */
async function refusal(who: ApiClient, path: string, body: object = {}): Promise<string> {
  const answer = await who.send('POST', path, { body })
  return `${answer.status} ${answer.body.code}`
}

test('agents execute their own requests, persons approve, and nobody else learns that there is one', async () => {
  await using talk = await startTalk({ says: [ASKS, { text: 'Done.' }] })
  const { server } = talk
  const agent = await server.as({ name: 'bot', kind: 'agent', roles: ['agent'] })
  const other = await server.as({ name: 'other', kind: 'agent', roles: [] })
  const viewer = await server.as({ name: 'Vera', kind: 'person', roles: ['viewer'] })
  const stranger = await server.as({ name: 'Stan', kind: 'person', roles: [] })

  const { requestId } = await agent.post('/api/agent-requests', { message: 'do x' })
  const execute = `/api/agent-requests/${requestId}/execute`
  expect(await refusal(viewer, '/api/agent-requests', { message: 'do x' })).toBe('403 forbidden')
  expect(await refusal(viewer, execute)).toBe('403 forbidden')
  for (const who of [other, stranger]) {
    expect(await refusal(who, execute)).toBe('404 not_found')
    expect(await refusal(who, '/api/agent-requests/run_none/execute')).toBe('404 not_found')
  }
  await server.settle()
  expect(talk.brain.requests).toHaveLength(0)

  const [action] = (await agent.post(execute)).pendingApprovals
  for (const id of [action.id, action.toolCallId]) {
    const approve = `/api/approve-tool/${id}`
    for (const who of [agent, viewer]) expect(await refusal(who, approve, { approved: true })).toBe('403 forbidden')
    for (const who of [other, stranger]) expect(await refusal(who, approve, { approved: true })).toBe('404 not_found')
  }
  const changed = { approved: true, digest: 'sha256:other' }
  expect(await refusal(server.admin, `/api/approve-tool/${action.id}`, changed)).toBe('409 revision_mismatch')
  expect(talk.target.writes).toHaveLength(0)
  expect(await server.admin.post(`/api/approve-tool/${action.id}`, { approved: true })).toMatchObject({ status: 'completed' })
  expect(talk.target.writes).toHaveLength(1)
})

test('who decides otherwise than somebody before is told who that was; an action of no request is left as it is', async () => {
  await using talk = await startRequest({ says: [ASKS, { text: 'Done.' }] })
  const { server } = talk
  const ben = await server.as({ name: 'Ben', kind: 'person', roles: ['approver'] })
  const [action] = (await talk.execute()).pendingApprovals
  await server.admin.post(`/api/approve-tool/${action.id}`, { approved: true })
  for (const approved of [true, false]) {
    const late = await ben.send('POST', `/api/approve-tool/${action.toolCallId}`, { body: { approved } })
    expect(late).toMatchObject({ status: 409, body: { code: 'already_decided', action: { id: action.id, state: 'succeeded' } } })
  }
  const outside = await server.admin.post('/api/actions', { tool: 'keyed', arguments: { what: 'z' } })
  expect(await refusal(ben, `/api/approve-tool/${outside.id}`, { approved: true })).toBe('409 illegal_transition')
  expect((await server.admin.get(`/api/actions/${outside.id}`)).state).toBe('proposed')
})

test('a tool call id is enough while one action waits under it, whatever other conversations call theirs', async () => {
  await using target = await startTarget(() => ({ status: 200, body: { id: 1 } }))
  await using providers = await startReplayServer()
  const asks = speak('openai-chat', { calls: [{ id: 'functions.keyed:0', name: 'keyed', argumentsText: '{"what":"x"}' }] })
  const { baseUrl } = providers.play([asks, asks, speak('openai-chat', { text: 'One.' }), speak('openai-chat', { text: 'Two.' })])
  await using server = await startTestServer({
    config: { agents: { desk: { model: 'openai-chat/m', tools: ['*'] } }, tools: toolsOf(target) },
    environment: providerEnvironment(baseUrl),
  })
  const { admin } = server
  const open = async () => {
    const { requestId } = await admin.post('/api/agent-requests', { message: 'do x' })
    return admin.post(`/api/agent-requests/${requestId}/execute`)
  }
  const byCall = '/api/approve-tool/functions.keyed:0'
  const first = await open()
  const second = await open()
  expect(await refusal(admin, byCall, { approved: true })).toBe('409 illegal_transition')
  expect(target.writes).toHaveLength(0)
  expect(await admin.post(`/api/approve-tool/${first.pendingApprovals[0].id}`, { approved: true })).toMatchObject({ message: 'One.' })
  expect(await admin.post(byCall, { approved: true })).toMatchObject({ requestId: second.requestId, message: 'Two.' })
  expect(target.writes).toHaveLength(2)
})
