import type { ActionStory, AuditList } from '@countersign/core'
import { expect, test } from 'vitest'
import { startTarget, toolsOf } from '../testing/target.ts'
import { startTestServer } from '../testing/test-server.ts'

test('the story of an action has every step in order, when its agent was told, and what the model said next; the timeline has each call', async () => {
  await using target = await startTarget(() => ({ status: 200, body: { id: 1 } }))
  await using server = await startTestServer({
    config: { agents: { desk: { model: 'scripted/talk.json', tools: ['*'] } }, tools: toolsOf(target) },
    scripts: {
      talk: [
        { calls: [{ tool: 'keyed', arguments: { what: 'a letter' } }], usage: { inputTokens: 10, outputTokens: 1 } },
        { text: 'Done.', usage: { inputTokens: 300, outputTokens: 7 } },
      ],
    },
  })
  const { admin } = server
  const eve = await server.as({ name: 'Eve', kind: 'person', roles: ['approver'] })
  using stream = await admin.stream('/api/chat', { body: { message: 'go' } })
  const { proposal } = await stream.next('action_proposed')
  const { id } = proposal
  const story = (): Promise<ActionStory> => admin.get(`/api/actions/${id}/story`)
  expect(await story()).toMatchObject({ steps: [{ kind: 'proposed' }], toldAt: null, answered: null })
  const changed = { what: 'a long letter' }
  await eve.post(`/api/actions/${id}/decision`, {
    verdict: 'approve',
    reason: 'fine',
    arguments: changed,
    revision: 1,
    digest: proposal.digest,
  })
  await stream.next('done')

  const { steps, toldAt, answered, names } = await story()
  const action = await admin.get(`/api/actions/${id}`)
  expect(steps.map(({ kind }) => kind)).toEqual(['proposed', 'asked_again', 'approved', 'executing', 'succeeded'])
  expect(steps.map(({ at }) => at)).toEqual(steps.map(({ at }) => at).sort())
  expect(steps.find(({ kind }) => kind === 'approved')).toMatchObject({
    actor: { name: 'Eve' },
    at: action.decidedAt,
    data: { reason: 'fine' },
  })
  expect(steps.at(-1)).toMatchObject({ data: { attempt: 1, key: action.idempotencyKey, state: 'succeeded' } })
  expect(steps[0]?.at).toBe(action.createdAt)
  expect(toldAt).toBe(action.settledAt)
  expect(answered).toMatchObject({ inputTokens: 300, outputTokens: 7 })
  for (const name of Object.values(names)) expect(name).toEqual(expect.any(String))

  const { items } = await admin.get(`/api/sessions/${action.sessionId}/timeline`)
  const calls = items.flatMap(({ call }: { call: object | null }) => call ?? [])
  expect(calls).toMatchObject([
    { step: 2, inputTokens: 300, outputTokens: 7, estimated: false, fellBack: null },
    { step: 1, inputTokens: 10, outputTokens: 1 },
  ])
  const session = await admin.get(`/api/sessions/${action.sessionId}`)
  expect(session.tokens).toEqual({ input: 310, output: 8 })
  expect((await admin.get('/api/sessions')).items).toEqual([session])
  expect(items.map(({ message }: { message: { id: string } }) => message.id)).toEqual(
    (await admin.get(`/api/sessions/${action.sessionId}/messages`)).items.map(({ id }: { id: string }) => id),
  )

  // Whoever may not see the action learns nothing of its story.
  const stranger = await server.as({ name: 'Sam', kind: 'agent', roles: ['agent'] })
  const { status, body } = await stranger.send('GET', `/api/actions/${id}/story`)
  expect([status, body.code]).toEqual([404, 'not_found'])
  expect((await stranger.send('GET', `/api/sessions/${action.sessionId}/timeline`)).status).toBe(404)
  expect((await eve.send('GET', `/api/actions/${id}/story`)).status).toBe(200)

  await admin.post(`/api/actions/${id}/redact`, { reason: 'personal' })
  const redacted = await admin.send('GET', `/api/actions/${id}/story`)
  expect(redacted.text).not.toContain('long letter')
})

test('the record names the people and the actions that its rows are about, but no action that was redacted', async () => {
  await using target = await startTarget(() => ({ status: 200, body: { id: 1 } }))
  await using server = await startTestServer({ config: { tools: toolsOf(target) } })
  const { admin } = server
  const eve = await server.as({ name: 'Eve', kind: 'person', roles: ['approver'] })
  const desk = await server.as({ name: 'Desk', kind: 'agent', roles: ['agent'] })
  const { id } = await desk.post('/api/actions', { tool: 'keyed', arguments: { what: `prn_0 of ${eve.principal.id}` } })
  await eve.post(`/api/actions/${id}/decision`, { verdict: 'decline' })
  const read = (query: string): Promise<AuditList> => admin.get(`/api/audit?${query}`)
  const { titles } = await read(`action=${id}`)
  expect(titles).toEqual({ [id]: `Do prn_0 of ${eve.principal.id}` })
  const made = await read('kind=key_made')
  expect(made.names[eve.principal.id]).toBe('Eve')
  await admin.post(`/api/actions/${id}/redact`, { reason: 'personal' })
  expect((await read(`action=${id}`)).titles).toEqual({})
})
