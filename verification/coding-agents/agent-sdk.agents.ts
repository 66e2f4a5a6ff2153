import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { gate } from '../../packages/client/src/gate/claude-agent-sdk.ts'
import { createClient } from '../../packages/client/src/index.ts'
import type { Speech } from '../../packages/server/src/models/testing/speak.ts'
import { blocksOf } from '../../scripts/docs/blocks.ts'
import { typeProblems } from '../../scripts/docs/type-snippets.ts'
import { type Fixture, startFixture } from './fixture.ts'
import { CLAUDE, claudeEnvironment, installed, versionOf } from './programs.ts'
import { type ScriptedEndpoint, startScriptedEndpoint } from './scripted-endpoint.ts'

console.info(`Claude Agent SDK ${versionOf('@anthropic-ai/claude-agent-sdk')}`)

/** What these tests use of the package, which is not there at compile time; the guide's example is compiled against its real types below. */
type Query = (input: { prompt: string; options: Record<string, unknown> }) => AsyncIterable<unknown>
const { query }: { query: Query } = await import(pathToFileURL(installed('@anthropic-ai/claude-agent-sdk/sdk.mjs')).href)

let calls = 0
const bash = (command: string): Speech => ({
  calls: [{ id: `toolu_${++calls}`, name: 'Bash', argumentsText: JSON.stringify({ command, description: 'Does it' }) }],
})
/** Appends one letter, so that running twice would show. */
const APPEND = 'printf x >> ran.txt'
const ran = ({ project }: Fixture): string => (existsSync(join(project, 'ran.txt')) ? readFileSync(join(project, 'ran.txt'), 'utf8') : '')

interface Sdk {
  fixture: Fixture
  model: ScriptedEndpoint
  /** Runs a query to its end. */
  run(options?: { limitSeconds?: number; abortController?: AbortController }): Promise<void>
}

async function startSdk(steps: readonly Speech[]): Promise<Sdk> {
  const fixture = await startFixture()
  const model = await startScriptedEndpoint(steps)
  onTestFinished(() => model[Symbol.asyncDispose]())
  const client = createClient({ baseUrl: fixture.server.url, key: fixture.key })
  return {
    fixture,
    model,
    async run({ limitSeconds, abortController = new AbortController() } = {}) {
      onTestFinished(() => abortController.abort())
      const gated = gate(client, { ...(limitSeconds !== undefined && { limitSeconds }) })
      const options = {
        ...gated,
        abortController,
        cwd: fixture.project,
        env: claudeEnvironment(fixture.home, model.url),
        pathToClaudeCodeExecutable: CLAUDE(),
        permissionMode: 'default',
        settingSources: [],
      }
      for await (const _ of query({ prompt: 'Do it.', options }));
    },
  }
}

test('a call waits for a person, runs once with its folder and session on the card, and its report ends the action', async () => {
  const { fixture, model, run } = await startSdk([bash(APPEND), { text: 'All done.' }])
  const running = run()
  const card = await fixture.waiting()
  expect(card).toMatchObject({
    tool: 'host.shell',
    arguments: { host: 'claude', command: APPEND, folder: fixture.project },
    agent: 'coder',
  })
  expect(card.context?.run).toMatch(/^claude [0-9a-f-]{36}$/)
  expect(ran(fixture)).toBe('')
  await fixture.decide(card, { verdict: 'approve' })
  expect(await fixture.settled(card)).toMatchObject({ state: 'succeeded', result: { ranBy: 'Claude Code' } })
  await running
  expect(ran(fixture)).toBe('x')
  expect(model.requests).toHaveLength(2)
  expect(await fixture.actions()).toHaveLength(1)
})

test('declined: nothing runs, and the words of the person reach the model', async () => {
  const { fixture, model, run } = await startSdk([bash(APPEND), { text: 'Understood.' }])
  const running = run()
  await fixture.decide(await fixture.waiting(), { verdict: 'decline', reason: 'Not on a Friday' })
  await running
  expect(ran(fixture)).toBe('')
  expect(model.requests[1]?.body).toContain('Not on a Friday')
  // No report of the program makes it a call that ran.
  expect(await fixture.actions()).toMatchObject([{ state: 'declined', error: null }])
})

test('changed by a person: the changed command runs, not the one of the model', async () => {
  const { fixture, run } = await startSdk([bash('printf no >> ran.txt'), { text: 'Done.' }])
  const running = run()
  const card = await fixture.waiting()
  await fixture.decide(card, { verdict: 'approve', arguments: { ...card.arguments, command: APPEND } })
  await running
  expect(ran(fixture)).toBe('x')
  expect(await fixture.settled(card)).toMatchObject({ state: 'succeeded', arguments: { command: APPEND } })
})

test('nobody decides in time: the call is denied, and the model is told where it waits', async () => {
  const { fixture, model, run } = await startSdk([bash(APPEND), { text: 'Later.' }])
  await run({ limitSeconds: 1 })
  const [card] = await fixture.actions()
  expect(model.requests[1]?.body).toContain(card?.id)
  expect(ran(fixture)).toBe('')
})

test('an aborted query withdraws the call that it waits for', async () => {
  const { fixture, run } = await startSdk([bash(APPEND)])
  const abortController = new AbortController()
  const running = run({ abortController }).catch(() => undefined)
  const card = await fixture.waiting()
  abortController.abort()
  await running
  expect(await fixture.settled(card)).toMatchObject({ state: 'cancelled', attempt: 0 })
  expect(ran(fixture)).toBe('')
})

test('a server that restarts while people think is found again, and the call runs once', async () => {
  const { fixture, run } = await startSdk([bash(APPEND), { text: 'All done.' }])
  const running = run()
  await fixture.waiting()
  await fixture.server.restart()
  await fixture.decide(await fixture.waiting(), { verdict: 'approve' })
  await running
  expect(ran(fixture)).toBe('x')
  expect(await fixture.actions()).toMatchObject([{ state: 'succeeded' }])
})

test('approved twice, as by a double click: the call runs once', async () => {
  const { fixture, run } = await startSdk([bash(APPEND), { text: 'All done.' }])
  const running = run()
  const card = await fixture.waiting()
  await Promise.all([fixture.decide(card, { verdict: 'approve' }), fixture.decide(card, { verdict: 'approve' })])
  await running
  expect(ran(fixture)).toBe('x')
  expect(await fixture.actions()).toMatchObject([{ state: 'succeeded', attempt: 1 }])
})

test('a failed command is a failed action with the words of the host', async () => {
  const { fixture, run } = await startSdk([bash('exit 7'), { text: 'It failed.' }])
  const running = run()
  const card = await fixture.waiting()
  await fixture.decide(card, { verdict: 'approve' })
  await running
  expect(await fixture.settled(card)).toMatchObject({ state: 'failed', error: { message: expect.stringContaining('7') } })
})

test("the guide's example compiles against the types of the real package", () => {
  const root = fileURLToPath(new URL('../../', import.meta.url))
  const example = blocksOf(root, 'docs/guides/coding-agents.md').filter(({ attributes }) => attributes.example === 'claude-agent-sdk')
  expect(example).toHaveLength(1)
  const paths = { '@anthropic-ai/claude-agent-sdk': [installed('@anthropic-ai/claude-agent-sdk/sdk.d.ts')] }
  expect(
    typeProblems(
      root,
      example.map((block) => ({ ...block, note: '' })),
      paths,
    ),
  ).toEqual([])
})
