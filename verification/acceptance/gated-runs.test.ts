import type { Action } from '@countersign/core'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { startReplayServer } from '../../packages/server/src/models/testing/replay-server.ts'
import { defineTool } from '../../packages/toolkit/src/define.ts'
import { brainSays, resultsHeard } from '../testing/brain-says.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { startTestServer } from '../testing/test-server.ts'

const call = (tool: string, args: Record<string, string>) => ({ tool, arguments: args })

test('a read runs at once, a write waits, what policy denies does neither', async () => {
  const ran: string[] = []
  const tool = (name: string, effect: 'read' | 'write') =>
    defineTool({ name, description: name, effect, input: z.object({}), execute: () => ran.push(name) })
  await using server = await startTestServer({
    config: {
      agents: { desk: { model: 'scripted/talk.json', tools: ['*'] } },
      tools: { my: { tools: [tool('look', 'read'), tool('change', 'write'), tool('erase', 'write')] } },
      policy: {
        rules: [
          { name: 'reads run', match: { effect: 'read' }, verdict: 'allow' },
          { name: 'nobody erases', match: { tool: 'my.erase' }, verdict: 'deny' },
        ],
      },
    },
    scripts: {
      talk: [
        { calls: [call('my_look', {}), call('my_change', {}), call('my_erase', {})] },
        { expect: { lastToolResult: 'nobody erases' }, text: 'I see.' },
      ],
    },
  })
  using stream = await server.admin.stream('/api/chat', { body: { message: 'go' } })
  const [look, change, erase] = [
    (await stream.next('action_proposed')).proposal,
    (await stream.next('action_proposed')).proposal,
    (await stream.next('action_proposed')).proposal,
  ]
  expect([look, change, erase].map(({ state, policy }) => [state, policy.verdict, policy.rule])).toEqual([
    ['approved', 'allow', 'reads run'],
    ['proposed', 'ask', 'default'],
    ['declined', 'deny', 'nobody erases'],
  ])
  await stream.next('action_update', (data) => data.proposalId === look.id && data.state === 'succeeded')
  expect(ran).toEqual(['look'])
  await server.admin.post(`/api/actions/${change.id}/decision`, { verdict: 'approve' })
  await stream.next('done')
  expect(ran).toEqual(['look', 'change'])
  const denied = await server.admin.send('POST', `/api/actions/${erase.id}/decision`, { body: { verdict: 'approve' } })
  expect(denied).toMatchObject({ status: 409, body: { code: 'already_decided' } })
})

test('an agent may not use a tool that it was not given', async () => {
  await using target = await startTarget(() => ({ status: 200 }))
  await using server = await startTestServer({
    config: { agents: { desk: { model: 'scripted/talk.json', tools: ['look'] } }, tools: toolsOf(target) },
    scripts: { talk: [{ calls: [call('keyed', { what: 'x' })] }, { expect: { lastToolResult: 'there is no tool' }, text: 'Oh.' }] },
  })
  using stream = await server.admin.stream('/api/chat', { body: { message: 'go' } })
  await stream.next('done')
  expect((await server.admin.get('/api/actions')).items).toEqual([])
})

test('the card is made of the real arguments, whatever the model says about them', async () => {
  const refund = defineTool({
    name: 'refund',
    description: 'Refunds an order',
    effect: 'write',
    input: z.object({ orderId: z.string(), cents: z.int() }),
    describe: ({ orderId, cents }) => `Refund ${cents / 100} EUR of ${orderId}`,
    preview: ({ cents }) => [{ field: 'refunded', oldValue: 0, newValue: cents }],
    execute: () => ({ ok: true }),
  })
  const lie = 'I will refund 1 EUR of ORD-1. This was already approved by Ada.'
  await using server = await startTestServer({
    config: { agents: { desk: { model: 'scripted/talk.json', tools: ['*'] } }, tools: { my: { prefix: false, tools: [refund] } } },
    scripts: { talk: [{ text: lie, calls: [{ tool: 'refund', arguments: { orderId: 'ORD-9', cents: 990000 } }] }, { text: 'Done.' }] },
  })
  using stream = await server.admin.stream('/api/chat', { body: { message: 'go' } })
  const { proposal } = await stream.next('action_proposed')
  expect(proposal).toMatchObject({
    description: 'Refund 9900 EUR of ORD-9',
    preview: [{ field: 'refunded', oldValue: 0, newValue: 990000 }],
    arguments: { orderId: 'ORD-9', cents: 990000 },
    destination: 'local',
  })
  const { message } = await stream.next('message', (data) => data.message.kind === 'request')
  expect(message.content).toContain('Refund 9900 EUR of ORD-9')
  for (const text of [JSON.stringify(proposal), message.content]) expect(text).not.toContain('already approved')
})

test('the run pauses without a model call, blocks nobody, and goes on in the same stream after the decision', async () => {
  await using target = await startTarget(() => ({ status: 200, body: { id: 3 } }))
  await using brains = await startReplayServer()
  const replay = brains.play([
    brainSays({ text: 'First.', calls: [{ id: 'a', tool: 'keyed', input: { what: 'x' } }] }),
    brainSays({ text: 'Hello to you.' }),
    brainSays({ text: 'It is done.' }),
  ])
  await using server = await startTestServer({
    config: { agents: { desk: { model: `remote/${replay.baseUrl}`, tools: ['*'] } }, tools: toolsOf(target) },
  })
  using stream = await server.admin.stream('/api/chat', { body: { message: 'go' } })
  const { proposal } = await stream.next('action_proposed')
  await stream.next('session_status', (data) => data.status === 'waiting_approval' && data.pendingApprovals[0] === proposal.id)
  expect(replay.requests).toHaveLength(1)

  using meanwhile = await server.admin.stream('/api/chat', { body: { message: 'hello' } })
  expect((await meanwhile.next('message', (data) => data.message.role === 'assistant')).message.content).toBe('Hello to you.')
  await meanwhile.ended()
  expect(replay.requests).toHaveLength(2)

  await server.admin.post(`/api/actions/${proposal.id}/decision`, { verdict: 'approve' })
  expect((await stream.next('message', (data) => data.message.role === 'assistant')).message.content).toBe('It is done.')
  await stream.next('done')
  await stream.ended()
  expect(replay.requests).toHaveLength(3)
})

test('hanging up stops nothing: the approval waits, the decision counts, the run ends', async () => {
  await using target = await startTarget(() => ({ status: 200, body: { id: 3 } }))
  await using server = await startTestServer({
    config: { agents: { desk: { model: 'scripted/talk.json', tools: ['*'] } }, tools: toolsOf(target) },
    scripts: {
      talk: [
        { text: 'One moment', chunkDelayMs: 5, calls: [call('keyed', { what: 'x' })] },
        { text: 'Done.', chunkDelayMs: 5 },
      ],
    },
  })
  const stream = await server.admin.stream('/api/chat', { body: { message: 'go' } })
  const { sessionId } = await stream.next('session')
  stream.close()

  using watching = await server.admin.stream(`/api/sessions/${sessionId}/events`)
  const { proposal } = await watching.next('action_proposed')
  await server.admin.post(`/api/actions/${proposal.id}/decision`, { verdict: 'approve' })
  await watching.next('message', (data) => data.message.content === 'Done.')
  await watching.next('done')
  expect(target.writes).toHaveLength(1)
})

test('POST /api/chat answers a stream, and POST /api/chat/approve decides', async () => {
  await using target = await startTarget(() => ({ status: 200, body: { id: 3 } }))
  await using server = await startTestServer({
    config: { agents: { desk: { model: 'scripted/talk.json', tools: ['*'] } }, tools: toolsOf(target) },
    scripts: { talk: [{ calls: [call('keyed', { what: 'x' })] }, { text: 'Done.' }, { text: 'Again.' }] },
  })
  const { admin } = server
  using stream = await admin.stream('/api/chat', { body: { message: 'go' } })
  const { sessionId } = await stream.next('session')
  const { proposal } = await stream.next('action_proposed')
  const { action } = await admin.post('/api/chat/approve', { approvalId: proposal.id, approved: true, reason: 'fine' })
  expect(action).toMatchObject({ id: proposal.id, votes: [{ verdict: 'approve', reason: 'fine' }] })
  await stream.ended()

  using second = await admin.stream('/api/chat', { body: { sessionId, message: 'again' } })
  expect(await second.next('session')).toMatchObject({ sessionId })
  expect((await second.next('message', (data) => data.message.role === 'assistant')).message.content).toBe('Again.')
  const types = (await second.ended()).map(({ type }) => type)
  expect(types.filter((type) => type === 'done')).toHaveLength(1)

  for (const [body, status] of [
    [{ message: 'x', sessionId: 'ses_none' }, 404],
    [{ message: 'x', agent: 'nobody' }, 404],
    [{ message: '' }, 400],
    [{ message: '   ' }, 400],
    [{}, 400],
    [{ message: 'x', more: 1 }, 400],
  ] as const) {
    expect((await admin.send('POST', '/api/chat', { body })).status, JSON.stringify(body)).toBe(status)
  }
  expect(await admin.send('POST', '/api/chat/approve', { body: { approvalId: 'act_none', approved: true } })).toMatchObject({ status: 404 })
})

test('a decline with its reason is the tool’s result, and the model answers', async () => {
  await using target = await startTarget(() => ({ status: 200 }))
  await using server = await startTestServer({
    config: { agents: { desk: { model: 'scripted/talk.json', tools: ['*'] } }, tools: toolsOf(target) },
    scripts: {
      talk: [
        { calls: [call('keyed', { what: 'x' })] },
        { expect: { lastToolResult: '{"declined":true,"reason":"not on a Friday"}' }, text: 'Then on Monday.' },
        { calls: [call('keyed', { what: 'y' })] },
        { expect: { lastToolResult: '{"declined":true,"reason":"User declined"}' }, text: 'Never, then.' },
      ],
    },
  })
  using stream = await server.admin.stream('/api/chat', { body: { message: 'go' } })
  const { sessionId } = await stream.next('session')
  const { proposal } = await stream.next('action_proposed')
  await server.admin.post(`/api/actions/${proposal.id}/decision`, { verdict: 'decline', reason: ' not on a Friday ' })
  expect((await stream.next('tool_call_result')).toolCall.result).toEqual({ declined: true, reason: 'not on a Friday' })
  await stream.next('message', (data) => data.message.content === 'Then on Monday.')
  await stream.ended()

  using second = await server.admin.stream('/api/chat', { body: { sessionId, message: 'again' } })
  const next = (await second.next('action_proposed')).proposal
  await server.admin.post(`/api/actions/${next.id}/decision`, { verdict: 'decline', reason: '  ' })
  await second.next('message', (data) => data.message.content === 'Never, then.')
  expect(target.writes).toEqual([])
})

for (const how of ['by the decision', 'by the agent’s configuration'] as const) {
  test(`a decline that stops the run (${how}) ends it with no further model call`, async () => {
    await using target = await startTarget(() => ({ status: 200 }))
    await using brains = await startReplayServer()
    const replay = brains.play([
      brainSays({
        calls: [
          { id: 'a', tool: 'keyed', input: { what: 'x' } },
          { id: 'b', tool: 'keyed', input: { what: 'y' } },
        ],
      }),
      brainSays({ text: 'Fine.' }),
    ])
    const onDecline = how === 'by the decision' ? 'continue' : 'stop'
    await using server = await startTestServer({
      config: { agents: { desk: { model: `remote/${replay.baseUrl}`, tools: ['*'], onDecline } }, tools: toolsOf(target) },
    })
    using stream = await server.admin.stream('/api/chat', { body: { message: 'go' } })
    const { sessionId } = await stream.next('session')
    const first = (await stream.next('action_proposed')).proposal
    const second = (await stream.next('action_proposed')).proposal
    const stop = how === 'by the decision' ? { stop: true } : {}
    await server.admin.post(`/api/actions/${first.id}/decision`, { verdict: 'decline', reason: 'stop it', ...stop })
    await stream.ended()
    const state = async ({ id }: Action) => (await server.admin.get(`/api/actions/${id}`)).state
    expect(await Promise.all([first, second].map(state))).toEqual(['declined', 'cancelled'])
    expect(await server.admin.get(`/api/sessions/${sessionId}`)).toMatchObject({ status: 'completed', pendingApprovals: [] })
    expect(replay.requests).toHaveLength(1)

    using next = await server.admin.stream('/api/chat', { body: { sessionId, message: 'and now?' } })
    await next.next('message', (data) => data.message.content === 'Fine.')
    expect(resultsHeard(replay, 1)).toEqual([
      ['a', { denied: true, reason: 'stop it' }],
      ['b', { denied: true, reason: expect.stringContaining('stopped') }],
    ])
  })
}

test('a stop with a vote that does not decide stops nothing', async () => {
  await using target = await startTarget(() => ({ status: 200, body: {} }))
  await using brains = await startReplayServer()
  const replay = brains.play([brainSays({ calls: [{ id: 'a', tool: 'keyed', input: { what: 'x' } }] }), brainSays({ text: 'Fine.' })])
  await using server = await startTestServer({
    config: {
      agents: { desk: { model: `remote/${replay.baseUrl}`, tools: ['*'] } },
      tools: toolsOf(target),
      policy: { rules: [{ name: 'two', match: { tool: 'keyed' }, verdict: 'ask', requires: { declineQuorum: 2 } }] },
    },
  })
  const ben = await server.as({ name: 'Ben', kind: 'person', roles: ['approver', 'viewer'] })
  using stream = await server.admin.stream('/api/chat', { body: { message: 'go' } })
  const { id } = (await stream.next('action_proposed')).proposal
  const decline = { verdict: 'decline', reason: 'no' }
  expect(await ben.post(`/api/actions/${id}/decision`, { ...decline, stop: true })).toMatchObject({ state: 'proposed' })
  expect(await server.admin.post(`/api/actions/${id}/decision`, decline)).toMatchObject({ state: 'declined' })
  await stream.next('message', (data) => data.message.content === 'Fine.')
  expect(replay.requests).toHaveLength(2)
})
