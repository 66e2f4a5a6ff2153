import { expect, test } from 'vitest'
import type { AgUiMessage, HttpAgent, Resume } from '../testing/ag-ui-agent.ts'
import { openHttpAgent, verifyAsClient } from '../testing/ag-ui-agent.ts'
import { startAgUiServer } from '../testing/ag-ui-server.ts'
import { expireWaiting } from '../testing/end-deadline.ts'

const CALL = { tool: 'keyed', arguments: { what: 'x' } }
const ASK: AgUiMessage = { id: 'u1', role: 'user', content: 'Do it' }
const INSTEAD: AgUiMessage = { id: 'u2', role: 'user', content: 'No. Do y instead.' }

type Desk = Awaited<ReturnType<typeof startAgUiServer>>

/** What the session holds, in its order: who said what. */
async function saidIn({ server }: Desk): Promise<string[]> {
  const [session] = (await server.admin.get('/api/sessions')).items
  const { items } = await server.admin.get(`/api/sessions/${session.id}/messages`)
  return items.reverse().map(({ role, content }: AgUiMessage) => `${role}: ${content}`)
}

const answering = ({ pendingInterrupts }: HttpAgent, answer: Omit<Resume, 'interruptId'>): Resume[] =>
  pendingInterrupts.map(({ id }) => ({ interruptId: id, ...answer }))

test('what a person writes beside the dismissal of a card is said after it, and answered in the same run', async () => {
  await using it = await startAgUiServer([{ calls: [CALL] }, { text: 'You declined it.' }, { text: 'Then y.' }])
  const { agent, events } = await it.open([ASK])
  await agent.runAgent()
  agent.addMessage(INSTEAD)
  const body = { messages: structuredClone(agent.messages), resume: answering(agent, { status: 'cancelled' }) }
  await agent.runAgent({ resume: body.resume })
  const all = [
    expect.stringContaining('tool: {"declined":true'),
    'assistant: You declined it.',
    'user: No. Do y instead.',
    'assistant: Then y.',
  ]
  expect((await saidIn(it)).slice(-4)).toEqual(all)
  expect(agent.messages.at(-1)).toMatchObject({ role: 'assistant', content: 'Then y.' })
  expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } })
  expect(it.target.writes).toEqual([])
  await verifyAsClient(events.slice(events.findLastIndex(({ type }) => type === 'RUN_STARTED')))

  // The same request again, as after a broken connection, says and decides nothing again.
  const again = await it.open(body.messages)
  await again.agent.runAgent({ resume: body.resume })
  expect(again.agent.messages.at(-1)).toMatchObject({ content: 'Then y.' })
  expect((await saidIn(it)).slice(-4)).toEqual(all)
})

test('what a person writes beside an approval is said, and the action runs once', async () => {
  await using it = await startAgUiServer([{ calls: [CALL] }, { text: 'Done.' }, { text: 'Only half, I see.' }])
  const { agent } = await it.open([ASK])
  await agent.runAgent()
  agent.addMessage({ ...INSTEAD, content: 'But only half of it.' })
  await agent.runAgent({ resume: answering(agent, { status: 'resolved', payload: { approved: true } }) })
  expect((await saidIn(it)).slice(-2)).toEqual(['user: But only half of it.', 'assistant: Only half, I see.'])
  expect(agent.messages.at(-1)).toMatchObject({ content: 'Only half, I see.' })
  expect(it.target.writes).toHaveLength(1)
})

test('after a card expired, the message that a page can send only with its dismissal is answered', async () => {
  await using it = await startAgUiServer([{ calls: [CALL] }, { text: 'Too late.' }, { text: 'Then y.' }], {
    rules: [{ name: 'soon', match: {}, verdict: 'ask', expires: 'PT1H' }],
  })
  const { agent } = await it.open([ASK])
  await agent.runAgent()
  await expireWaiting(it.server)
  agent.addMessage(INSTEAD)
  await agent.runAgent({ resume: answering(agent, { status: 'cancelled' }) })
  expect((await saidIn(it)).slice(-2)).toEqual(['user: No. Do y instead.', 'assistant: Then y.'])
  expect(agent.messages.at(-1)).toMatchObject({ content: 'Then y.' })
  expect(it.target.writes).toEqual([])
})

test('a decision that is refused does not take the words beside it away', async () => {
  await using it = await startAgUiServer([{ calls: [CALL] }, { text: 'Declined.' }, { text: 'Then y.' }])
  const { key } = await it.server.makeKey({ name: 'Mel', kind: 'person', roles: ['member'] })
  const { agent, events } = await openHttpAgent(it.server.url, key, 'thread-2', [ASK])
  await agent.runAgent()
  agent.addMessage(INSTEAD)
  await agent.runAgent({ resume: answering(agent, { status: 'resolved', payload: { approved: true } }) })
  expect(events.at(-1)).toMatchObject({ type: 'RUN_ERROR', message: expect.stringContaining('Mel may not decide') })
  expect(it.target.writes).toEqual([])
  const [{ id, revision, digest }] = (await it.server.admin.get('/api/actions?state=proposed')).items
  await it.server.admin.post(`/api/actions/${id}/decision`, { verdict: 'decline', revision, digest })
  await it.server.settle()
  expect((await saidIn(it)).slice(-2)).toEqual(['user: No. Do y instead.', 'assistant: Then y.'])
})

test('a vote is taken from who may decide and not write: the run ends with why their words were not', async () => {
  await using it = await startAgUiServer([{ calls: [CALL] }, { text: 'Done.' }])
  const { agent } = await it.open([ASK])
  await agent.runAgent()
  const [session] = (await it.server.admin.get('/api/sessions')).items
  const { key } = await it.server.makeKey({ name: 'Cy', kind: 'person', roles: ['approver'] })
  const other = await openHttpAgent(it.server.url, key, session.id, structuredClone(agent.messages))
  await other.agent.runAgent()
  other.agent.addMessage(INSTEAD)
  await other.agent.runAgent({ resume: answering(other.agent, { status: 'resolved', payload: { approved: true } }) })
  expect(other.events.at(-1)).toMatchObject({ type: 'RUN_ERROR', message: expect.stringContaining('write') })
  await it.server.settle()
  expect((await saidIn(it)).at(-1)).toBe('assistant: Done.')
  expect(it.target.writes).toHaveLength(1)
})

test('answers for a thread that is new here begin no session: nothing in it can wait', async () => {
  await using it = await startAgUiServer([{ text: 'Hello.' }])
  const answer = await fetch(`${it.server.url}/api/ag-ui/desk`, {
    method: 'POST',
    headers: { authorization: `Bearer ${it.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ threadId: 'new', runId: 'run-1', messages: [ASK], resume: [{ interruptId: 'x.1', status: 'cancelled' }] }),
  })
  expect(answer.status).toBe(400)
  expect(await answer.text()).toContain('without resume')
  expect((await it.server.admin.get('/api/sessions')).items).toEqual([])
})
