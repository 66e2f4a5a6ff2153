import type { Action } from '@countersign/core'
import { expect, test } from 'vitest'
import { startReplayServer } from '../../packages/server/src/models/testing/replay-server.ts'
import type { ApiClient } from '../testing/api-client.ts'
import { stateByApi } from '../testing/api-state.ts'
import { brainHeard, brainSays, resultsHeard } from '../testing/brain-says.ts'
import type { ReadEvent } from '../testing/event-reader.ts'
import { fold } from '../testing/fold.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { startTestServer } from '../testing/test-server.ts'

const call = (tool: string, what: string) => ({ tool, arguments: { what } })

/** Starts a session with all kinds of events: reads, a retry, a decline, a success, text between them, a queued message, a note. */
async function busySession() {
  const target = await startTarget(({ body }, nth) =>
    body !== undefined && (body as { what: string }).what === 'stumble' && nth === 1
      ? { status: 409, body: { detail: 'Not yet' } }
      : { status: 200, body: { id: 9 } },
  )
  const server = await startTestServer({
    config: { agents: { desk: { model: 'scripted/talk.json', tools: ['*'] } }, tools: toolsOf(target) },
    scripts: {
      talk: [
        { text: 'Let me look at it first.', reasoning: 'Where is it?', chunkDelayMs: 20, calls: [call('look', 'it')] },
        { text: 'Three things to do.', chunkDelayMs: 20, calls: [call('keyed', 'stumble'), call('keyed', 'no'), call('unkeyed', 'yes')] },
        { text: 'All settled, more or less.', chunkDelayMs: 20 },
        { text: 'You are welcome.' },
        { text: 'So it worked after all.' },
      ],
    },
  })
  const live = await server.admin.stream('/api/chat', { body: { message: 'do it' } })
  const { sessionId } = await live.next('session')
  const watching = await server.admin.stream(`/api/sessions/${sessionId}/events`)
  await watching.next('session_status', (data) => data.status === 'waiting_approval')
  await server.admin.post(`/api/sessions/${sessionId}/messages`, { content: 'thank you' })
  const { items } = await server.admin.get('/api/actions?state=proposed')
  const [last, no, stumble] = items as [Action, Action, Action]
  const decide = ({ id }: Action, verdict: string) => server.admin.post(`/api/actions/${id}/decision`, { verdict })
  await decide(stumble, 'approve')
  await watching.next('action_update', (data) => data.state === 'failed')
  await decide(no, 'decline')
  await decide(last, 'approve')
  await watching.next('message', (data) => data.message.content === 'You are welcome.')
  await watching.next('done')
  await server.admin.post(`/api/actions/${stumble.id}/retry`)
  await watching.next('message', (data) => data.message.content === 'So it worked after all.')
  await watching.next('done')
  live.close()
  return {
    server,
    sessionId,
    watching,
    async [Symbol.asyncDispose]() {
      watching.close()
      await server[Symbol.asyncDispose]()
      await target[Symbol.asyncDispose]()
    },
  }
}

test('wherever a reader was cut off, what it reads on with makes it know what the API says', async () => {
  await using busy = await busySession()
  const { server, sessionId, watching } = busy
  const { lastSeq } = await server.admin.get(`/api/sessions/${sessionId}`)
  const truth = await stateByApi(server.admin, sessionId)
  expect(truth.actions.size).toBe(4)
  expect(truth.messages.size).toBeGreaterThan(10)

  const live = [...watching.seen]
  expect(live.at(-1)?.id).toBe(lastSeq)
  expect(live.some(({ type }) => type === 'delta')).toBe(true)
  expect(fold(live)).toEqual(truth)
  for (let cut = 0; cut <= live.length; cut++) {
    const known = live.slice(0, cut)
    const after = known.at(-1)?.id ?? 0
    const rest = await readUpTo(server.admin, sessionId, lastSeq, after)
    expect(rest.every(({ id }, i) => Number(id) > Number(rest[i - 1]?.id ?? after))).toBe(true)
    expect(fold(rest, fold(known)), `cut after ${after}`).toEqual(truth)
  }
  // A new reader gets whole messages instead of their chunks.
  const fresh = await readUpTo(server.admin, sessionId, lastSeq, 0)
  expect(fresh.some(({ type }) => type === 'delta')).toBe(false)
  expect(fold(fresh)).toEqual(truth)
})

/** Reads a stream from `after` to its event `last`. */
async function readUpTo(client: ApiClient, sessionId: string, last: number, after: number): Promise<ReadEvent[]> {
  if (after === last) return []
  using stream = await client.stream(`/api/sessions/${sessionId}/events`, { headers: { 'last-event-id': String(after) } })
  while (stream.seen.at(-1)?.id !== last) await stream.arrival()
  return [...stream.seen]
}

test('an id that the log never gave out is answered with a snapshot, and the stream goes on from there', async () => {
  await using busy = await busySession()
  const { server, sessionId } = busy
  const truth = await stateByApi(server.admin, sessionId)
  const { lastSeq } = await server.admin.get(`/api/sessions/${sessionId}`)
  const path = `/api/sessions/${sessionId}/events`
  for (const [where, headers] of [
    [path, { 'last-event-id': String(lastSeq + 1) }],
    [path, { 'last-event-id': 'abc' }],
    [path, { 'last-event-id': '-1' }],
    [`${path}?after=999999`, {}],
    [`${path}?after=-1`, {}],
  ] as const) {
    using stream = await server.admin.stream(where, { headers })
    await stream.next('reset')
    const [reset] = stream.seen
    expect(reset?.id, where).toBe(lastSeq)
    expect(fold(stream.seen), where).toEqual(truth)
  }
  using stream = await server.admin.stream(`${path}?after=999999`)
  await stream.next('reset')
  await server.admin.post(`/api/sessions/${sessionId}/cancel`)
  await server.admin.post(`/api/sessions/${sessionId}/messages`, { content: 'one more' })
  await stream.next('message', (data) => data.message.content === 'one more')
  expect(stream.seen[1]?.id).toBe(lastSeq + 1)
})

test('who was away during the wait, the restart and the decision reads all of it', async () => {
  await using target = await startTarget(() => ({ status: 200, body: { id: 9 } }))
  await using server = await startTestServer({
    config: { agents: { desk: { model: 'scripted/talk.json', tools: ['*'] } }, tools: toolsOf(target) },
    scripts: { talk: [{ text: 'May I?', calls: [call('keyed', 'x')] }, { text: 'Done.' }] },
  })
  const stream = await server.admin.stream('/api/chat', { body: { message: 'go' } })
  const { sessionId } = await stream.next('session')
  const { proposal } = await stream.next('action_proposed')
  const lastSeen = stream.seen.find(({ type }) => type === 'action_proposed')?.id
  stream.close()
  await server.restart()
  await server.admin.post(`/api/actions/${proposal.id}/decision`, { verdict: 'approve' })
  using back = await server.admin.stream(`/api/sessions/${sessionId}/events`, { headers: { 'last-event-id': String(lastSeen) } })
  await back.next('message', (data) => data.message.kind === 'request')
  await back.next('action_update', (data) => data.state === 'succeeded')
  await back.next('message', (data) => data.message.content === 'Done.')
  await back.next('done')
})

test('the inbox tells of every session’s actions, and reads on from where it was', async () => {
  await using target = await startTarget(() => ({ status: 200, body: { id: 9 } }))
  await using server = await startTestServer({
    config: { agents: { desk: { model: 'scripted/talk.json', tools: ['*'] } }, tools: toolsOf(target) },
    scripts: { talk: [{ calls: [call('keyed', 'x')] }, { text: 'Done.' }] },
  })
  using inbox = await server.admin.stream('/api/events')
  const outside = await server.admin.post('/api/actions', { tool: 'keyed', arguments: { what: 'y' } })
  expect((await inbox.next('action_proposed')).proposal.id).toBe(outside.id)
  const lastSeen = inbox.seen.at(-1)?.id
  inbox.close()
  using chat = await server.admin.stream('/api/chat', { body: { message: 'go' } })
  const { proposal } = await chat.next('action_proposed')
  await server.admin.post(`/api/actions/${proposal.id}/decision`, { verdict: 'approve' })
  await chat.ended()
  using back = await server.admin.stream('/api/events', { headers: { 'last-event-id': String(lastSeen) } })
  expect((await back.next('action_proposed')).proposal.id).toBe(proposal.id)
  for (const state of ['approved', 'executing', 'succeeded']) {
    expect(await back.next('action_update')).toMatchObject({ proposalId: proposal.id, state })
  }
  using lost = await server.admin.stream('/api/events?after=999999999999999')
  await lost.next('reset')
})

test('a run takes at most maxSteps model calls, and says so', async () => {
  await using target = await startTarget(() => ({ status: 200, body: { seen: true } }))
  await using brains = await startReplayServer()
  const replay = brains.play(
    Array.from({ length: 9 }, (_, i) => brainSays({ calls: [{ id: `call-${i}`, tool: 'look', input: { what: 'it' } }] })),
  )
  await using server = await startTestServer({
    config: { agents: { desk: { model: `remote/${replay.baseUrl}`, tools: ['*'], maxSteps: 3 } }, tools: toolsOf(target) },
  })
  using stream = await server.admin.stream('/api/chat', { body: { message: 'go' } })
  const { sessionId } = await stream.next('session')
  const { message } = await stream.next('message', (data) => data.message.kind === 'note')
  expect(message).toMatchObject({ role: 'system', content: expect.stringContaining('3 steps') })
  expect(await stream.next('error')).toMatchObject({ code: 'max_steps' })
  expect(replay.requests).toHaveLength(3)
  expect((await server.admin.get(`/api/sessions/${sessionId}`)).status).toBe('error')
})

test('with one action at a time, the second call of a step is sent back and the model is told to wait', async () => {
  await using target = await startTarget(() => ({ status: 200, body: { id: 1 } }))
  await using brains = await startReplayServer()
  const replay = brains.play([
    brainSays({
      calls: [
        { id: 'a', tool: 'keyed', input: { what: 'x' } },
        { id: 'b', tool: 'keyed', input: { what: 'y' } },
      ],
    }),
    brainSays({ text: 'One done.' }),
  ])
  await using server = await startTestServer({
    config: { agents: { desk: { model: `remote/${replay.baseUrl}`, tools: ['*'], actionsPerStep: 'one' } }, tools: toolsOf(target) },
  })
  using stream = await server.admin.stream('/api/chat', { body: { message: 'go' } })
  const { proposal } = await stream.next('action_proposed')
  expect((await server.admin.get('/api/actions')).items).toHaveLength(1)
  await server.admin.post(`/api/actions/${proposal.id}/decision`, { verdict: 'approve' })
  await stream.ended()
  expect(brainHeard(replay, 1)[0]).toMatchObject({ role: 'system', content: expect.stringContaining('ONE action') })
  expect(resultsHeard(replay, 1)).toEqual([
    ['a', { id: 1 }],
    ['b', { error: expect.stringContaining('one action at a time') }],
  ])
})
