import { expect, onTestFinished, test } from 'vitest'
import type { Speech } from '../../packages/server/src/models/testing/speak.ts'
import { startSessionServer } from '../../packages/tools-mcp/src/testing/http-server.ts'
import { APPEND, ran, testCases } from './cases.ts'
import { type Fixture, type Policy, startFixture } from './fixture.ts'
import { CLAUDE, claudeEnvironment, type Running, run, versionOf } from './programs.ts'
import { type ScriptedEndpoint, startScriptedEndpoint } from './scripted-endpoint.ts'

console.info(`Claude Code ${versionOf('@anthropic-ai/claude-code')}`)

let calls = 0
const bash = (command: string, more: object = {}): Speech => ({
  calls: [{ id: `toolu_${++calls}`, name: 'Bash', argumentsText: JSON.stringify({ command, description: 'Does it', ...more }) }],
})

interface Claude {
  fixture: Fixture
  model: ScriptedEndpoint
  start(...args: string[]): Running
}

async function startClaude(steps: readonly Speech[], policy?: Policy): Promise<Claude> {
  const fixture = await startFixture(policy)
  const model = await startScriptedEndpoint(steps)
  onTestFinished(() => model[Symbol.asyncDispose]())
  return {
    fixture,
    model,
    start(...args) {
      const env = { ...claudeEnvironment(fixture.home, model.url), COUNTERSIGN_KEY: fixture.key }
      const running = run(CLAUDE(), ['-p', 'Do it.', ...args], { cwd: fixture.project, env })
      onTestFinished(() => void running.child.kill())
      return running
    },
  }
}

testCases({
  async start({ steps, policy, connect = [] }) {
    const { fixture, model, start } = await startClaude(steps, policy)
    await fixture.connect('claude', ...connect)
    // The host would run it by itself.
    return { fixture, model, prompt: () => start('--allowedTools', 'Bash') }
  },
  shell: (command) => bash(command),
})

for (const how of [[], ['--direct']]) {
  test(`connected${how.join('')}: a call waits for a person, is allowed once, and the report of the host ends the action`, async () => {
    const { fixture, model, start } = await startClaude([bash(APPEND), { text: 'All done.' }])
    await fixture.connect('claude', ...how)
    const { ended } = start()
    const card = await fixture.waiting()
    expect(card).toMatchObject({ tool: 'host.shell', arguments: { command: APPEND, folder: fixture.project }, agent: 'coder' })
    expect(ran(fixture)).toBe('')
    await fixture.decide(card, { verdict: 'approve' })
    expect(await fixture.settled(card)).toMatchObject({ state: 'succeeded', result: { ranBy: 'Claude Code' } })
    expect(await ended).toMatchObject({ code: 0, stdout: expect.stringContaining('All done.') })
    expect(ran(fixture)).toBe('x')
    expect(model.requests).toHaveLength(2)
    expect(await fixture.actions()).toHaveLength(1)
  })
}

test('a command that goes on in the background when its time is up has an unknown outcome', async () => {
  const { fixture, start } = await startClaude([bash(`${APPEND}; sleep 5`, { timeout: 1_000 }), { text: 'It still runs.' }])
  await fixture.connect('claude')
  const { ended } = start()
  await fixture.decide(await fixture.waiting(), { verdict: 'approve' })
  await ended
  expect(ran(fixture)).toBe('x')
  expect(await fixture.actions()).toMatchObject([
    { state: 'outcome_unknown', error: { message: expect.stringContaining('goes on with this in the background') } },
  ])
})

test('declined: nothing runs, and the words of the person reach the model', async () => {
  const { fixture, model, start } = await startClaude([bash(APPEND), { text: 'Understood.' }])
  await fixture.connect('claude')
  // The host would run it by itself.
  const { ended } = start('--allowedTools', 'Bash')
  await fixture.decide(await fixture.waiting(), { verdict: 'decline', reason: 'Not on a Friday' })
  await ended
  expect(ran(fixture)).toBe('')
  expect(model.requests[1]?.body).toContain('Not on a Friday')
  // No report of the program makes it a call that ran.
  expect(await fixture.actions()).toMatchObject([{ state: 'declined', error: null }])
})

test('changed by a person: the changed command runs, not the one of the model', async () => {
  const { fixture, start } = await startClaude([bash('printf no >> ran.txt'), { text: 'Done.' }])
  await fixture.connect('claude')
  const { ended } = start()
  const card = await fixture.waiting()
  await fixture.decide(card, { verdict: 'approve', arguments: { ...card.arguments, command: APPEND } })
  await ended
  expect(ran(fixture)).toBe('x')
  expect(await fixture.settled(card)).toMatchObject({ state: 'succeeded', arguments: { command: APPEND } })
})

for (const how of [[], ['--direct']]) {
  test(`server away${how.join('')}: what would have asked does not run, although a rule of the host allows it`, async () => {
    const { fixture, model, start } = await startClaude([bash(APPEND), { text: 'It did not run.' }])
    await fixture.connect('claude', ...how)
    await fixture.server.stop()
    await start('--allowedTools', 'Bash').ended
    expect(ran(fixture)).toBe('')
    expect(model.requests.length).toBeGreaterThanOrEqual(1)
  })
}

test('nobody decides in time: the call is denied before the limit of the host, and the model is told where it waits', async () => {
  const { fixture, model, start } = await startClaude([bash(APPEND), { text: 'Later.' }])
  await fixture.connect('claude', '--limit', '2')
  await start('--allowedTools', 'Bash').ended
  const [card] = await fixture.actions()
  // With the session the call is over too.
  expect(card).toMatchObject({ state: 'cancelled', attempt: 0 })
  expect(model.requests[1]?.body).toContain(card?.id)
  expect(ran(fixture)).toBe('')
})

test('parked: the run ends while people are asked, and the resumed run carries out what they approved, once', async () => {
  const { fixture, start } = await startClaude([bash(APPEND), { text: 'All done.' }])
  await fixture.connect('claude', '--park', '--limit', '2')
  const first = JSON.parse((await start('--output-format', 'json').ended).stdout)
  expect(first).toMatchObject({ stop_reason: 'tool_deferred', deferred_tool_use: { name: 'Bash', id: expect.any(String) } })
  await fixture.decide(await fixture.waiting(), { verdict: 'approve' })
  expect(ran(fixture)).toBe('')
  await start('--resume', first.session_id).ended
  expect(ran(fixture)).toBe('x')
  expect(await fixture.actions()).toMatchObject([{ state: 'succeeded', toolCallId: first.deferred_tool_use.id }])
})

test('the permission-prompt tool over MCP: approved once, and declined with the words of the person', async () => {
  const { fixture, model, start } = await startClaude([bash(APPEND), bash(APPEND), { text: 'Done.' }])
  const mcp = {
    mcpServers: { countersign: { type: 'http', url: `${fixture.server.url}/mcp`, headers: { Authorization: `Bearer ${fixture.key}` } } },
  }
  const { ended } = start(
    '--mcp-config',
    JSON.stringify(mcp),
    '--permission-mode',
    'default',
    '--permission-prompt-tool',
    'mcp__countersign__approve',
  )
  const first = await fixture.waiting()
  await fixture.decide(first, { verdict: 'approve' })
  let second = await fixture.waiting()
  while (second.id === first.id) second = await fixture.waiting()
  await fixture.decide(second, { verdict: 'decline', reason: 'Once is enough' })
  await ended
  expect(ran(fixture)).toBe('x')
  expect(model.requests[2]?.body).toContain('Once is enough')
})

test('a web page and a tool of an MCP server: each card says what is asked for, and only the approved one runs, once', async () => {
  const tracker = await startSessionServer()
  const call = (name: string, input: object): Speech => ({
    calls: [{ id: `toolu_${++calls}`, name, argumentsText: JSON.stringify(input) }],
  })
  const { fixture, model, start } = await startClaude([
    call('WebFetch', { url: 'https://docs.example.com/a?q=x', prompt: 'What is in it?' }),
    call('mcp__tracker__note', { text: 'A bug' }),
    { text: 'Done.' },
  ])
  await fixture.connect('claude')
  const mcp = { mcpServers: { tracker: { type: 'http', url: tracker.url } } }
  const { ended } = start('--mcp-config', JSON.stringify(mcp), '--allowedTools', 'WebFetch,mcp__tracker__note')
  const page = await fixture.waiting()
  expect(page).toMatchObject({
    tool: 'host.fetch',
    description: 'Fetch from docs.example.com (GET): /a?q=x',
    arguments: { address: { host: 'docs.example.com', query: 'q=x' }, options: { prompt: 'What is in it?' } },
  })
  await fixture.decide(page, { verdict: 'decline', reason: 'Ask Ana instead' })
  let note = await fixture.waiting()
  while (note.id === page.id) note = await fixture.waiting()
  expect(note).toMatchObject({
    tool: 'host.mcp',
    description: 'Call note of the MCP server tracker',
    arguments: { server: 'tracker', name: 'note', input: { text: 'A bug' } },
  })
  expect(tracker.calls).toEqual([])
  await fixture.decide(note, { verdict: 'approve' })
  expect(await fixture.settled(note)).toMatchObject({ state: 'succeeded', result: { ranBy: 'Claude Code' } })
  await ended
  expect(tracker.calls).toEqual(['note'])
  expect(model.requests[1]?.body).toContain('Ask Ana instead')
})
