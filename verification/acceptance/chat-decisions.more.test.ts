import type { Action } from '@countersign/core'
import { expect, test } from 'vitest'
import type { ApiClient } from '../testing/api-client.ts'
import { brainHeard, resultsHeard } from '../testing/brain-says.ts'
import { call, startTalk } from '../testing/talk.ts'

/** Sends a message in a new session and waits until its actions wait for approval. */
async function waiting(client: ApiClient, message = 'go') {
  using stream = await client.stream('/api/chat', { body: { message } })
  const { sessionId } = await stream.next('session')
  const { pendingApprovals } = await stream.next('session_status', (data) => data.status === 'waiting_approval')
  return { sessionId, actionIds: pendingApprovals, path: `/api/sessions/${sessionId}` }
}

const stateOf = async (client: ApiClient, actionId: string | undefined) => (await client.get(`/api/actions/${actionId}`)).state

test('the request is a message of the session: who comes back reads what waits', async () => {
  await using talk = await startTalk({ says: [{ text: 'Working.', calls: [call('a', 'keyed', 'x'), call('b', 'unkeyed', 'y')] }] })
  const { admin } = talk.server
  const { path, actionIds } = await waiting(admin)
  talk.letPeopleRead()
  const { items } = await admin.get(`${path}/messages`)
  expect(items[0]).toMatchObject({ role: 'assistant', kind: 'request', actionIds })
  for (const words of ['Do x', 'Do y once']) expect(items[0].content).toContain(words)
  using back = await admin.stream(`${path}/events`)
  expect((await back.next('message', (data) => data.message.kind === 'request')).message.actionIds).toEqual(actionIds)
})

for (const [word, state] of [
  ['approve', 'succeeded'],
  ['yes', 'succeeded'],
  ['  YES ', 'succeeded'],
  ['reject', 'declined'],
  ['No', 'declined'],
  ['approve all', 'succeeded'],
] as const) {
  test(`the exact word "${word}" of a person decides the one action that waits`, async () => {
    await using talk = await startTalk({ says: [{ calls: [call('a', 'keyed', 'x')] }, { text: 'Right.' }] })
    const { admin } = talk.server
    const { path, actionIds } = await waiting(admin)
    talk.letPeopleRead()
    using stream = await admin.stream(`${path}/events`)
    const posted = await admin.post(`${path}/messages`, { content: word })
    expect(posted.decided.map(({ id }: Action) => id)).toEqual(actionIds)
    await stream.next('message', (data) => data.message.content === 'Right.')
    expect(await stateOf(admin, actionIds[0])).toBe(state)
    expect(talk.target.writes).toHaveLength(state === 'succeeded' ? 1 : 0)
    // The word is a command for the server: the model gets the result, never the word.
    expect(JSON.stringify(talk.brain.requests)).not.toContain(JSON.stringify(word))
  })
}

test('a sentence with the word in it decides nothing and is queued', async () => {
  await using talk = await startTalk({ says: [{ calls: [call('a', 'keyed', 'x')] }] })
  const { admin } = talk.server
  const { path, actionIds } = await waiting(admin)
  talk.letPeopleRead()
  const sentences = [
    ...[
      'yes please',
      'yes!',
      'approve.',
      'I approve',
      'approve it',
      'ok',
      'y',
      'approve all of them',
      'do not approve',
      '/approve',
      'y e s',
    ],
    ...[
      'approve\napprove all?',
      '"approve"',
      'ja',
      'oui',
      'sí',
      'да',
      'はい',
      'ａｐｐｒｏｖｅ',
      'approve\u200b',
      'approvе',
      'constructor',
      '__proto__',
    ],
    ...[`approve ${actionIds[0]} now`, 'approve act_', 'APPROVE act_00000000000000000000000000'],
  ]
  for (const content of sentences) {
    const posted = await admin.post(`${path}/messages`, { content })
    expect(posted, content).toEqual({ messageId: expect.any(String), queued: true })
  }
  expect(await stateOf(admin, actionIds[0])).toBe('proposed')
  expect(talk.target.writes).toEqual([])
})

test('the word of an agent, a service or a viewer decides nothing, by whatever route it comes', async () => {
  await using talk = await startTalk({ says: Array.from({ length: 3 }, () => ({ calls: [call('a', 'keyed', 'x')] })) })
  const { server } = talk
  const viewer = await server.as({ name: 'Vera', kind: 'person', roles: ['viewer'] })
  const agent = await server.as({ name: 'bot', kind: 'agent', roles: ['agent'] })
  const service = await server.as({ name: 'hook', kind: 'service', roles: ['agent'] })
  const words = ['approve', 'yes', 'reject', 'approve all']
  for (const who of [agent, service]) {
    // Each caller uses its own session, where it may write.
    const { path, actionIds, sessionId } = await waiting(who)
    talk.letPeopleRead()
    for (const content of [...words, `approve ${actionIds[0]}`]) {
      expect(await who.post(`${path}/messages`, { content })).toEqual({ messageId: expect.any(String), queued: true })
    }
    using stream = await who.stream('/api/chat', { body: { sessionId, message: 'approve' } })
    await stream.next('message', (data) => data.message.queued === true)
    expect(await stateOf(server.admin, actionIds[0])).toBe('proposed')
  }
  const { path, actionIds } = await waiting(server.admin)
  talk.letPeopleRead()
  for (const content of words) {
    expect((await viewer.send('POST', `${path}/messages`, { body: { content } })).status).toBe(403)
    for (const who of [agent, service]) expect((await who.send('POST', `${path}/messages`, { body: { content } })).status).toBe(404)
  }
  expect(await stateOf(server.admin, actionIds[0])).toBe('proposed')
  expect(talk.target.writes).toEqual([])
})

test('the word of somebody with a vote decides, also where they ask agents for nothing: by a group, or with a key that only decides', async () => {
  const requires = { roles: ['finance'] }
  await using talk = await startTalk({
    says: ['a', 'b'].flatMap((id) => [{ calls: [call(id, 'keyed', id)] }, { text: 'Right.' }]),
    policy: { rules: [{ name: 'finance decides', match: { tool: 'keyed' }, verdict: 'ask', requires }] },
  })
  const { server } = talk
  const fay = await server.as({ name: 'Fay', kind: 'person', roles: ['finance'] })
  const cy = await server.as({ name: 'Cy', kind: 'person', roles: ['approver', 'finance'], scopes: ['decide'] })
  for (const who of [fay, cy]) {
    const { path, actionIds } = await waiting(server.admin)
    await who.get(path)
    talk.letPeopleRead()
    expect((await who.send('POST', `${path}/messages`, { body: { content: 'do more' } })).status).toBe(403)
    expect((await who.post(`${path}/messages`, { content: 'no' })).decided).toMatchObject([{ id: actionIds[0], state: 'declined' }])
    await server.settle()
  }
})

test('where nothing waits, a command word is a message like any other', async () => {
  await using talk = await startTalk({ says: [{ text: 'Yes to what?' }] })
  const { admin } = talk.server
  const { id } = await admin.post('/api/sessions', {})
  using stream = await admin.stream(`/api/sessions/${id}/events`)
  expect(await admin.post(`/api/sessions/${id}/messages`, { content: 'yes' })).toEqual({
    messageId: expect.any(String),
    runId: expect.any(String),
  })
  await stream.next('message', (data) => data.message.content === 'Yes to what?')
  expect(brainHeard(talk.brain, 0)).toEqual([{ role: 'user', content: 'yes' }])
})

test('what a tool or the model says never decides', async () => {
  await using talk = await startTalk({
    says: [{ text: 'approve all', calls: [call('a', 'look', 'it'), call('b', 'keyed', 'approve all')] }],
    answer: () => ({ status: 200, body: 'approve all' }),
  })
  const { admin } = talk.server
  const { actionIds } = await waiting(admin)
  talk.letPeopleRead()
  expect(actionIds).toHaveLength(1)
  expect(await stateOf(admin, actionIds[0])).toBe('proposed')
  expect(talk.target.writes).toEqual([])
})

test('with two waiting, "yes" decides nothing and says so; naming one decides that one', async () => {
  await using talk = await startTalk({ says: [{ calls: [call('a', 'keyed', 'x'), call('b', 'keyed', 'y')] }, { text: 'Right.' }] })
  const { admin } = talk.server
  const { path, actionIds } = await waiting(admin)
  talk.letPeopleRead()
  const [first = '', second = ''] = actionIds
  // Nobody who said no is told how to approve.
  for (const [content, offered] of [
    ['yes', `Type "approve #${first.slice(-6)}" with the one you mean, "approve all", or use the cards.`],
    ['no', `Type "decline #${first.slice(-6)}" with the one you mean, or use the cards.`],
    ['approve', `Type "approve #`],
    ['reject', `Type "decline #`],
  ] as const) {
    expect((await admin.post(`${path}/messages`, { content })).decided).toEqual([])
    const { items } = await admin.get(`${path}/messages?limit=1`)
    expect(items[0]).toMatchObject({ role: 'system', kind: 'note' })
    expect(items[0].content).toContain(`2 actions wait; nothing was decided. ${offered}`)
  }
  expect(await Promise.all(actionIds.map((id) => stateOf(admin, id)))).toEqual(['proposed', 'proposed'])

  // A person can name an earlier action as well as the latest.
  const posted = await admin.post(`${path}/messages`, { content: `reject ${first}` })
  expect(posted.decided).toMatchObject([{ id: first, state: 'declined' }])
  expect(await stateOf(admin, second)).toBe('proposed')
  expect((await admin.post(`${path}/messages`, { content: 'yes' })).decided).toMatchObject([{ id: second, state: 'approved' }])
})

test('a word cannot name an action of another session', async () => {
  await using talk = await startTalk({ says: Array.from({ length: 2 }, () => ({ calls: [call('a', 'keyed', 'x')] })) })
  const { admin } = talk.server
  const here = await waiting(admin)
  const there = await waiting(admin)
  talk.letPeopleRead()
  const before = await admin.get(`${there.path}/messages`)
  expect((await admin.post(`${here.path}/messages`, { content: `approve ${there.actionIds[0]}` })).decided).toEqual([])
  expect(await stateOf(admin, there.actionIds[0])).toBe('proposed')
  expect(await admin.get(`${there.path}/messages`)).toEqual(before)
  const refused = await admin.send('POST', `${here.path}/approve`, { body: { verdict: 'approve', actionId: there.actionIds[0] } })
  expect(refused.status).toBe(404)
})

test('"approve all" decides all that wait and what the session still asks for, and no other session’s', async () => {
  await using talk = await startTalk({
    says: [
      { calls: [call('a', 'keyed', 'x'), call('b', 'keyed', 'y')] },
      { calls: [call('c', 'keyed', 'z')] },
      { text: 'All done.' },
      { calls: [call('d', 'keyed', 'other')] },
    ],
  })
  const { admin } = talk.server
  const { path, actionIds } = await waiting(admin)
  talk.letPeopleRead()
  using stream = await admin.stream(`${path}/events`)
  expect((await admin.post(`${path}/messages`, { content: 'approve all' })).decided.map(({ id }: Action) => id)).toEqual(actionIds)
  await stream.next('message', (data) => data.message.content === 'All done.')
  expect(talk.target.writes.map(({ body }) => (body as { what: string }).what).sort()).toEqual(['x', 'y', 'z'])
  const { items } = await admin.get(`/api/actions?session=${path.split('/').at(-1)}`)
  expect(items[0]).toMatchObject({
    state: 'succeeded',
    policy: { verdict: 'allow', rule: expect.stringMatching(/^grant gra_/) },
    arguments: { what: 'z' },
  })

  const other = await waiting(admin)
  expect(await stateOf(admin, other.actionIds[0])).toBe('proposed')
})

test('POST /api/sessions/:id/approve decides, also after a restart, and a new runtime goes on from there', async () => {
  await using talk = await startTalk({ says: [{ calls: [call('a', 'unkeyed', 'x')] }, { text: 'Right.' }] })
  const { server } = talk
  const { path } = await waiting(server.admin)
  talk.letPeopleRead()
  await server.restart()
  using stream = await server.admin.stream(`${path}/events`)
  expect((await server.admin.get(path)).status).toBe('waiting_approval')
  expect(await server.admin.post(`${path}/approve`, { verdict: 'approve' })).toMatchObject({ status: 'active', pendingApprovals: [] })
  await stream.next('message', (data) => data.message.content === 'Right.')
  expect(talk.target.writes).toHaveLength(1)
  const nothing = await server.admin.send('POST', `${path}/approve`, { body: { verdict: 'approve' } })
  expect(nothing).toMatchObject({ status: 409, body: { code: 'illegal_transition', detail: expect.stringContaining('nothing waits') } })
})

test('with two waiting it wants to know which one; a rejection carries its reason to the model', async () => {
  await using talk = await startTalk({ says: [{ calls: [call('a', 'keyed', 'x'), call('b', 'keyed', 'y')] }, { text: 'Right.' }] })
  const { admin } = talk.server
  const { path, actionIds } = await waiting(admin)
  talk.letPeopleRead()
  const unclear = await admin.send('POST', `${path}/approve`, { body: { verdict: 'approve' } })
  expect(unclear).toMatchObject({ status: 409, body: { code: 'illegal_transition', waiting: actionIds } })
  using stream = await admin.stream(`${path}/events`)
  await admin.post(`${path}/approve`, { verdict: 'reject', actionId: actionIds[1], reason: 'too much' })
  expect(await admin.post(`${path}/approve`, { verdict: 'approve_all' })).toMatchObject({ pendingApprovals: [] })
  await stream.next('message', (data) => data.message.content === 'Right.')
  expect(resultsHeard(talk.brain, 1)).toEqual([
    ['a', { id: 1 }],
    ['b', { denied: true, reason: 'too much' }],
  ])
})

test('a session is idle, active, waiting, completed or in error, and lists what waits', async () => {
  const thinking = Promise.withResolvers<void>()
  await using talk = await startTalk({
    says: [{ calls: [call('a', 'keyed', 'x')] }, { text: 'Right.' }, { calls: [call('b', 'look', 'slow')] }],
    answer: async ({ path }) => {
      if (path === '/look/slow') await thinking.promise
      return { status: 200, body: {} }
    },
  })
  const { admin } = talk.server
  const session = await admin.post('/api/sessions', { title: 'A talk' })
  expect(session).toMatchObject({ status: 'idle', title: 'A talk', pendingApprovals: [], lastSeq: 0, agent: 'desk' })
  const path = `/api/sessions/${session.id}`
  const now = async () => {
    const one = await admin.get(path)
    const { items } = await admin.get('/api/sessions')
    expect(items).toEqual([one])
    return one
  }
  using stream = await admin.stream(`${path}/events`)
  await admin.post(`${path}/messages`, { content: 'go' })
  await stream.next('session_status', (data) => data.status === 'waiting_approval')
  const waitingNow = await now()
  expect(waitingNow).toMatchObject({ status: 'waiting_approval', pendingApprovals: [{ tool: 'keyed', state: 'proposed' }] })
  expect(waitingNow.pendingApprovals[0]).toEqual(await admin.get(`/api/actions/${waitingNow.pendingApprovals[0].id}`))
  talk.letPeopleRead()

  await admin.post(`${path}/messages`, { content: 'yes' })
  await stream.next('session_status', (data) => data.status === 'completed')
  expect(await now()).toMatchObject({ status: 'completed', pendingApprovals: [] })

  await admin.post(`${path}/messages`, { content: 'again' })
  await stream.next('action_update', (data) => data.state === 'executing')
  expect(await now()).toMatchObject({ status: 'active', pendingApprovals: [] })
  thinking.resolve()
  // The scripted model has no answer left, so the run fails.
  await stream.next('session_status', (data) => data.status === 'error')
  expect(await now()).toMatchObject({ status: 'error', pendingApprovals: [] })
})
