import type { Action, Message } from '@countersign/core'
import { expect, test } from 'vitest'
import { startReplayServer } from '../../packages/server/src/models/testing/replay-server.ts'
import { ADMIN_NAME } from '../testing/bootstrap-key.ts'
import { brainHeard, resultsHeard } from '../testing/brain-says.ts'
import { fold } from '../testing/fold.ts'
import { call, startTalk } from '../testing/talk.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { startTestServer } from '../testing/test-server.ts'

test('messages that come during a wait are queued, and the next run takes them all in their order', async () => {
  await using talk = await startTalk({ says: [{ calls: [call('a', 'keyed', 'x')] }, { text: 'Done.' }, { text: 'Both noted.' }] })
  const { admin } = talk.server
  using stream = await admin.stream('/api/chat', { body: { message: 'go' } })
  const { sessionId } = await stream.next('session')
  const path = `/api/sessions/${sessionId}`
  using watching = await admin.stream(`${path}/events`)
  await watching.next('session_status', (data) => data.status === 'waiting_approval')
  for (const content of ['also this', 'and that']) {
    expect(await admin.post(`${path}/messages`, { content })).toEqual({ messageId: expect.any(String), queued: true })
  }
  const { items } = await admin.get(`${path}/messages?limit=2`)
  expect(items).toMatchObject([
    { content: 'and that', queued: true },
    { content: 'also this', queued: true },
  ])
  await admin.post(`${path}/approve`, { verdict: 'approve' })
  await stream.ended()
  const moved = [await watching.next('message', (data) => data.message.content === 'also this' && !data.message.queued)]
  moved.push(await watching.next('message', (data) => data.message.content === 'and that' && !data.message.queued))
  const { runId } = await watching.next('done', (data) => data.runId === moved[0]?.message.runId)
  expect(moved.map(({ message }) => message.runId)).toEqual([runId, runId])
  // The waiting run does not get the messages that people sent meanwhile.
  expect(brainHeard(talk.brain, 1).map(({ role }) => role)).toEqual(['user', 'assistant', 'tool'])
  expect(brainHeard(talk.brain, 2).map(({ role, content }) => [role, content])).toEqual([
    ['user', 'go'],
    ['assistant', ''],
    ['tool', '{"id":1}'],
    ['assistant', 'Done.'],
    ['user', 'also this'],
    ['user', 'and that'],
  ])
})

test('POST /api/chat with a queued message streams until that message’s own run is over', async () => {
  await using talk = await startTalk({ says: [{ calls: [call('a', 'keyed', 'x')] }, { text: 'Done.' }, { text: 'Noted.' }] })
  const { admin } = talk.server
  using first = await admin.stream('/api/chat', { body: { message: 'go' } })
  const { sessionId } = await first.next('session')
  const { proposal } = await first.next('action_proposed')
  using second = await admin.stream('/api/chat', { body: { sessionId, message: 'also this' } })
  await second.next('message', (data) => data.message.queued === true)
  await admin.post(`/api/actions/${proposal.id}/decision`, { verdict: 'approve' })
  await first.ended()
  await second.next('message', (data) => data.message.content === 'Noted.')
  await second.ended()
  expect(second.seen.filter(({ type }) => type === 'done')).toHaveLength(2)
})

test('a queued message is not lost by a restart', async () => {
  await using talk = await startTalk({ says: [{ calls: [call('a', 'keyed', 'x')] }, { text: 'Done.' }, { text: 'Noted.' }] })
  const { server } = talk
  const stream = await server.admin.stream('/api/chat', { body: { message: 'go' } })
  const { sessionId } = await stream.next('session')
  const { proposal } = await stream.next('action_proposed')
  stream.close()
  await server.admin.post(`/api/sessions/${sessionId}/messages`, { content: 'also this' })
  await server.restart()
  using watching = await server.admin.stream(`/api/sessions/${sessionId}/events`)
  await server.admin.post(`/api/actions/${proposal.id}/decision`, { verdict: 'decline' })
  await watching.next('message', (data) => data.message.content === 'Noted.')
  expect(brainHeard(talk.brain, 2).at(-1)).toMatchObject({ role: 'user', content: 'also this' })
})

test('cancelling withdraws what has not started and lets what is executing settle', async () => {
  const hold = Promise.withResolvers<void>()
  await using talk = await startTalk({
    says: [{ calls: [call('a', 'keyed', 'slow'), call('b', 'keyed', 'y')] }, { text: 'Hello again.' }],
    answer: async () => {
      await hold.promise
      return { status: 200, body: { id: 1 } }
    },
  })
  const { admin } = talk.server
  using stream = await admin.stream('/api/chat', { body: { message: 'go' } })
  const { sessionId } = await stream.next('session')
  const path = `/api/sessions/${sessionId}`
  using watching = await admin.stream(`${path}/events`)
  const first = (await watching.next('action_proposed')).proposal
  const second = (await watching.next('action_proposed')).proposal
  await admin.post(`/api/actions/${first.id}/decision`, { verdict: 'approve' })
  await watching.next('action_update', (data) => data.state === 'executing')

  expect(await admin.post(`${path}/cancel`)).toMatchObject({ pendingApprovals: [] })
  expect(await stream.next('error')).toMatchObject({ code: 'cancelled', error: expect.stringContaining(ADMIN_NAME) })
  await stream.ended()
  expect((await admin.get(`/api/actions/${second.id}`)).state).toBe('cancelled')
  expect((await admin.get(`/api/actions/${first.id}`)).state).toBe('executing')
  const late = await admin.send('POST', `/api/actions/${second.id}/decision`, { body: { verdict: 'approve' } })
  expect(late).toMatchObject({ status: 409, body: { code: 'already_decided', action: { state: 'cancelled' } } })
  hold.resolve()
  await watching.next('action_update', (data) => data.proposalId === first.id && data.state === 'succeeded')
  expect(talk.target.writes).toHaveLength(1)
  expect(talk.brain.requests).toHaveLength(1)
  expect(await admin.post(`${path}/cancel`)).toMatchObject({ status: 'completed' })

  await admin.post(`${path}/messages`, { content: 'hello' })
  await watching.next('message', (data) => data.message.content === 'Hello again.')
  expect(resultsHeard(talk.brain, 1)).toEqual([
    ['a', { id: 1 }],
    ['b', { denied: true, reason: expect.stringContaining('Cancelled') }],
  ])
})

test('cancelling again, while an action of the cancelled run still executes, ends what was queued behind it', async () => {
  const hold = Promise.withResolvers<void>()
  await using talk = await startTalk({
    says: [{ calls: [call('a', 'keyed', 'slow')] }, { text: 'Hello again.' }],
    answer: async () => {
      await hold.promise
      return { status: 200, body: { id: 1 } }
    },
  })
  const { admin } = talk.server
  const { id } = await admin.post('/api/sessions', {})
  const path = `/api/sessions/${id}`
  using watching = await admin.stream(`${path}/events`)
  await admin.post(`${path}/messages`, { content: 'go' })
  const { proposal } = await watching.next('action_proposed')
  await admin.post(`/api/actions/${proposal.id}/decision`, { verdict: 'approve' })
  await watching.next('action_update', (data) => data.state === 'executing')
  await admin.post(`${path}/cancel`)

  expect(await admin.post(`${path}/messages`, { content: 'not this' })).toMatchObject({ queued: true })
  await admin.post(`${path}/cancel`)
  const { items } = await admin.get(`${path}/messages`)
  expect(items.find(({ content }: Message) => content === 'not this')).not.toHaveProperty('queued')
  hold.resolve()
  await watching.next('action_update', (data) => data.state === 'succeeded')
  await talk.server.settle()
  expect(talk.brain.requests).toHaveLength(1)

  await admin.post(`${path}/messages`, { content: 'hello' })
  await watching.next('message', (data) => data.message.content === 'Hello again.')
  expect(brainHeard(talk.brain, 1).at(-1)).toEqual({ role: 'user', content: 'hello' })
})

test('cancelling a session ends what “approve all” allowed in it, also when nothing runs or waits any more', async () => {
  const step = (id: string) => ({ calls: [call(id, 'keyed', id)] })
  await using talk = await startTalk({ says: [step('a'), step('b'), { text: 'Done.' }, step('c')] })
  const { admin } = talk.server
  const { id } = await admin.post('/api/sessions', {})
  const path = `/api/sessions/${id}`
  using watching = await admin.stream(`${path}/events`)
  await admin.post(`${path}/messages`, { content: 'go' })
  await watching.next('session_status', (data) => data.status === 'waiting_approval')
  await admin.post(`${path}/approve`, { verdict: 'approve_all' })
  await watching.next('message', (data) => data.message.content === 'Done.')
  expect(talk.target.writes).toHaveLength(2)

  expect(await admin.post(`${path}/cancel`)).toMatchObject({ status: 'completed' })
  expect((await admin.get(`/api/grants?session=${id}`)).items).toMatchObject([{ state: 'revoked', revokedBy: { name: ADMIN_NAME } }])
  const revoked = async () => (await admin.get(`/api/audit?session=${id}&kind=grant_revoked`)).items
  expect(await revoked()).toHaveLength(1)
  await admin.post(`${path}/messages`, { content: 'again' })
  await watching.next('session_status', (data) => data.status === 'waiting_approval')
  expect(talk.target.writes).toHaveLength(2)
})

test('cancelling ends every stream that follows the run, also that of a queued message', async () => {
  await using talk = await startTalk({ says: [{ calls: [call('a', 'keyed', 'x')] }] })
  const { admin } = talk.server
  using first = await admin.stream('/api/chat', { body: { message: 'go' } })
  const { sessionId } = await first.next('session')
  await first.next('session_status', (data) => data.status === 'waiting_approval')
  using second = await admin.stream('/api/chat', { body: { sessionId, message: 'also this' } })
  await second.next('message', (data) => data.message.queued === true)
  await admin.post(`/api/sessions/${sessionId}/cancel`)
  await first.ended()
  await second.ended()
  expect((await admin.get(`/api/sessions/${sessionId}`)).status).toBe('completed')
  expect(talk.brain.requests).toHaveLength(1)
})

test('cancelling while the model speaks ends the run, calls nothing and keeps what was said', async () => {
  const hold = Promise.withResolvers<void>()
  await using target = await startTarget(() => ({ status: 200 }))
  await using brains = await startReplayServer()
  const bytes = (event: object) => new TextEncoder().encode(`data: ${JSON.stringify(event)}\n\n`)
  const { baseUrl } = brains.play([
    {
      status: 200,
      contentType: 'text/event-stream',
      chunks: (async function* () {
        yield bytes({ type: 'text-delta', delta: 'I am about to' })
        await hold.promise
        yield bytes({ type: 'require-action', toolCallId: 'a', toolName: 'keyed', input: { what: 'x' } })
        yield bytes({ type: 'finish', finishReason: 'tool-calls' })
      })(),
    },
  ])
  await using server = await startTestServer({
    config: { agents: { desk: { model: `remote/${baseUrl}`, tools: ['*'] } }, tools: toolsOf(target) },
  })
  using stream = await server.admin.stream('/api/chat', { body: { message: 'go' } })
  const { sessionId } = await stream.next('session')
  await stream.next('delta')
  await server.admin.post(`/api/sessions/${sessionId}/cancel`)
  await stream.ended()
  // The provider still holds its answer back, so the work can only end because the server gave up the call.
  await server.settle()
  hold.resolve()
  expect(await server.admin.get(`/api/sessions/${sessionId}`)).toMatchObject({ status: 'completed' })
  expect((await server.admin.get('/api/actions')).items).toEqual([] as Action[])
  const { items } = await server.admin.get(`/api/sessions/${sessionId}/messages`)
  expect(items.map(({ role, content }: Message) => [role, content]).reverse()).toEqual([
    ['user', 'go'],
    ['assistant', 'I am about to'],
    ['system', expect.stringContaining('Cancelled')],
  ])
  expect([...fold(stream.seen).messages.values()]).toEqual(items.toReversed())
  expect(server.errors).toEqual([])
})
