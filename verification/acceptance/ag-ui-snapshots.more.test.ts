import { expect, test } from 'vitest'
import { cutAndReload } from '../campaign/clients/ag-ui/cut.ts'
import { openPage } from '../campaign/clients/ag-ui/page.ts'
import { type AgUiMessage, openHttpAgent, verifyAsClient } from '../testing/ag-ui-agent.ts'
import { startAgUiServer } from '../testing/ag-ui-server.ts'

const CALL = { tool: 'keyed', arguments: { what: 'x' } }
const LOOK = { tool: 'look', arguments: { what: 'x' } }
const ASK: AgUiMessage = { id: 'u1', role: 'user', content: 'Do it' }

test('a page that looks at a new thread before its first message gets an empty run, and begins no session', async () => {
  await using it = await startAgUiServer([{ text: 'Hello.' }])
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
  await using it = await startAgUiServer([{ calls: [CALL] }, { text: 'Done.' }, { calls: [CALL] }, { text: 'Done too.' }, { text: 'Bye.' }])
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
  await using it = await startAgUiServer([
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
  await using it = await startAgUiServer([
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
  await using it = await startAgUiServer([{ text: 'Hello.' }, { text: 'Again.' }])
  const { agent } = await it.open([{ ...ASK, content: 'Hi' }])
  await agent.runAgent()
  const late = await it.open([{ id: 'u9', role: 'user', content: 'Still there?' }])
  await late.agent.runAgent()
  expect(saidBy(late.agent)).toEqual(['user: Hi', 'assistant: Hello.', 'user: Still there?', 'assistant: Again.'])
})

test('a page that lost the answer and has the message from a snapshot runs again: the message is not sent a second time', async () => {
  await using it = await startAgUiServer([{ text: 'Hello.' }, { text: 'A second answer.' }])
  const { agent } = await it.open([{ ...ASK, content: 'Hi' }])
  await agent.runAgent()
  const empty = await it.open()
  await empty.agent.runAgent()
  const cut = await it.open(structuredClone(empty.agent.messages.slice(0, 1)))
  await cut.agent.runAgent()
  expect(saidBy(cut.agent)).toEqual(['user: Hi', 'assistant: Hello.'])
})

test('a call that still waits from before a queued message is told once to an empty page: its arguments are whole', async () => {
  await using it = await startAgUiServer([{ calls: [CALL] }, { text: 'Done.' }, { text: 'And that.' }])
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

test('the card at the end of a turn of hundreds of messages is shown to a page that was loaded again, and approved there', async () => {
  const refused = { calls: Array.from({ length: 101 }, () => ({ tool: 'nowhere', arguments: {} })) }
  await using it = await startAgUiServer([refused, refused, { calls: [CALL] }, { text: 'Done.' }])
  const { agent } = await it.open([ASK])
  await agent.runAgent()
  const reloaded = await it.open(structuredClone(agent.messages))
  await reloaded.agent.runAgent()
  const [interrupt] = reloaded.agent.pendingInterrupts
  expect(interrupt).toMatchObject({ message: 'Do x' })
  await reloaded.agent.runAgent({ resume: [{ interruptId: interrupt?.id ?? '', status: 'resolved', payload: { approved: true } }] })
  expect(saidBy(reloaded.agent).at(-1)).toBe('assistant: Done.')
  expect(it.target.writes).toHaveLength(1)
})

test('a long conversation is sent to a page that lacks something of it, and not again on each run', async () => {
  const turns = 110
  await using it = await startAgUiServer([
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
