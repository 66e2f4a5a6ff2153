import { expect, inject, test } from 'vitest'
import type { ScriptStep } from '../../packages/server/src/models/index.ts'
import { cutAndReload } from '../campaign/clients/ag-ui/cut.ts'
import { openPage } from '../campaign/clients/ag-ui/page.ts'
import { type AgUiMessage, openHttpAgent, verifyAsClient } from '../testing/ag-ui-agent.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { startTestServer } from '../testing/test-server.ts'

const CALL = { tool: 'keyed', arguments: { what: 'x' } }
const LOOK = { tool: 'look', arguments: { what: 'x' } }
const ASK: AgUiMessage = { id: 'u1', role: 'user', content: 'Do it' }

async function start(
  script: ScriptStep[],
  policy: object = { rules: [{ name: 'reads run', match: { effect: 'read' }, verdict: 'allow' }] },
) {
  const target = await startTarget(() => ({ status: 200, body: { id: 4 } }))
  const server = await startTestServer({
    config: { tools: toolsOf(target), agents: { desk: { model: 'scripted/desk.json', tools: ['*'] } }, policy },
    scripts: { desk: script },
  })
  const { key } = await server.makeKey({ name: 'Ada', kind: 'person', roles: ['approver', 'member'] })
  return {
    server,
    target,
    key,
    open: (messages: AgUiMessage[] = [], threadId?: string) => openHttpAgent(server.url, key, threadId, messages),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      await target[Symbol.asyncDispose]()
    },
  }
}

test('text streams to its end, with the events of a run', async () => {
  await using it = await start([{ text: 'Hello there.' }])
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
  await using it = await start([{ calls: [{ tool: 'look', arguments: { what: 'x' } }, CALL] }, { text: 'Done.' }])
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
  const [calls] = agent.messages.flatMap(({ toolCalls }) => (toolCalls ? [toolCalls] : []))
  // Nothing was said twice: repeated arguments would be joined.
  expect(calls?.map((call) => JSON.parse(call.function.arguments))).toEqual([{ what: 'x' }, { what: 'x' }])
  expect(agent.messages.at(-1)).toMatchObject({ role: 'assistant', content: 'Done.' })
})

test.each([
  ['declined with a reason', { status: 'resolved', payload: { approved: false, reason: 'not today' } }, 'They said: not today'],
  ['dismissed', { status: 'cancelled' }, 'They said: Dismissed in the user interface'],
] as const)('%s: nothing runs, and the agent is told', async (_, answer, said) => {
  await using it = await start([{ calls: [CALL] }, { text: 'I see.' }])
  const { agent } = await it.open([ASK])
  await agent.runAgent()
  await agent.runAgent({ resume: [{ interruptId: agent.pendingInterrupts[0]?.id ?? '', ...answer }] })
  expect(agent.messages.find(({ role }) => role === 'tool')?.content).toContain(said)
  expect(agent.messages.at(-1)).toMatchObject({ content: 'I see.' })
  expect(it.target.writes).toEqual([])
})

test('two calls: one approved with other arguments, one declined, each ends as decided', async () => {
  await using it = await start([{ calls: [CALL, { tool: 'keyed', arguments: { what: 'y' } }] }, { text: 'Half done.' }])
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

test('a reloaded page runs again without an answer: it gets the interrupt again, or what was decided elsewhere', async () => {
  await using it = await start([{ calls: [CALL] }, { text: 'Done.' }])
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

test('a page that looks at a new thread before its first message gets an empty run, and begins no session', async () => {
  await using it = await start([{ text: 'Hello.' }])
  const { agent, events } = await it.open()
  await agent.runAgent()
  expect(events.map(({ type }) => type)).toEqual(['RUN_STARTED', 'RUN_FINISHED'])
  await verifyAsClient(events)
  // An answer to an interrupt of a thread that never was, and an agent that is not there, are mistakes.
  await expect(agent.runAgent({ resume: [{ interruptId: 'act_x', status: 'cancelled' }] })).rejects.toThrow('400')
  const nobody = await openHttpAgent(it.server.url, it.key, 'thread-1', [], { agent: 'nobody' })
  await expect(nobody.agent.runAgent()).rejects.toThrow('404')
  expect((await it.server.with({ authorization: `Bearer ${it.key}` }).get('/api/sessions')).items).toEqual([])

  agent.addMessage({ ...ASK, content: 'Hi' })
  await agent.runAgent()
  expect(saidBy(agent)).toEqual(['user: Hi', 'assistant: Hello.'])
})

test('a page that notes its answer down as the result of the call, as CopilotKit does, gets the result of the server in its place', async () => {
  await using it = await start([{ calls: [CALL] }, { text: 'Done.' }, { calls: [CALL] }, { text: 'Done too.' }, { text: 'Bye.' }])
  const { agent } = await it.open([ASK])
  await agent.runAgent()
  const approved = { approved: true }
  const note = () => {
    const [{ id: interruptId, toolCallId } = { id: '', toolCallId: '' }] = agent.pendingInterrupts
    agent.addMessage({ id: `own-${toolCallId}`, role: 'tool', toolCallId, content: JSON.stringify(approved) })
    return { resume: [{ interruptId, status: 'resolved' as const, payload: approved }] }
  }
  await agent.runAgent(note())
  const told = ['user: Do it', 'assistant: a call', 'tool: {"id":4}', 'assistant: Done.']
  expect(saidBy(agent)).toEqual(told)

  // Its answer to the next one is lost on the way, and somebody else decides.
  agent.addMessage({ id: 'u2', role: 'user', content: 'Once more' })
  await agent.runAgent()
  note()
  const [action] = (await it.server.admin.get('/api/actions?state=proposed')).items
  await it.server.admin.post(`/api/actions/${action.id}/decision`, { verdict: 'approve' })
  await it.server.settle()
  // A reload forgets the interrupt, which the client would have answered first.
  const reloaded = await it.open([...structuredClone(agent.messages), { id: 'u3', role: 'user', content: 'Bye' }])
  await reloaded.agent.runAgent()
  told.push('user: Once more', 'assistant: a call', 'tool: {"id":4}', 'assistant: Done too.', 'user: Bye', 'assistant: Bye.')
  expect(saidBy(reloaded.agent)).toEqual(told)
  const before = reloaded.events.length
  await reloaded.agent.runAgent()
  expect(reloaded.events.slice(before).map(({ type }) => type)).toEqual(['RUN_STARTED', 'RUN_FINISHED'])
  expect(it.target.writes).toHaveLength(2)
})

const saidBy = ({ messages }: { messages: AgUiMessage[] }) => messages.map(({ role, content }) => `${role}: ${content ?? 'a call'}`)

test('a page that was left while the conversation went on elsewhere gets what it missed, in order, with and without a new message', async () => {
  await using it = await start([
    { reasoning: 'They greet.', text: 'Hello.' },
    { calls: [CALL] },
    { text: 'Shipped.' },
    { text: 'You are welcome.' },
    { text: 'Bye.' },
  ])
  const first = await it.open([{ ...ASK, content: 'Hi' }])
  await first.agent.runAgent()
  const left = structuredClone(first.agent.messages)

  // Another page of the same person goes on, and is approved elsewhere.
  const other = await it.open(structuredClone(left))
  other.agent.addMessage({ id: 'u2', role: 'user', content: 'Ship it' })
  await other.agent.runAgent()
  const [action] = (await it.server.admin.get('/api/actions?state=proposed')).items
  await it.server.admin.post(`/api/actions/${action.id}/decision`, { verdict: 'approve' })
  await it.server.settle()

  const idle = await it.open(structuredClone(left))
  await idle.agent.runAgent()
  const told = ['user: Hi', 'assistant: Hello.', 'user: Ship it', 'assistant: a call', 'tool: {"id":4}', 'assistant: Shipped.']
  const wordsOf = (agent: { messages: AgUiMessage[] }) => saidBy(agent).filter((line) => !line.startsWith('reasoning'))
  expect(wordsOf(idle.agent)).toEqual(told)

  // The first page goes on as if nothing had been, and so does the other one, reloaded, which was told of the call only.
  const reloaded = await it.open(structuredClone(other.agent.messages))
  for (const [page, id, text, answer] of [
    [first, 'u3', 'Thanks', 'You are welcome.'],
    [reloaded, 'u4', 'Bye', 'Bye.'],
  ] as const) {
    page.agent.addMessage({ id, role: 'user', content: text })
    await page.agent.runAgent()
    told.push(`user: ${text}`, `assistant: ${answer}`)
    expect(wordsOf(page.agent)).toEqual(told)
    await verifyAsClient(page.events.slice(page.events.findLastIndex(({ type }) => type === 'RUN_STARTED')))
  }
  // A page that has everything is sent no snapshot.
  const before = reloaded.events.length
  await reloaded.agent.runAgent()
  expect(reloaded.events.slice(before).map(({ type }) => type)).toEqual(['RUN_STARTED', 'RUN_FINISHED'])
  const calls = reloaded.agent.messages.flatMap(({ toolCalls = [] }) => toolCalls)
  expect(calls.map((call) => JSON.parse(call.function.arguments))).toEqual([{ what: 'x' }])
  expect(it.target.writes).toHaveLength(1)
})

test('a page that lost its connection after any event of an answer, and one that has nothing, run again and show what was sent whole', async () => {
  await using it = await start([
    { text: 'I will do both.', chunkDelayMs: 60, calls: [CALL, { tool: 'keyed', arguments: { what: 'y' } }] },
    { text: 'Half of it is done.', chunkDelayMs: 60 },
  ])
  const place = { url: it.server.url, key: it.key, agent: 'desk', thread: 'thread-1' }
  const page = await openPage(place)
  page.say('Do both')
  const answer = (interruptId: string, payload: object) => ({ interruptId, status: 'resolved' as const, payload })
  for (const isAnswered of [false, true]) {
    const [first, second] = page.agent.pendingInterrupts.map(({ id }) => id)
    const resume = [answer(`${first}`, { approved: true }), answer(`${second}`, { approved: false, reason: 'not y' })]
    const stream = await page.run(isAnswered ? resume : undefined)
    const problems: string[] = []
    let cuts = 0
    for await (const { problem } of cutAndReload(place, stream)) {
      cuts++
      if (problem !== undefined) problems.push(problem)
    }
    expect(problems).toEqual([])
    expect(cuts).toBeGreaterThan(5)
  }
  expect(it.target.writes).toMatchObject([{ body: { what: 'x' } }])
})

test('a new page that speaks at once on an old thread gets the conversation before its own words', async () => {
  await using it = await start([{ text: 'Hello.' }, { text: 'Again.' }])
  const { agent } = await it.open([{ ...ASK, content: 'Hi' }])
  await agent.runAgent()
  const late = await it.open([{ id: 'u9', role: 'user', content: 'Still there?' }])
  await late.agent.runAgent()
  expect(saidBy(late.agent)).toEqual(['user: Hi', 'assistant: Hello.', 'user: Still there?', 'assistant: Again.'])
})

test('a page that lost the answer and has the message from a snapshot runs again: the message is not sent a second time', async () => {
  await using it = await start([{ text: 'Hello.' }, { text: 'A second answer.' }])
  const { agent } = await it.open([{ ...ASK, content: 'Hi' }])
  await agent.runAgent()
  const empty = await it.open()
  await empty.agent.runAgent()
  const cut = await it.open(structuredClone(empty.agent.messages.slice(0, 1)))
  await cut.agent.runAgent()
  expect(saidBy(cut.agent)).toEqual(['user: Hi', 'assistant: Hello.'])
})

test('a call that still waits from before a queued message is told once to an empty page: its arguments are whole', async () => {
  await using it = await start([{ calls: [CALL] }, { text: 'Done.' }, { text: 'And that.' }])
  const { agent } = await it.open([ASK])
  await agent.runAgent()
  const [{ sessionId }] = (await it.server.admin.get('/api/actions?state=proposed')).items
  await it.server.with({ authorization: `Bearer ${it.key}` }).post(`/api/sessions/${sessionId}/messages`, { content: 'And that' })
  const empty = await it.open()
  await empty.agent.runAgent()
  const calls = empty.agent.messages.flatMap(({ toolCalls = [] }) => toolCalls)
  expect(calls.map((call) => JSON.parse(call.function.arguments))).toEqual([{ what: 'x' }])
  expect(empty.agent.pendingInterrupts).toHaveLength(1)
})

test('a long conversation is sent to a page that lacks something of it, and not again on each run', async () => {
  const turns = 110
  await using it = await start([
    { text: 'Hello.' },
    ...Array.from({ length: turns }, (_, n) =>
      n % 10 === 5 ? [{ calls: [LOOK] }, { text: `Answer ${n}.` }] : [{ text: `Answer ${n}.` }],
    ).flat(),
    { text: 'Again.' },
    { text: 'Told elsewhere.' },
  ])
  const { agent, events } = await it.open([{ ...ASK, content: 'Hi' }])
  await agent.runAgent()
  for (let n = 0; n < turns; n++) {
    // People write the same thing more than once.
    agent.addMessage({ id: `u-${n}`, role: 'user', content: n % 3 === 0 ? 'Go on' : `Question ${n}` })
    await agent.runAgent()
  }
  const snapshots = (all: readonly { type: string }[]) => all.filter(({ type }) => type === 'MESSAGES_SNAPSHOT').length
  expect(agent.messages.length).toBeGreaterThan(200)
  expect(snapshots(events)).toBe(0)
  expect(agent.messages[0]).toMatchObject({ content: 'Hi' })

  // A page that begins in the middle of it gets the newest 200 once, and goes on without another one.
  const late = await it.open()
  await late.agent.runAgent()
  expect(snapshots(late.events)).toBe(1)
  // With the answer to the last of them.
  expect(late.agent.messages).toHaveLength(201)
  late.agent.addMessage({ id: 'l1', role: 'user', content: 'Go on' })
  await late.agent.runAgent()
  expect(snapshots(late.events)).toBe(1)
  expect(saidBy(late.agent).slice(-2)).toEqual(['user: Go on', 'assistant: Again.'])

  // The first page missed that turn: it is told, at the end of what it has.
  agent.addMessage({ id: 'last', role: 'user', content: 'Go on' })
  await agent.runAgent()
  expect(snapshots(events)).toBe(1)
  expect(saidBy(agent).slice(-4)).toEqual(['user: Go on', 'assistant: Again.', 'user: Go on', 'assistant: Told elsewhere.'])
  const before = events.length
  await agent.runAgent()
  expect(events.slice(before).map(({ type }) => type)).toEqual(['RUN_STARTED', 'RUN_FINISHED'])
})

test('the state of the page is its own: no run replaces it', async () => {
  await using it = await start([{ calls: [CALL] }, { text: 'Done.' }])
  const { agent } = await it.open([ASK])
  agent.setState({ draft: 'mine' })
  await agent.runAgent()
  await agent.runAgent({ resume: [{ interruptId: agent.pendingInterrupts[0]?.id ?? '', status: 'resolved', payload: { approved: true } }] })
  expect(agent.messages.at(-1)).toMatchObject({ content: 'Done.' })
  expect(agent.state).toEqual({ draft: 'mine' })
})

test('the same answer twice, and a made-up one, run nothing more', async () => {
  await using it = await start([{ calls: [CALL] }, { text: 'Done.' }])
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

test('a person who may not decide gets an error, and nothing runs', async () => {
  await using it = await start([{ calls: [CALL] }, { text: 'Done.' }])
  const { key } = await it.server.makeKey({ name: 'Mel', kind: 'person', roles: ['member'] })
  const { agent, events } = await openHttpAgent(it.server.url, key, 'thread-2', [ASK])
  await agent.runAgent()
  await agent.runAgent({ resume: [{ interruptId: agent.pendingInterrupts[0]?.id ?? '', status: 'resolved', payload: { approved: true } }] })
  expect(events.at(-1)).toMatchObject({ type: 'RUN_ERROR', message: expect.stringContaining('Mel may not decide') })
  expect(it.target.writes).toEqual([])
})

test('a server that restarts while an interrupt is open goes on as if nothing had been', async () => {
  await using it = await start([{ calls: [CALL] }, { text: 'Done.' }])
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
  await using it = await start([{ calls: [CALL] }, { text: 'Too late.' }], {
    rules: [{ name: 'soon', match: {}, verdict: 'ask', expires: 'PT1S' }],
  })
  const { agent } = await it.open([ASK])
  await agent.runAgent()
  using log = await it.server.admin.stream('/api/events?after=0')
  await log.next('action_update', ({ state }) => state === 'expired')
  await agent.runAgent({ resume: [{ interruptId: agent.pendingInterrupts[0]?.id ?? '', status: 'cancelled' }] })
  expect(agent.messages.find(({ role }) => role === 'tool')?.content).toContain('Nobody decided about this in time')
  expect(it.target.writes).toEqual([])
})

test('thoughts of the model are a message of their own, and the verifier of the client takes every stream: asked, approved, reloaded, answered too late', async () => {
  await using it = await start([
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
