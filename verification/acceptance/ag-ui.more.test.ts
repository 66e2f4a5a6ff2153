import { expect, inject, test } from 'vitest'
import { type AgUiMessage, openHttpAgent, verifyAsClient } from '../testing/ag-ui-agent.ts'
import { startAgUiServer } from '../testing/ag-ui-server.ts'
import { expireWaiting } from '../testing/end-deadline.ts'
import { orderTool } from '../testing/target.ts'

const CALL = { tool: 'keyed', arguments: { what: 'x' } }
const ASK: AgUiMessage = { id: 'u1', role: 'user', content: 'Do it' }

test('text streams to its end, with the events of a run', async () => {
  await using it = await startAgUiServer([{ text: 'Hello there.' }])
  const { agent, events } = await it.open([{ ...ASK, content: 'Hi' }])
  await agent.runAgent()
  expect(agent.messages.map(({ role, content }) => [role, content])).toEqual([
    ['user', 'Hi'],
    ['assistant', 'Hello there.'],
  ])
  expect(events.at(0)?.type).toBe('RUN_STARTED')
  expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } })
})

test('a read runs, a write interrupts, and the next run with the approval carries it out once', async () => {
  await using it = await startAgUiServer([{ calls: [{ tool: 'look', arguments: { what: 'x' } }, CALL] }, { text: 'Done.' }])
  const { agent, events } = await it.open([ASK])
  await agent.runAgent()
  expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'interrupt' } })
  const [interrupt] = agent.pendingInterrupts
  expect(agent.pendingInterrupts).toHaveLength(1)
  expect(interrupt).toMatchObject({ reason: 'tool_call', message: 'Do x', metadata: { digest: expect.stringContaining('sha256:') } })
  expect(agent.messages.filter(({ role }) => role === 'tool')).toMatchObject([{ content: '{"id":4}' }])
  expect(it.target.writes).toEqual([])

  await agent.runAgent({ resume: [{ interruptId: interrupt?.id ?? '', status: 'resolved', payload: { approved: true } }] })
  expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } })
  expect(it.target.writes).toHaveLength(1)
  // Nothing was said twice: repeated arguments would be joined.
  expect(argumentsOn(agent)).toEqual([{ what: 'x' }, { what: 'x' }])
  expect(agent.messages.at(-1)).toMatchObject({ role: 'assistant', content: 'Done.' })
})

test.each([
  ['declined with a reason', { status: 'resolved', payload: { approved: false, reason: 'not today' } }, 'They said: not today'],
  ['dismissed', { status: 'cancelled' }, 'They said: Dismissed in the user interface'],
] as const)('%s: nothing runs, and the agent is told', async (_, answer, said) => {
  await using it = await startAgUiServer([{ calls: [CALL] }, { text: 'I see.' }])
  const { agent } = await it.open([ASK])
  await agent.runAgent()
  await agent.runAgent({ resume: [{ interruptId: agent.pendingInterrupts[0]?.id ?? '', ...answer }] })
  expect(agent.messages.find(({ role }) => role === 'tool')?.content).toContain(said)
  expect(agent.messages.at(-1)).toMatchObject({ content: 'I see.' })
  expect(it.target.writes).toEqual([])
})

test('two calls: one approved with other arguments, one declined, each ends as decided', async () => {
  await using it = await startAgUiServer([{ calls: [CALL, { tool: 'keyed', arguments: { what: 'y' } }] }, { text: 'Half done.' }])
  const { agent } = await it.open([ASK])
  await agent.runAgent()
  const [first, second] = agent.pendingInterrupts
  await agent.runAgent({
    resume: [
      { interruptId: first?.id ?? '', status: 'resolved', payload: { approved: true, editedArgs: { what: 'better' } } },
      { interruptId: second?.id ?? '', status: 'resolved', payload: { approved: false } },
    ],
  })
  expect(it.target.writes).toMatchObject([{ body: { what: 'better' } }])
  expect(agent.messages.at(-1)).toMatchObject({ content: 'Half done.' })
})

const argumentsOn = ({ messages }: { messages: AgUiMessage[] }) =>
  messages.flatMap(({ toolCalls = [] }) => toolCalls).map((call) => JSON.parse(call.function.arguments))

test('approved with other arguments where a second vote is needed: every page shows those that the vote is about, and those that ran', async () => {
  await using it = await startAgUiServer([{ calls: [CALL] }, { text: 'Done.' }], {
    rules: [{ name: 'two', match: { tool: 'keyed' }, verdict: 'ask', requires: { roles: ['approver'], quorum: 2 } }],
  })
  const { agent, events } = await it.open([ASK])
  await agent.runAgent()
  const left = structuredClone(agent.messages)
  const payload = { approved: true, editedArgs: { what: 'better' } }
  await agent.runAgent({ resume: [{ interruptId: agent.pendingInterrupts[0]?.id ?? '', status: 'resolved', payload }] })
  const pages = [{ agent, events }, await it.open(left), await it.open()]
  for (const page of pages) {
    if (page.agent !== agent) await page.agent.runAgent()
    const [interrupt] = page.agent.pendingInterrupts
    expect(interrupt).toMatchObject({ id: expect.stringMatching(/\.2$/), metadata: { revision: 2, arguments: { what: 'better' } } })
    expect(argumentsOn(page.agent)).toEqual([{ what: 'better' }])
    await verifyAsClient(page.events.slice(page.events.findLastIndex(({ type }) => type === 'RUN_STARTED')))
  }
  // A page that shows them is not sent them again.
  const reloaded = await it.open(structuredClone(agent.messages))
  await reloaded.agent.runAgent()
  expect(reloaded.events.map(({ type }) => type)).toEqual(['RUN_STARTED', 'RUN_FINISHED'])

  const ben = await it.server.as({ name: 'Ben', kind: 'person', roles: ['approver'] })
  const [{ id, revision, digest }] = (await ben.get('/api/actions?state=proposed')).items
  await ben.post(`/api/actions/${id}/decision`, { verdict: 'approve', revision, digest })
  await it.server.settle()
  for (const page of [await it.open(left), await it.open()]) {
    await page.agent.runAgent()
    expect(page.agent.messages.at(-1)).toMatchObject({ content: 'Done.' })
    expect(argumentsOn(page.agent)).toEqual([{ what: 'better' }])
  }
  expect(it.target.writes).toMatchObject([{ body: { what: 'better' } }])
})

test('what a tool fills in is on the page before anybody approves it, after it ran, and when the conversation has gone on', async () => {
  const { orders, tools } = orderTool()
  const script = [{ calls: [{ tool: 'own.order', arguments: { what: 'x' } }] }, { text: 'Done.' }, { text: 'Hello.' }]
  await using it = await startAgUiServer(script, { rules: [] }, tools)
  const { agent } = await it.open([ASK])
  await agent.runAgent()
  const runs = { what: 'x', times: 2 }
  expect(argumentsOn(agent)).toEqual([runs])
  const reloaded = await it.open()
  await reloaded.agent.runAgent()
  expect(argumentsOn(reloaded.agent)).toEqual([runs])
  await agent.runAgent({ resume: [{ interruptId: agent.pendingInterrupts[0]?.id ?? '', status: 'resolved', payload: { approved: true } }] })
  expect([argumentsOn(agent), orders]).toEqual([[runs], [runs]])
  agent.addMessage({ ...ASK, id: 'u2', content: 'Hi' })
  await agent.runAgent()
  const later = await it.open()
  await later.agent.runAgent()
  expect([argumentsOn(agent), argumentsOn(later.agent)]).toEqual([[runs], [runs]])
  // The first one has them already.
  expect(later.events.filter(({ type }) => type === 'MESSAGES_SNAPSHOT')).toHaveLength(1)
})

test('a reloaded page runs again without an answer: it gets the interrupt again, or what was decided elsewhere', async () => {
  await using it = await startAgUiServer([{ calls: [CALL] }, { text: 'Done.' }])
  const { agent } = await it.open([ASK])
  await agent.runAgent()
  const reloaded = await it.open(structuredClone(agent.messages))
  await reloaded.agent.runAgent()
  expect(reloaded.agent.pendingInterrupts).toMatchObject([{ id: agent.pendingInterrupts[0]?.id }])
  expect(reloaded.agent.messages).toEqual(agent.messages)
  const [action] = (await it.server.admin.get('/api/actions?state=proposed')).items
  await it.server.admin.post(`/api/actions/${action.id}/decision`, { verdict: 'approve' })
  await it.server.settle()
  // A page that has lost everything gets the conversation as a snapshot.
  const empty = await it.open()
  await empty.agent.runAgent()
  expect(empty.agent.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant'])
  expect(empty.agent.pendingInterrupts).toEqual([])
  expect(it.target.writes).toHaveLength(1)
})

test('the state of the page is its own: no run replaces it', async () => {
  await using it = await startAgUiServer([{ calls: [CALL] }, { text: 'Done.' }])
  const { agent } = await it.open([ASK])
  agent.setState({ draft: 'mine' })
  await agent.runAgent()
  await agent.runAgent({ resume: [{ interruptId: agent.pendingInterrupts[0]?.id ?? '', status: 'resolved', payload: { approved: true } }] })
  expect(agent.messages.at(-1)).toMatchObject({ content: 'Done.' })
  expect(agent.state).toEqual({ draft: 'mine' })
})

test('the same answer twice, and a made-up one, run nothing more', async () => {
  await using it = await startAgUiServer([{ calls: [CALL] }, { text: 'Done.' }])
  const { agent } = await it.open([ASK])
  await agent.runAgent()
  const messages = structuredClone(agent.messages)
  const resume = [{ interruptId: agent.pendingInterrupts[0]?.id ?? '', status: 'resolved', payload: { approved: true } }]
  const post = (body: object) =>
    fetch(`${it.server.url}/api/ag-ui/desk`, {
      method: 'POST',
      headers: { authorization: `Bearer ${it.key}`, 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({
        threadId: 'thread-1',
        runId: 'run-9',
        state: {},
        messages,
        tools: [],
        context: [],
        forwardedProps: {},
        ...body,
      }),
    })
  const first = await (await post({ resume })).text()
  expect(first).toContain('"type":"RUN_FINISHED"')
  expect(first).not.toMatch(/\r|null|TOOL_CALL_START/)
  expect(await (await post({ resume })).text()).toContain('"outcome":{"type":"success"}')
  expect(await (await post({ resume: [{ interruptId: 'made-up', status: 'resolved', payload: { approved: true } }] })).text()).toContain(
    '"type":"RUN_ERROR"',
  )
  expect((await post({ resume: [{ interruptId: 'x', status: 'resolved', payload: {} }] })).status).toBe(400)
  expect(it.target.writes).toHaveLength(1)
})

const UNPRINTABLE = { toString: 1, valueOf: 1 }

test.each([
  ['words', (id: string) => ({ id, role: 'system', content: UNPRINTABLE })],
  [
    'arguments',
    (id: string) => ({
      id,
      role: 'assistant',
      toolCalls: [{ id: 'c1', type: 'function', function: { name: 'x', arguments: UNPRINTABLE } }],
    }),
  ],
])('a page that holds %s which are no text still gets the answer', async (_, heldAs) => {
  await using it = await startAgUiServer([{ text: 'Hello there.' }])
  const { agent } = await it.open([ASK])
  await agent.runAgent()
  const answerId = agent.messages.at(-1)?.id ?? ''
  const answer = await fetch(`${it.server.url}/api/ag-ui/desk`, {
    method: 'POST',
    headers: { authorization: `Bearer ${it.key}`, 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify({ threadId: 'thread-1', runId: 'run-2', messages: [heldAs(answerId), ASK] }),
  })
  expect(answer.status).toBe(200)
  const told = await answer.text()
  expect(told).toContain('Hello there.')
  expect(told).toContain('"type":"RUN_FINISHED"')
})

test('a message with a picture is refused: no answer is given as if the agent had seen it', async () => {
  await using it = await startAgUiServer([{ text: 'I have seen it.' }])
  const picture = { type: 'image', source: { type: 'data', value: 'iVBORw0=', mimeType: 'image/png' } }
  const content = [{ type: 'text', text: 'Pay this' }, picture]
  const answer = await fetch(`${it.server.url}/api/ag-ui/desk`, {
    method: 'POST',
    headers: { authorization: `Bearer ${it.key}`, 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify({ threadId: 'thread-1', runId: 'run-1', messages: [{ id: 'u1', role: 'user', content }] }),
  })
  expect(answer.status).toBe(400)
  expect(await answer.text()).toContain('only text is taken')
  expect((await it.server.admin.get('/api/sessions')).items).toEqual([])
})

test('a person who may not decide gets an error, and nothing runs', async () => {
  await using it = await startAgUiServer([{ calls: [CALL] }, { text: 'Done.' }])
  const { key } = await it.server.makeKey({ name: 'Mel', kind: 'person', roles: ['member'] })
  const { agent, events } = await openHttpAgent(it.server.url, key, 'thread-2', [ASK])
  await agent.runAgent()
  await agent.runAgent({ resume: [{ interruptId: agent.pendingInterrupts[0]?.id ?? '', status: 'resolved', payload: { approved: true } }] })
  expect(events.at(-1)).toMatchObject({ type: 'RUN_ERROR', message: expect.stringContaining('Mel may not decide') })
  expect(it.target.writes).toEqual([])
})

test('a server that restarts while an interrupt is open goes on as if nothing had been', async () => {
  await using it = await startAgUiServer([{ calls: [CALL] }, { text: 'Done.' }])
  const { agent } = await it.open([ASK])
  await agent.runAgent()
  const [interrupt] = agent.pendingInterrupts
  await it.server.restart()
  const later = await it.open(structuredClone(agent.messages))
  await later.agent.runAgent()
  await later.agent.runAgent({ resume: [{ interruptId: interrupt?.id ?? '', status: 'resolved', payload: { approved: true } }] })
  expect(later.agent.messages.at(-1)).toMatchObject({ content: 'Done.' })
  expect(it.target.writes).toHaveLength(1)
})

test('expired while it waited: the next run says so, and nothing ran', async () => {
  await using it = await startAgUiServer([{ calls: [CALL] }, { text: 'Too late.' }], {
    rules: [{ name: 'soon', match: {}, verdict: 'ask', expires: 'PT1H' }],
  })
  const { agent } = await it.open([ASK])
  await agent.runAgent()
  await expireWaiting(it.server)
  await agent.runAgent({ resume: [{ interruptId: agent.pendingInterrupts[0]?.id ?? '', status: 'cancelled' }] })
  expect(agent.messages.find(({ role }) => role === 'tool')?.content).toContain('Nobody decided about this in time')
  expect(it.target.writes).toEqual([])
})

test('thoughts of the model are a message of their own, and the verifier of the client takes every stream: asked, approved, reloaded, answered too late', async () => {
  await using it = await startAgUiServer([
    { reasoning: 'It wants x.', text: 'I will do x.', calls: [CALL] },
    { reasoning: 'It worked.', text: 'Done.' },
  ])
  const { agent, events } = await it.open([ASK])
  const runs: object[][] = []
  const run = async (on = { agent, events }, input = {}) => {
    const before = on.events.length
    await on.agent.runAgent(input)
    runs.push(on.events.slice(before))
  }
  await run()
  const resume = [{ interruptId: agent.pendingInterrupts[0]?.id ?? '', status: 'resolved', payload: { approved: true } }]
  const reloaded = await it.open(structuredClone(agent.messages))
  await run(reloaded)
  await run({ agent, events }, { resume })
  await run(await it.open())
  await run(reloaded, { resume: [{ ...resume[0], payload: { approved: false } }] })
  // Thoughts are sent while they come and kept nowhere. On Postgres a message that is complete at once can overtake its own.
  const isSqlite = inject('database') === 'sqlite'
  const said = agent.messages.map(({ role, content }) => [role, content])
  expect(isSqlite ? said : said.filter(([role]) => role !== 'reasoning')).toEqual([
    ['user', 'Do it'],
    ...(isSqlite ? [['reasoning', 'It wants x.']] : []),
    ['assistant', 'I will do x.'],
    ['tool', '{"id":4}'],
    ...(isSqlite ? [['reasoning', 'It worked.']] : []),
    ['assistant', 'Done.'],
  ])
  const typesOf = (at: number) => (runs[at] as { type: string }[]).map(({ type }) => type)
  const thoughts = ['REASONING_START', 'REASONING_MESSAGE_START', 'REASONING_MESSAGE_CONTENT', 'REASONING_MESSAGE_END', 'REASONING_END']
  const types = [...new Set(typesOf(0))]
  expect(isSqlite ? types : types.filter((type) => !thoughts.includes(type))).toEqual([
    'RUN_STARTED',
    ...(isSqlite ? thoughts : []),
    'TEXT_MESSAGE_START',
    'TEXT_MESSAGE_CONTENT',
    'TEXT_MESSAGE_END',
    'TOOL_CALL_START',
    'TOOL_CALL_ARGS',
    'TOOL_CALL_END',
    'RUN_FINISHED',
  ])
  // A page that has the thoughts is not sent them again.
  expect(typesOf(1)).toEqual(['RUN_STARTED', 'RUN_FINISHED'])
  for (const sent of runs) await verifyAsClient(sent)
  await expect(verifyAsClient([...(runs[0] ?? []), { type: 'TEXT_MESSAGE_END', messageId: 'x' }])).rejects.toThrow()
})
