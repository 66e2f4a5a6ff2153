import type { Action, JsonObject } from '@countersign/core'
import { expect, onTestFinished, test } from 'vitest'
import { createAcpDialect } from '../../packages/server/src/cli/acp/acp-dialect.ts'
import { codingAgentStarter } from '../../packages/server/src/coding-agent/index.ts'
import { between } from '../testing/between-programs.ts'
import { decide, settled, waiting } from '../testing/decisions.ts'
import { startTestServer, type TestServer } from '../testing/test-server.ts'

const FOLDER = '/home/ana/shop'
const DENY = {
  name: 'no deploys',
  match: { tool: 'host.shell', when: 'args.command.contains("deploy")' },
  verdict: 'deny' as const,
  reason: 'Not from here',
}

async function start() {
  const server = await startTestServer({
    config: { tools: { host: { 'coding-agent': {} } }, policy: { rules: [DENY, ...codingAgentStarter('host')] } },
  })
  onTestFinished(() => server[Symbol.asyncDispose]())
  const { key } = await server.makeKey({ name: 'ana agent', kind: 'agent', agent: 'zed', roles: ['agent'] })
  return { server, ...between(createAcpDialect(), { base: server.url, authorization: `Bearer ${key}` }) }
}

type Desk = Awaited<ReturnType<typeof start>>

const OPTIONS = [
  { optionId: 'always', name: 'Always', kind: 'allow_always' },
  { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
  { optionId: 'no', name: 'No', kind: 'reject_once' },
]
const request = (id: unknown, command: string, options: readonly object[] = OPTIONS) => ({
  jsonrpc: '2.0',
  id,
  method: 'session/request_permission',
  params: { sessionId: 's1', toolCall: { toolCallId: `call ${id}`, kind: 'execute', rawInput: { command } }, options },
})
const selected = (id: unknown, optionId: string) => ({ jsonrpc: '2.0', id, result: { outcome: { outcome: 'selected', optionId } } })
const chosen = ({ result }: { result: { outcome: JsonObject } }) => result.outcome.optionId ?? result.outcome.outcome

async function openSession({ editor, agent }: Pick<Desk, 'editor' | 'agent'>) {
  editor.send({ jsonrpc: '2.0', id: 0, method: 'session/new', params: { cwd: FOLDER, mcpServers: [] } })
  await agent.next()
  agent.send({ jsonrpc: '2.0', id: 0, result: { sessionId: 's1' } })
  await editor.next()
}

const reasonOf = ({ outcome }: Action) => outcome?.text
const read = (server: TestServer, id: string): Promise<Action> => server.admin.get(`/api/actions/${id}`)

test('an approval in Countersign answers the agent, closes the prompt of the editor, and the record has the report of the agent', async () => {
  const { server, editor, agent, proxy } = await start()
  await openSession({ editor, agent })
  agent.send(request(7, 'npm publish'))
  expect(await editor.message()).toEqual(request(7, 'npm publish'))
  const card = await waiting(server)
  expect(card).toMatchObject({ tool: 'host.shell', description: 'Run npm publish', toolCallId: 'call 7', context: { run: 'acp s1' } })
  expect(card.preview).toContainEqual({ field: 'folder', newValue: FOLDER })
  await decide(server, card, { verdict: 'approve' })
  expect(chosen(await agent.message())).toBe('yes')
  expect(await editor.message()).toEqual({ jsonrpc: '2.0', method: '$/cancel_request', params: { requestId: 7 } })
  expect((await read(server, card.id)).state).toBe('executing')

  // The person at the editor is late: that answer reaches nobody.
  editor.send(selected(7, 'no'))
  const update = { sessionUpdate: 'tool_call_update', toolCallId: 'call 7', status: 'completed', rawOutput: { exitCode: 0 } }
  agent.send({ jsonrpc: '2.0', method: 'session/update', params: { sessionId: 's1', update } })
  expect((await editor.message()).params.update).toEqual(update)
  expect(await settled(server, card.id)).toMatchObject({ state: 'succeeded', result: { ranBy: 'The agent', report: { exitCode: 0 } } })
  editor.send({ jsonrpc: '2.0', id: 1, method: 'session/prompt', params: {} })
  expect((await agent.message()).method).toBe('session/prompt')
  await proxy.end()
})

test('the editor answers first: its answer passes as it is, and the card is closed as answered elsewhere', async () => {
  const { server, editor, agent } = await start()
  for (const [id, option, words] of [
    ['one', 'yes', 'allowed in the editor: "Yes"'],
    ['two', 'no', 'not allowed in the editor: "No"'],
    [3, 'always', 'allowed in the editor: "Always"'],
  ] as const) {
    agent.send(request(id, `npm publish ${id}`))
    await editor.next()
    const card = await waiting(server)
    const line = ` {"id":${JSON.stringify(id)}, "result":{"outcome":{"outcome":"selected","optionId":"${option}"}},"jsonrpc":"2.0"}\r\n`
    editor.send(line)
    expect(String(await agent.next())).toBe(line)
    const after = await settled(server, card.id)
    expect(after.state).toBe('cancelled')
    expect(reasonOf(after)).toContain(`answered elsewhere: it was ${words} (act_`)
    const late = await server.admin.send('POST', `/api/actions/${card.id}/decision`, { body: { verdict: 'approve' } })
    expect(late.status).toBe(409)
  }
})

test('an answer of the editor that is no known permission and no refusal runs nothing, and the record has its words', async () => {
  const { server, editor, agent, complaints } = await start()
  const options = [
    ...OPTIONS,
    { optionId: 'session', name: 'For this session', kind: '_allow_session' },
    { optionId: 'allow', name: 'Allow', kind: 'allow' },
    // One id for two options: the agent may read it as either.
    { optionId: 'both', name: 'No', kind: 'reject_once' },
    { optionId: 'both', name: 'Yes', kind: 'allow_once' },
  ]
  for (const [id, outcome, words] of [
    [1, { outcome: 'selected', optionId: 'session' }, '"For this session" (_allow_session)'],
    [2, { outcome: 'selected', optionId: 'allow' }, '"Allow" (allow)'],
    [3, { outcome: 'selected', optionId: 'both' }, '"No" (reject_once), "Yes" (allow_once)'],
    [4, { outcome: 'selected', optionId: 'made up' }, 'an option that was not offered'],
    [5, { outcome: 'approved' }, 'an unknown outcome'],
  ] as const) {
    agent.send(request(id, `npm publish ${id}`, options))
    await editor.next()
    const card = await waiting(server)
    editor.send({ jsonrpc: '2.0', id, result: { outcome } })
    const { result } = await agent.message()
    expect(result.outcome).toEqual({ outcome: 'selected', optionId: 'no' })
    const after = await settled(server, card.id)
    expect(after.state).toBe('cancelled')
    expect(reasonOf(after)).toContain(`answered elsewhere: it was not allowed in the editor: ${words} (act_`)
    expect(complaints.at(-1)).toContain(words)
  }
})

test('a prompt that the editor closed, or answered with an error, passes as a refusal', async () => {
  const { server, editor, agent } = await start()
  for (const [id, answer, words] of [
    [1, { result: { outcome: { outcome: 'cancelled' } } }, 'cancelled'],
    [2, { error: { code: -32603, message: 'no prompt' } }, 'an error'],
  ] as const) {
    agent.send(request(id, `npm publish ${id}`))
    await editor.next()
    const card = await waiting(server)
    const line = `${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`
    editor.send(line)
    expect(String(await agent.next())).toBe(line)
    expect(reasonOf(await settled(server, card.id))).toContain(`it was not allowed in the editor: ${words} (act_`)
  }
})

/** A permission request of version 2 of the protocol. */
const requestV2 = (id: unknown, subject: object | undefined, title = 'May I?') => ({
  ...{ jsonrpc: '2.0', id, method: 'session/request_permission' },
  params: { sessionId: 's1', title, options: OPTIONS, ...(subject && { subject }) },
})

test('version 2: a call, a command, an unknown subject and none become cards, and each gets its answer', async () => {
  const { server, editor, agent } = await start()
  await openSession({ editor, agent })
  const call = { toolCallId: 'call 1', kind: 'execute', rawInput: { command: 'npm publish' } }
  const subjects = [
    [{ type: 'tool_call', toolCall: call }, { tool: 'host.shell', description: 'Run npm publish', toolCallId: 'call 1' }, FOLDER],
    [
      { type: 'command', command: 'npm pack', cwd: '/srv/other', toolCallId: 'call 2' },
      { tool: 'host.shell', description: 'Run npm pack', toolCallId: 'call 2' },
      FOLDER,
    ],
    // Where a command runs is not the folder of the session.
    [
      { type: 'command', command: 'cat passwd', cwd: '/etc' },
      { tool: 'host.shell', risk: { reasons: ['reaches outside the folder: /etc'] } },
      FOLDER,
    ],
    [{ amount: 12, type: '_payment' }, { tool: 'host.other' }, undefined],
    [undefined, { tool: 'host.other' }, undefined],
  ] as const
  for (const [id, [subject, shown, folder]] of subjects.entries()) {
    const asked = requestV2(id + 1, subject, `Question ${id}`)
    agent.send(asked)
    expect(await editor.message()).toEqual(asked)
    const card = await waiting(server)
    expect(card).toMatchObject(shown)
    expect(card.context).toEqual({ run: 'acp s1', reason: `Question ${id}` })
    if (folder !== undefined) expect(card.preview).toContainEqual({ field: 'folder', newValue: folder })
    else for (const words of [`Question ${id}`, JSON.stringify(subject ?? null)]) expect(JSON.stringify(card.arguments)).toContain(words)
    const isApproved = id % 2 === 0
    await decide(server, card, isApproved ? { verdict: 'approve' } : { verdict: 'decline', reason: 'Not today' })
    const { result } = await agent.message()
    expect(result.outcome).toEqual({ outcome: 'selected', optionId: isApproved ? 'yes' : 'no' })
    expect((await editor.message()).method).toBe('$/cancel_request')
  }
})

test('version 2: the card has the words of the prompt as those of the agent, and what came of a call that was cancelled while it ran is unknown', async () => {
  const { server, editor, agent } = await start()
  const call = { toolCallId: 'call 1', kind: 'execute', rawInput: { command: 'npm publish' } }
  const asked = requestV2(1, { type: 'tool_call', toolCall: call }, 'Only a dry run')
  agent.send({ ...asked, params: { ...asked.params, description: `It changes nothing.${' Really.'.repeat(400)}` } })
  await editor.next()
  const card = await waiting(server)
  expect(card).toMatchObject({ description: 'Run npm publish', arguments: { command: 'npm publish' } })
  expect(card.context?.reason).toMatch(/^Only a dry run\nIt changes nothing\. Really/)
  await decide(server, card, { verdict: 'approve' })
  expect(chosen(await agent.message())).toBe('yes')
  const update = { sessionUpdate: 'tool_call_update', toolCallId: 'call 1', status: 'cancelled', rawOutput: { done: 'half' } }
  agent.send({ jsonrpc: '2.0', method: 'session/update', params: { sessionId: 's1', update } })
  await expect
    .poll(() => read(server, card.id))
    .toMatchObject({ state: 'outcome_unknown', error: { message: expect.stringContaining('half') } })
})

test('a call that the agent says failed after its turn was cancelled has an unknown outcome', async () => {
  const { server, editor, agent } = await start()
  agent.send(request(7, 'npm publish'))
  await editor.next()
  const card = await waiting(server)
  await decide(server, card, { verdict: 'approve' })
  await agent.next()
  editor.send({ jsonrpc: '2.0', method: 'session/cancel', params: { sessionId: 's1' } })
  await agent.next()
  const update = { sessionUpdate: 'tool_call_update', toolCallId: 'call 7', status: 'failed', rawOutput: 'stopped while running' }
  agent.send({ jsonrpc: '2.0', method: 'session/update', params: { sessionId: 's1', update } })
  await expect.poll(() => read(server, card.id)).toMatchObject({ state: 'outcome_unknown' })
})

test('what came of a call is unknown when its turn is cancelled while it runs', async () => {
  const { server, editor, agent } = await start()
  const prompt = (id: number, sessionId: string) => ({ jsonrpc: '2.0', id, method: 'session/prompt', params: { sessionId, prompt: [] } })
  for (const message of [prompt(1, 's2'), prompt(2, 's1'), prompt(3, 's1')]) {
    editor.send(message)
    await agent.next()
  }
  agent.send(request(7, 'npm publish'))
  await editor.next()
  const card = await waiting(server)
  await decide(server, card, { verdict: 'approve' })
  expect(chosen(await agent.message())).toBe('yes')
  await editor.next()
  const answer = (id: number, stopReason: string) => ({ jsonrpc: '2.0', id, result: { stopReason } })
  for (const message of [answer(1, 'cancelled'), answer(2, 'end_turn'), answer(9, 'cancelled')]) {
    agent.send(message)
    await editor.next()
  }
  expect(await read(server, card.id)).toMatchObject({ state: 'executing' })
  agent.send(answer(3, 'cancelled'))
  await expect.poll(() => read(server, card.id)).toMatchObject({ state: 'outcome_unknown' })
})

test('version 2: policy denies a command whatever the editor answers, and what names two operations or half of one is refused', async () => {
  const { server, editor, agent } = await start()
  agent.send(requestV2(1, { type: 'command', command: 'npm run deploy', cwd: FOLDER }))
  editor.send(selected(1, 'yes'))
  expect(chosen(await agent.message())).toBe('no')
  const call = { toolCallId: 'c', kind: 'execute', rawInput: { command: 'ls' } }
  const two = requestV2(2, { type: 'command', command: 'npm publish', cwd: FOLDER })
  for (const odd of [
    { ...two, params: { ...two.params, toolCall: call } },
    requestV2(3, { type: 'command', cwd: FOLDER }),
    requestV2(4, { type: 'command', command: 'ls' }),
    requestV2(5, { type: 'tool_call' }),
    { ...two, id: 7, params: { ...two.params, subject: 'npm publish' } },
  ]) {
    agent.send(odd)
    expect(chosen(await agent.message())).toBe('no')
  }
  const { items } = await server.admin.get('/api/actions')
  expect(items.map(({ state }: Action) => state)).toEqual(['declined'])
})

test('version 2: the same words in two requests without the id of a call are two questions', async () => {
  const { server, editor, agent } = await start()
  for (const id of [1, 1]) {
    agent.send(requestV2(id, { type: 'command', command: 'npm publish', cwd: FOLDER }))
    await editor.next()
    await decide(server, await waiting(server), { verdict: 'approve' })
    expect(chosen(await agent.message())).toBe('yes')
    await editor.next()
  }
  const { items } = await server.admin.get('/api/actions')
  expect(items).toHaveLength(2)
})

test('version 2: a card shows a call as its updates left it, with what was taken back and what was added', async () => {
  const { server, editor, agent } = await start()
  editor.send({ jsonrpc: '2.0', id: 0, method: 'initialize', params: { protocolVersion: 2 } })
  await agent.next()
  agent.send({ jsonrpc: '2.0', id: 0, result: { protocolVersion: 2 } })
  await editor.next()
  const update = (said: object) => agent.send({ jsonrpc: '2.0', method: 'session/update', params: { sessionId: 's1', update: said } })
  update({ sessionUpdate: 'tool_call_update', toolCallId: 'c', title: 'old title', kind: 'other', rawInput: { note: 'old input' } })
  update({ sessionUpdate: 'tool_call_update', toolCallId: 'c', rawInput: null, title: null })
  update({
    sessionUpdate: 'tool_call_content_chunk',
    toolCallId: 'c',
    content: { type: 'content', content: { type: 'text', text: 'added words' } },
  })
  agent.send(requestV2(1, { type: 'tool_call', toolCall: { toolCallId: 'c' } }))
  const shown = JSON.stringify((await waiting(server)).arguments)
  expect(shown).toContain('added words')
  expect(shown).not.toContain('old ')
})

test('the permission of the editor does not count where policy denies the call, however fast it comes', async () => {
  const { server, editor, agent } = await start()
  // Together: the server may hear of the answer before the question.
  editor.send(selected(1, 'yes'))
  await agent.next()
  agent.send(request(1, 'npm run deploy'))
  editor.send(selected(1, 'always'))
  const { result } = await agent.message()
  expect(result.outcome).toEqual({ outcome: 'selected', optionId: 'no' })
  const { items } = await server.admin.get('/api/actions')
  expect(items.map(({ state }: Action) => state)).toEqual(['declined'])
})

test('a decline tells its reason, and without an option for it nothing is selected', async () => {
  const { server, editor, agent } = await start()
  const [, once] = OPTIONS
  agent.send(request(1, 'npm publish', once ? [once] : []))
  await editor.next()
  await decide(server, await waiting(server), { verdict: 'decline', reason: 'Not on a Friday' })
  const { result } = await agent.message()
  expect(result.outcome).toEqual({ outcome: 'cancelled' })
  expect(result._meta['countersign/reason']).toContain('Not on a Friday')
})

test('nothing runs when the server is away, whatever the editor answers, and when a request cannot be asked about', async () => {
  const { editor, agent } = between(createAcpDialect(), { base: 'http://127.0.0.1:9', authorization: 'Bearer cs_x' })
  agent.send(request(1, 'npm publish'))
  editor.send(selected(1, 'yes'))
  expect(chosen(await agent.message())).toBe('no')
  // Not one call only, no call, the same id again, a batch.
  agent.send(
    request(
      2,
      'x',
      OPTIONS.filter(({ kind }) => kind !== 'allow_once'),
    ),
  )
  expect(chosen(await agent.message())).toBe('no')
  agent.send({ ...request(3, 'x'), params: { sessionId: 's1', options: OPTIONS } })
  expect(chosen(await agent.message())).toBe('no')
  agent.send([request(4, 'x')])
  expect(chosen(await agent.message())).toBe('no')
})

test('a cancelled request closes its card, and an answer that the editor gives after it reaches nobody', async () => {
  const { server, editor, agent } = await start()
  agent.send(request(1, 'npm publish'))
  await editor.next()
  const card = await waiting(server)
  agent.send({ jsonrpc: '2.0', method: '$/cancel_request', params: { requestId: 1 } })
  expect(chosen(await agent.message())).toBe('no')
  expect((await editor.message()).method).toBe('$/cancel_request')
  editor.send(selected(1, 'yes'))
  expect((await settled(server, card.id)).state).toBe('cancelled')
  editor.send('{"id":1,"method":"x"}\n')
  expect(String(await agent.next())).toBe('{"id":1,"method":"x"}\n')
})

test('what is open when the session ends is closed: a waiting card is withdrawn, a call without a report is unknown', async () => {
  const { server, editor, agent, proxy } = await start()
  agent.send(request(1, 'npm publish'))
  await editor.next()
  const running = await waiting(server)
  await decide(server, running, { verdict: 'approve' })
  expect(chosen(await agent.message())).toBe('yes')
  agent.send(request(2, 'npm publish again'))
  const card = await waiting(server)
  await proxy.end()
  expect((await settled(server, card.id)).state).toBe('cancelled')
  expect((await read(server, running.id)).state).toBe('outcome_unknown')
})

test('every other line passes byte for byte, both ways: huge, odd, in pieces, and no JSON at all', async () => {
  const { editor, agent } = between(createAcpDialect(), { base: 'http://127.0.0.1:9', authorization: 'Bearer cs_x' })
  const lines = [
    Buffer.from('{ "id" : "1" ,"method":"x","a":1,"a":2}\r\n'),
    Buffer.from('\n'),
    Buffer.from('no JSON \u2028 at all\n'),
    Buffer.from([0xff, 0xfe, 0x00, 0x7b, 0x0a]),
    Buffer.from('{"id":null,"result":1e400}\n'),
    Buffer.from('{"id":12345678901234567890,"error":{}}\n'),
    Buffer.from(`{"method":"session/update","params":{"update":"${'ä'.repeat(4_000_000)}"}}\n`),
    Buffer.from('[{"id":1,"result":{}}]\n'),
  ]
  for (const [from, to] of [
    [agent, editor],
    [editor, agent],
  ] as const) {
    for (const line of lines) {
      const half = Math.floor(line.length / 3)
      from.raw(line.subarray(0, half))
      from.raw(line.subarray(half))
      expect((await to.next()).equals(line)).toBe(true)
    }
  }
})
