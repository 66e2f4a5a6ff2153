import type { Action } from '@countersign/core'
import { expect, test } from 'vitest'
import { resultsHeard } from '../testing/brain-says.ts'
import { call, startTalk } from '../testing/talk.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { startTestServer } from '../testing/test-server.ts'

async function startDesk(answer: () => Promise<void> | void = () => undefined) {
  const stack = new AsyncDisposableStack()
  const target = stack.use(
    await startTarget(async () => {
      await answer()
      return { status: 200, body: { id: 4 } }
    }),
  )
  const server = stack.use(await startTestServer({ config: { tools: toolsOf(target), policy: { rules: [] } } }))
  const agent = await server.as({ name: 'billing bot', kind: 'agent', agent: 'billing', roles: ['agent'] })
  return { target, server, agent, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

const PROPOSAL = { tool: 'keyed', arguments: { what: 'x' } }

test('an agent withdraws what it proposed: the card says so, the record and the stream too, and saying it again changes nothing', async () => {
  await using desk = await startDesk()
  const { agent, server, target } = desk
  using inbox = await server.admin.stream('/api/events')
  const { id, revision, digest } = await agent.post('/api/actions', PROPOSAL)
  await inbox.next('action_proposed', ({ proposal }) => proposal.id === id)

  const other = await server.as({ name: 'other bot', kind: 'agent', agent: 'other', roles: ['agent'] })
  expect((await other.send('POST', `/api/actions/${id}/withdraw`, { body: {} })).status).toBe(404)
  expect(await server.admin.send('POST', `/api/actions/${id}/withdraw`, { body: {} })).toMatchObject({
    status: 403,
    body: { detail: expect.stringContaining('only whoever proposed it') },
  })

  const withdrawn = await agent.post(`/api/actions/${id}/withdraw`, { reason: 'The order was cancelled.' })
  expect(withdrawn).toMatchObject({
    state: 'cancelled',
    error: { kind: 'withdrawn', message: 'Withdrawn by the agent billing bot: The order was cancelled.', retryable: false },
  })
  expect(await inbox.next('action_update', ({ proposalId }) => proposalId === id)).toMatchObject({
    state: 'cancelled',
    error: { kind: 'withdrawn' },
  })
  expect(await agent.post(`/api/actions/${id}/withdraw`, { reason: 'Again' })).toEqual(withdrawn)
  expect(await server.admin.get(`/api/actions/${id}`)).toEqual(withdrawn)
  const late = await server.admin.send('POST', `/api/actions/${id}/decision`, { body: { verdict: 'approve', revision, digest } })
  expect(late).toMatchObject({ status: 409, body: { code: 'already_decided', detail: expect.stringContaining('withdrawn') } })
  const { items } = await server.admin.get(`/api/audit?action=${id}`)
  expect(items[0]).toMatchObject({ kind: 'withdrawn', actor: { name: 'billing bot' }, data: { reason: 'The order was cancelled.' } })
  expect(items).toHaveLength(2)
  await server.settle()
  expect(target.writes).toEqual([])
})

test('what has started, or was decided against, is not withdrawn: 409 with the action as it is', async () => {
  const reached = Promise.withResolvers<void>()
  const goOn = Promise.withResolvers<void>()
  await using desk = await startDesk(async () => {
    reached.resolve()
    await goOn.promise
  })
  const { agent, server, target } = desk
  const declined = await agent.post('/api/actions', { tool: 'keyed', arguments: { what: 'no' } })
  await server.admin.post(`/api/actions/${declined.id}/decision`, { verdict: 'decline' })
  const started = await agent.post('/api/actions', PROPOSAL)
  await server.admin.post(`/api/actions/${started.id}/decision`, { verdict: 'approve' })
  await reached.promise
  for (const [{ id }, state, why] of [
    [declined, 'declined', 'is declined'],
    [started, 'executing', 'has started'],
  ] as const) {
    expect(await agent.send('POST', `/api/actions/${id}/withdraw`, { body: {} })).toMatchObject({
      status: 409,
      body: { code: 'illegal_transition', detail: expect.stringContaining(why), action: { id, state } },
    })
  }
  goOn.resolve()
  await server.settle()
  expect(await agent.get(`/api/actions/${started.id}`)).toMatchObject({ state: 'succeeded' })
  expect(target.writes).toHaveLength(1)
})

test('the owner of a session withdraws what its agent asked: the model hears it as the result, and its run goes on', async () => {
  await using talk = await startTalk({ says: [{ calls: [call('a', 'keyed', 'x')] }, { text: 'I see.' }] })
  const { admin } = talk.server
  using stream = await admin.stream('/api/chat', { body: { message: 'go' } })
  const { proposal } = await stream.next('action_proposed')
  const withdrawn: Action = await admin.post(`/api/actions/${proposal.id}/withdraw`, {})
  expect(withdrawn).toMatchObject({ state: 'cancelled', error: { message: expect.stringMatching(/^Withdrawn by (?!the)/) } })
  await stream.next('message', (data) => data.message.content === 'I see.')
  await stream.next('done')
  expect(resultsHeard(talk.brain, 1)).toEqual([['a', { denied: true, reason: withdrawn.error?.message }]])
  expect(talk.target.writes).toEqual([])
})
