import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import type { Speech } from '../../packages/server/src/models/testing/speak.ts'
import { APPEND, type Prompted, ran, type Steps, testCases } from './cases.ts'
import { type Fixture, startFixture } from './fixture.ts'
import { CLAUDE, claudeEnvironment, installed, killWhole, versionOf } from './programs.ts'
import { startScriptedEndpoint } from './scripted-endpoint.ts'

console.info(`claude-agent-acp ${versionOf('@agentclientprotocol/claude-agent-acp')}`)

const MAIN = fileURLToPath(new URL('../../packages/server/src/main.js', import.meta.url))
const SOURCE = ['--conditions=countersign-source', '--disable-warning=ExperimentalWarning']

let calls = 0
const bash = (command: string): Speech => ({
  calls: [{ id: `toolu_${++calls}`, name: 'Bash', argumentsText: JSON.stringify({ command, description: 'Does it' }) }],
})

interface Message {
  id?: number
  method?: string
  params?: { sessionId?: string; options?: { optionId: string; kind: string }[]; requestId?: number }
  result?: { sessionId?: string; stopReason?: string; modes?: { currentModeId: string } }
}

interface Editor {
  child: ChildProcess
  send(message: object): void
  /** Resolves with the next message to the editor that fits. */
  next(fits: (message: Message) => boolean): Promise<Message>
}

/** An editor with Claude Code's agent of the protocol behind `countersign acp`, with one prompt sent. */
async function startPrompt(steps: readonly Speech[]): Promise<Editor & { fixture: Fixture }> {
  const { fixture, open } = await start({ steps })
  return { fixture, ...(await open()) }
}

async function start({ steps, policy, connect = [] }: Steps): Promise<Prompted & { open(): Promise<Editor> }> {
  const fixture = await startFixture(policy)
  const model = await startScriptedEndpoint(steps)
  onTestFinished(() => model[Symbol.asyncDispose]())
  const open = () => openEditor(fixture, model.url, connect)
  return {
    fixture,
    model,
    open,
    async prompt() {
      const { child, next } = await open()
      return { ended: next(isEnd).catch(() => undefined), kill: () => killWhole(child) }
    },
  }
}

async function openEditor(fixture: Fixture, modelUrl: string, args: readonly string[]): Promise<Editor> {
  const env = {
    ...claudeEnvironment(fixture.home, modelUrl),
    CLAUDE_CODE_EXECUTABLE: CLAUDE(),
    COUNTERSIGN_URL: fixture.server.url,
    COUNTERSIGN_KEY: fixture.key,
  }
  const agent = installed('@agentclientprotocol/claude-agent-acp/dist/index.js')
  const command = [...SOURCE, MAIN, 'acp', ...args, '--', process.execPath, agent]
  const child = spawn(process.execPath, command, { cwd: fixture.project, env, stdio: ['pipe', 'pipe', 'ignore'] })
  onTestFinished(() => void child.kill())
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const send = (message: object) => void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  async function next(fits: (message: Message) => boolean): Promise<Message> {
    for (;;) {
      const { value, done } = await lines.next()
      if (done) throw new Error('the agent ended')
      const message: Message = JSON.parse(value)
      if (fits(message)) return message
    }
  }
  send({ id: 1, method: 'initialize', params: { protocolVersion: 1, clientCapabilities: {} } })
  await next(({ id }) => id === 1)
  send({ id: 2, method: 'session/new', params: { cwd: fixture.project, mcpServers: [] } })
  const { sessionId, modes } = (await next(({ id }) => id === 2)).result ?? {}
  // The guide says so: there Claude decides by itself.
  expect(modes?.currentModeId).toBe('auto')
  send({ id: 3, method: 'session/set_mode', params: { sessionId, modeId: 'default' } })
  await next(({ id }) => id === 3)
  send({ id: 4, method: 'session/prompt', params: { sessionId, prompt: [{ type: 'text', text: 'Do it.' }] } })
  return { child, send, next }
}
const isAsk = ({ method }: Message) => method === 'session/request_permission'
const isEnd = ({ id, method }: Message) => id === 4 && method === undefined

// Claude Code lets the reads of a folder run by itself.
testCases({ start, shell: bash, look: undefined, takesReasons: false })

test('changed by a person: nothing runs, because the protocol cannot change the command', async () => {
  const { fixture, next } = await startPrompt([bash(APPEND), { text: 'Understood.' }])
  await next(isAsk)
  const card = await fixture.waiting()
  await fixture.decide(card, { verdict: 'approve', arguments: { ...card.arguments, command: 'printf y >> ran.txt' } })
  await next(isEnd)
  expect(ran(fixture)).toBe('')
})

test('both prompts are open: an approval in Countersign runs the command once, and the report of the agent ends the action', async () => {
  const { fixture, next } = await startPrompt([bash(APPEND), { text: 'All done.' }])
  await next(isAsk)
  const card = await fixture.waiting()
  expect(card).toMatchObject({ arguments: { command: APPEND, folder: fixture.project }, agent: 'coder' })
  expect(ran(fixture)).toBe('')
  await fixture.decide(card, { verdict: 'approve' })
  expect((await next(isEnd)).result?.stopReason).toBe('end_turn')
  expect(ran(fixture)).toBe('x')
  expect(await fixture.settled(card)).toMatchObject({ state: 'succeeded' })
  expect(await fixture.actions()).toHaveLength(1)
})

test('what came of a command is unknown when its turn is cancelled in the editor while it runs', async () => {
  const { fixture, send, next } = await startPrompt([bash(`${APPEND}; sleep 60`), { text: 'All done.' }])
  const { params: { sessionId } = {} } = await next(isAsk)
  await fixture.decide(await fixture.waiting(), { verdict: 'approve' })
  await expect.poll(() => ran(fixture)).toBe('x')
  send({ method: 'session/cancel', params: { sessionId } })
  expect((await next(isEnd)).result?.stopReason).toBe('cancelled')
  await expect.poll(fixture.actions).toMatchObject([{ state: 'outcome_unknown' }])
})

test('answered in the editor: the command runs once, and the card is closed as answered elsewhere', async () => {
  const { fixture, send, next } = await startPrompt([bash(APPEND), { text: 'All done.' }])
  const { id, params } = await next(isAsk)
  const card = await fixture.waiting()
  const { optionId } = params?.options?.find(({ kind }) => kind === 'allow_once') ?? {}
  send({ id, result: { outcome: { outcome: 'selected', optionId } } })
  await next(isEnd)
  expect(ran(fixture)).toBe('x')
  expect(JSON.stringify(await fixture.settled(card))).toContain('answered elsewhere: it was allowed')
})

test('declined in Countersign: nothing runs, and the turn goes on', async () => {
  const { fixture, next } = await startPrompt([bash(APPEND), { text: 'Understood.' }])
  await next(isAsk)
  await fixture.decide(await fixture.waiting(), { verdict: 'decline', reason: 'Not on a Friday' })
  await next(isEnd)
  expect(ran(fixture)).toBe('')
  // No report of the program makes it a call that ran.
  expect(await fixture.actions()).toMatchObject([{ state: 'declined', error: null }])
})

test('server away: what would have asked does not run, whatever the editor answers', async () => {
  const { fixture, send, next } = await startPrompt([bash(APPEND), { text: 'Understood.' }])
  const { id, params } = await next(isAsk)
  await fixture.waiting()
  await fixture.server[Symbol.asyncDispose]()
  const { optionId } = params?.options?.find(({ kind }) => kind === 'allow_once') ?? {}
  send({ id, result: { outcome: { outcome: 'selected', optionId } } })
  await next(isEnd)
  expect(ran(fixture)).toBe('')
})
