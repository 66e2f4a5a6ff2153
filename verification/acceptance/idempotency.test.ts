import { expect, test } from 'vitest'
import { call, startTalk } from '../testing/talk.ts'

/** Returns everything that a repeated request could have created twice. */
async function everything({ server }: Awaited<ReturnType<typeof startTalk>>) {
  const { items: sessions } = await server.admin.get('/api/sessions')
  const messages = await Promise.all(sessions.map(({ id }: { id: string }) => server.admin.get(`/api/sessions/${id}/messages`)))
  return { sessions, messages, actions: await server.admin.get('/api/actions') }
}

const says = [{ calls: [call('a', 'keyed', 'x')] }, { text: 'Done.' }, { text: 'Again.' }, { text: 'And again.' }, { text: 'Once more.' }]

/** Every POST that changes state: how to prepare for it, its body, and another body to send under the same key. */
const POSTS: {
  what: string
  prepare?(talk: Awaited<ReturnType<typeof startTalk>>): Promise<string>
  path(prepared: string): string
  body: (prepared: string) => object | undefined
  other: (prepared: string) => object
}[] = [
  { what: 'a session', path: () => '/api/sessions', body: () => ({ title: 'A' }), other: () => ({ title: 'B' }) },
  {
    what: 'a message',
    prepare: async ({ server }) => (await server.admin.post('/api/sessions', {})).id,
    path: (id) => `/api/sessions/${id}/messages`,
    body: () => ({ content: 'go' }),
    other: () => ({ content: 'stop' }),
  },
  {
    what: 'a session’s approval',
    prepare: async (talk) => (await waiting(talk)).sessionId,
    path: (id) => `/api/sessions/${id}/approve`,
    body: () => ({ verdict: 'approve' }),
    other: () => ({ verdict: 'reject' }),
  },
  {
    what: 'a cancellation',
    prepare: async (talk) => (await waiting(talk)).sessionId,
    path: (id) => `/api/sessions/${id}/cancel`,
    body: () => undefined,
    other: () => ({ now: true }),
  },
  {
    what: 'a proposal',
    path: () => '/api/actions',
    body: () => ({ tool: 'keyed', arguments: { what: 'x' } }),
    other: () => ({ tool: 'keyed', arguments: { what: 'y' } }),
  },
  {
    what: 'a decision',
    prepare: async (talk) => (await waiting(talk)).actionId,
    path: (id) => `/api/actions/${id}/decision`,
    body: () => ({ verdict: 'approve' }),
    other: () => ({ verdict: 'approve', reason: 'fine' }),
  },
  {
    what: 'a decision in the chat',
    prepare: async (talk) => (await waiting(talk)).actionId,
    path: () => '/api/chat/approve',
    body: (approvalId) => ({ approvalId, approved: true }),
    other: (approvalId) => ({ approvalId, approved: false }),
  },
  {
    what: 'an agent request',
    path: () => '/api/agent-requests',
    body: () => ({ message: 'go' }),
    other: () => ({ message: 'stop' }),
  },
  {
    what: 'the execution of a request',
    prepare: async ({ server }) => (await server.admin.post('/api/agent-requests', { message: 'go' })).requestId,
    path: (id) => `/api/agent-requests/${id}/execute`,
    body: () => undefined,
    other: () => ({ now: true }),
  },
  {
    what: 'the approval of a tool',
    prepare: async (talk) => (await waiting(talk)).actionId,
    path: (id) => `/api/approve-tool/${id}`,
    body: () => ({ approved: true }),
    other: () => ({ approved: false }),
  },
]

async function waiting({ server }: Awaited<ReturnType<typeof startTalk>>) {
  using stream = await server.admin.stream('/api/chat', { body: { message: 'go' } })
  const { sessionId } = await stream.next('session')
  const { proposal } = await stream.next('action_proposed')
  await stream.next('session_status', (data) => data.status === 'waiting_approval')
  return { sessionId, actionId: proposal.id }
}

for (const { what, prepare, path, body, other } of POSTS) {
  test(`${what} with an Idempotency-Key is made once, answered the same each time, and refused with another body`, async () => {
    await using talk = await startTalk({ says })
    const { admin } = talk.server
    const prepared = (await prepare?.(talk)) ?? ''
    const send = (given: object | undefined, key = 'k-1') =>
      admin.send('POST', path(prepared), { body: given, headers: { 'idempotency-key': key } })
    const answers = await Promise.all(Array.from({ length: 6 }, () => send(body(prepared))))
    for (const { status, text } of answers) expect({ status, text }).toEqual({ status: answers[0]?.status, text: answers[0]?.text })
    expect([200, 201, 202]).toContain(answers[0]?.status)
    await talk.server.settle()
    const before = await everything(talk)

    const late = await send(body(prepared))
    expect({ status: late.status, text: late.text }).toEqual({ status: answers[0]?.status, text: answers[0]?.text })
    const mismatch = await send(other(prepared))
    expect(mismatch).toMatchObject({ status: 422, body: { code: 'idempotency_mismatch' } })
    expect(await everything(talk)).toEqual(before)

    await talk.server.restart()
    const { admin: after } = talk.server
    const again = await after.send('POST', path(prepared), { body: body(prepared), headers: { 'idempotency-key': 'k-1' } })
    expect({ status: again.status, text: again.text }).toEqual({ status: answers[0]?.status, text: answers[0]?.text })
    expect(await everything(talk)).toEqual(before)
  })
}

test('a retry with an Idempotency-Key is one attempt, whatever became of it', async () => {
  await using talk = await startTalk({ says: [], answer: () => ({ status: 422, body: { detail: 'never' } }) })
  const { admin } = talk.server
  const action = await admin.post('/api/actions', { tool: 'keyed', arguments: { what: 'x' } })
  await admin.post(`/api/actions/${action.id}/decision`, { verdict: 'approve' })
  const settled = () => admin.get(`/api/actions/${action.id}?wait=60&until=settled`)
  expect((await settled()).state).toBe('failed')
  const headers = { 'idempotency-key': 'again' }
  const answers = await Promise.all(Array.from({ length: 5 }, () => admin.send('POST', `/api/actions/${action.id}/retry`, { headers })))
  expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
  expect(answers[0]?.status).toBe(200)
  expect(await settled()).toMatchObject({ state: 'failed', attempt: 2 })
  expect((await admin.send('POST', `/api/actions/${action.id}/retry`, { headers })).text).toBe(answers[0]?.text)
  expect(talk.target.writes).toHaveLength(2)
})

test('POST /api/chat with an Idempotency-Key is one session, one message and one run, streamed to each caller', async () => {
  await using talk = await startTalk({ says: [{ text: 'Only once.' }] })
  const { admin } = talk.server
  const request = { body: { message: 'go' }, headers: { 'idempotency-key': 'chat-1' } }
  const streams = await Promise.all(Array.from({ length: 4 }, () => admin.stream('/api/chat', request)))
  const seen = await Promise.all(
    streams.map(async (stream) => {
      const session = await stream.next('session')
      await stream.next('message', (data) => data.message.content === 'Only once.')
      await stream.next('done')
      await stream.ended()
      return session
    }),
  )
  expect(new Set(seen.map((session) => JSON.stringify(session))).size).toBe(1)
  const late = await admin.stream('/api/chat', request)
  await late.next('message', (data) => data.message.content === 'Only once.')
  await late.ended()
  expect((await admin.get('/api/sessions')).items).toHaveLength(1)
  expect(talk.brain.requests).toHaveLength(1)
  const other = await admin.send('POST', '/api/chat', { ...request, body: { message: 'stop' } })
  expect(other).toMatchObject({ status: 422, body: { code: 'idempotency_mismatch' } })
  expect((await admin.get('/api/sessions')).items).toHaveLength(1)
})

test('a key belongs to one principal and one route', async () => {
  await using talk = await startTalk({ says: [] })
  const { server } = talk
  const other = await server.as({ name: 'Ben', kind: 'person', roles: ['approver'] })
  const headers = { 'idempotency-key': 'the-same' }
  const mine = await server.admin.post('/api/sessions', { title: 'mine' }, headers)
  const theirs = await other.post('/api/sessions', { title: 'theirs' }, headers)
  expect(theirs.id).not.toBe(mine.id)
  await server.admin.post('/api/actions', { tool: 'keyed', arguments: { what: 'x' } }, headers)
  expect((await server.admin.get('/api/sessions')).items).toHaveLength(2)
})

test('a repeat under its key has the same body when only the order of members or the spelling of a number differs', async () => {
  await using talk = await startTalk({ says: [] })
  const bot = await talk.server.as({ name: 'bot', kind: 'agent' })
  const input = { type: 'object', properties: { to: { type: 'object' }, cents: { type: 'number' } } }
  await bot.post('/api/tools', { name: 'pay', description: 'Pays', effect: 'write', input })
  const propose = (raw: string) => bot.send('POST', '/api/actions', { raw, headers: { 'idempotency-key': 'k' } })
  const first = await propose('{"tool":"pay","arguments":{"to":{"name":"Ana","city":"Rome"},"cents":100}}')
  expect(first.status).toBe(201)
  expect((await propose('{"arguments":{"cents":1e2,"to":{"city":"Rome","name":"Ana"}},"tool":"pay"}')).text).toBe(first.text)
  expect((await propose('{"arguments":{"cents":101,"to":{"city":"Rome","name":"Ana"}},"tool":"pay"}')).status).toBe(422)
})

test('a request that was refused may be sent again under its key when it can succeed', async () => {
  await using talk = await startTalk({ says: [] })
  const { admin } = talk.server
  const headers = { 'idempotency-key': 'k' }
  const body = { tool: 'keyed', arguments: {} }
  for (const _ of [1, 2]) expect((await admin.send('POST', '/api/actions', { body, headers })).status).toBe(422)
  expect((await admin.send('POST', '/api/actions', { body: { tool: 'keyed', arguments: { what: 'x' } }, headers })).status).toBe(201)
})

test('an Idempotency-Key that cannot be one is refused', async () => {
  await using talk = await startTalk({ says: [] })
  for (const key of ['', 'a b', 'é', 'x'.repeat(256)]) {
    const answer = await talk.server.admin.send('POST', '/api/sessions', { body: {}, headers: { 'idempotency-key': key } })
    expect(answer.status, key).toBe(400)
  }
  expect((await talk.server.admin.get('/api/sessions')).items).toEqual([])
})
