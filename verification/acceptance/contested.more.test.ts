import type { Action } from '@countersign/core'
import { expect, test } from 'vitest'
import { startReplayServer } from '../../packages/server/src/models/testing/replay-server.ts'
import { brainHeard, brainSays } from '../testing/brain-says.ts'
import { call, startTalk } from '../testing/talk.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { startTestServer } from '../testing/test-server.ts'

test('of many approvals and declines at once exactly one counts, and all others hear which', async () => {
  await using target = await startTarget(() => ({ status: 200, body: { id: 1 } }))
  await using server = await startTestServer({ config: { tools: toolsOf(target) } })
  const people = await Promise.all(['Ana', 'Ben', 'Cleo', 'Dan'].map((name) => server.as({ name, kind: 'person', roles: ['approver'] })))
  const outcomes = { approve: 0, decline: 0 }
  for (let round = 0; round < 15; round++) {
    const action: Action = await server.admin.post('/api/actions', { tool: 'unkeyed', arguments: { what: `round ${round}` } })
    const answers = await Promise.all(
      people.flatMap((who, i) =>
        [0, 1].map(async (again) => {
          const verdict = (i + again + round) % 2 === 0 ? 'approve' : 'decline'
          return { who, verdict, ...(await who.send('POST', `/api/actions/${action.id}/decision`, { body: { verdict } })) }
        }),
      ),
    )
    const winners = answers.filter(({ status }) => status === 200)
    expect(winners).toHaveLength(1)
    const [winner] = winners
    const settled: Action = await server.admin.get(`/api/actions/${action.id}?wait=60&until=settled`)
    expect(settled.votes).toMatchObject([{ verdict: winner?.verdict, by: { id: winner?.who.principal.id } }])
    expect(settled.state).toBe(winner?.verdict === 'approve' ? 'succeeded' : 'declined')
    for (const loser of answers.filter((answer) => answer !== winner)) {
      expect(loser).toMatchObject({ status: 409, body: { code: 'already_decided', action: { votes: settled.votes } } })
      expect(loser.body.detail).toContain(winner?.who.principal.name)
    }
    outcomes[winner?.verdict === 'approve' ? 'approve' : 'decline']++
  }
  expect(target.writes).toHaveLength(outcomes.approve)
  expect(outcomes.approve * outcomes.decline).toBeGreaterThan(0)
})

test('a decision and a cancellation at once: either the tool ran and says so, or it never did', async () => {
  const rounds = 12
  // Two answers per round: if the tool finishes before the cancellation, the model is called again.
  await using talk = await startTalk({ says: Array.from({ length: 2 * rounds }, () => ({ calls: [call('a', 'unkeyed', 'x')] })) })
  const { admin } = talk.server
  let ran = 0
  for (let round = 0; round < rounds; round++) {
    using stream = await admin.stream('/api/chat', { body: { message: 'go' } })
    const { sessionId } = await stream.next('session')
    const { proposal } = await stream.next('action_proposed')
    await stream.next('session_status', (data) => data.status === 'waiting_approval')
    const decide = () => admin.send('POST', `/api/actions/${proposal.id}/decision`, { body: { verdict: 'approve' } })
    const cancel = () => admin.send('POST', `/api/sessions/${sessionId}/cancel`)
    const order = round % 2 === 0 ? [decide, cancel] : [cancel, decide]
    const answers = await Promise.all(order.map((send) => send()))
    const decided = round % 2 === 0 ? answers[0] : answers[1]
    await stream.ended()
    const action: Action = await admin.get(`/api/actions/${proposal.id}?wait=60&until=settled`)
    expect(['succeeded', 'cancelled']).toContain(action.state)
    if (action.state === 'succeeded') ran++
    // A decision that comes too late gets an error; one that was accepted may still be cancelled before execution.
    if (decided?.status === 409) expect(action.state).toBe('cancelled')
    expect(await admin.get(`/api/sessions/${sessionId}`)).toMatchObject({ status: 'completed', pendingApprovals: [] })
  }
  expect(talk.target.writes).toHaveLength(ran)
})

test('of many messages at once one begins the run and the others are queued behind it', async () => {
  await using talk = await startTalk({ says: [{ calls: [call('a', 'keyed', 'x')] }, { text: 'First.' }, { text: 'All of you.' }] })
  const { admin } = talk.server
  const { id } = await admin.post('/api/sessions', {})
  const path = `/api/sessions/${id}`
  using stream = await admin.stream(`${path}/events`)
  const posted = await Promise.all(Array.from({ length: 8 }, (_, i) => admin.post(`${path}/messages`, { content: `message ${i}` })))
  expect(posted.filter(({ runId }) => runId)).toHaveLength(1)
  expect(posted.filter(({ queued }) => queued)).toHaveLength(7)
  await stream.next('session_status', (data) => data.status === 'waiting_approval')
  await admin.post(`${path}/approve`, { verdict: 'approve' })
  await stream.next('message', (data) => data.message.content === 'All of you.')
  const heard = brainHeard(talk.brain, 2).flatMap(({ role, content }) => (role === 'user' ? [content] : []))
  expect(heard.sort()).toEqual(Array.from({ length: 8 }, (_, i) => `message ${i}`))
})

test('two decisions about two calls of one step at once: both count, and the model is asked once', async () => {
  await using talk = await startTalk({ says: [{ calls: [call('a', 'keyed', 'x'), call('b', 'keyed', 'y')] }, { text: 'Both.' }] })
  const { admin } = talk.server
  using stream = await admin.stream('/api/chat', { body: { message: 'go' } })
  const first = (await stream.next('action_proposed')).proposal
  const second = (await stream.next('action_proposed')).proposal
  await stream.next('session_status', (data) => data.status === 'waiting_approval')
  await Promise.all([first, second].map(({ id }) => admin.post(`/api/actions/${id}/decision`, { verdict: 'approve' })))
  await stream.next('message', (data) => data.message.content === 'Both.')
  await stream.ended()
  expect(talk.brain.requests).toHaveLength(2)
  expect(talk.target.writes).toHaveLength(2)
})

test('a server that is stopped while the model speaks asks again after the start, and keeps one message', async () => {
  const bytes = (event: object) => new TextEncoder().encode(`data: ${JSON.stringify(event)}\n\n`)
  const never = Promise.withResolvers<void>()
  await using target = await startTarget(() => ({ status: 200 }))
  await using brains = await startReplayServer()
  const { baseUrl, requests } = brains.play([
    {
      status: 200,
      contentType: 'text/event-stream',
      chunks: (async function* () {
        yield bytes({ type: 'text-delta', delta: 'I was about' })
        await never.promise
      })(),
    },
    brainSays({ text: 'Here I am.' }),
  ])
  await using server = await startTestServer({
    config: { agents: { desk: { model: `remote/${baseUrl}`, tools: ['*'] } }, tools: toolsOf(target) },
  })
  using stream = await server.admin.stream('/api/chat', { body: { message: 'go' } })
  const { sessionId } = await stream.next('session')
  await stream.next('delta')
  await server.restart()
  using watching = await server.admin.stream(`/api/sessions/${sessionId}/events`)
  await watching.next('done')
  const { items } = await server.admin.get(`/api/sessions/${sessionId}/messages`)
  expect(items.map(({ role, content }: { role: string; content: string }) => [role, content])).toEqual([
    ['assistant', 'Here I am.'],
    ['user', 'go'],
  ])
  expect(brainHeard({ baseUrl, requests }, 1)).toEqual([{ role: 'user', content: 'go' }])
  never.resolve()
})
