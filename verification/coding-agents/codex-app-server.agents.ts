import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import type { Speech } from '../../packages/server/src/models/testing/speak.ts'
import { APPEND, type Prompted, ran, type Steps, testCases } from './cases.ts'
import { type Fixture, startFixture } from './fixture.ts'
import { CODEX, killWhole } from './programs.ts'
import { type ScriptedEndpoint, startScriptedEndpoint } from './scripted-endpoint.ts'

const MAIN = fileURLToPath(new URL('../../packages/server/src/main.js', import.meta.url))
const SOURCE = ['--conditions=countersign-source', '--disable-warning=ExperimentalWarning']

let calls = 0
const shell = (command: string): Speech => ({
  calls: [{ id: `call_${++calls}`, name: 'exec_command', argumentsText: JSON.stringify({ cmd: command }) }],
})
const PATCH = "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: new.txt\n+hello\n*** End Patch\nEOF\n"

interface Message {
  id?: number
  method?: string
  params?: { threadId?: string; turnId?: string; itemId?: string; item?: { type: string; status?: string }; turn?: { status: string } }
  result?: { thread?: { id: string } }
}

interface Driver {
  child: ChildProcess
  send(message: object): void
  /** Resolves with the next message of Codex that fits. */
  next(fits: (message: Message) => boolean): Promise<Message>
}

/** A program that drives codex app-server through `countersign codex`, with one turn begun. */
async function startTurn(steps: readonly Speech[]): Promise<Driver & { fixture: Fixture; model: ScriptedEndpoint }> {
  const { fixture, model, open } = await start({ steps })
  return { fixture, model, ...(await open()) }
}

async function start({ steps, policy, connect = [] }: Steps): Promise<Prompted & { open(): Promise<Driver> }> {
  const fixture = await startFixture(policy)
  const model = await startScriptedEndpoint(steps)
  onTestFinished(() => model[Symbol.asyncDispose]())
  mkdirSync(join(fixture.home, '.codex'), { recursive: true })
  writeFileSync(
    join(fixture.home, '.codex', 'config.toml'),
    `model = "scripted"
model_provider = "scripted"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.scripted]
name = "scripted"
base_url = "${model.url}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
`,
  )
  const open = () => openDriver(fixture, connect)
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

async function openDriver(fixture: Fixture, args: readonly string[]): Promise<Driver> {
  const env = {
    HOME: fixture.home,
    PATH: process.env.PATH ?? '',
    SCRIPTED_KEY: 'x',
    COUNTERSIGN_URL: fixture.server.url,
    COUNTERSIGN_KEY: fixture.key,
  }
  const command = [...SOURCE, MAIN, 'codex', ...args, '--', process.execPath, CODEX(), 'app-server']
  const child = spawn(process.execPath, command, { cwd: fixture.project, env, stdio: ['pipe', 'pipe', 'ignore'] })
  onTestFinished(() => void child.kill())
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const send = (message: object) => void child.stdin.write(`${JSON.stringify(message)}\n`)
  async function next(fits: (message: Message) => boolean): Promise<Message> {
    for (;;) {
      const { value, done } = await lines.next()
      if (done) throw new Error('Codex ended')
      const message: Message = JSON.parse(value)
      if (fits(message)) return message
    }
  }
  send({ id: 101, method: 'initialize', params: { clientInfo: { name: 'test', version: '1' } } })
  await next(({ id }) => id === 101)
  send({ method: 'initialized' })
  const sandbox = 'danger-full-access'
  send({ id: 102, method: 'thread/start', params: { cwd: fixture.project, approvalPolicy: 'untrusted', sandbox } })
  const threadId = (await next(({ id }) => id === 102)).result?.thread?.id
  send({ id: 103, method: 'turn/start', params: { threadId, input: [{ type: 'text', text: 'Do it.' }] } })
  return { child, send, next }
}
const isAsk = ({ method }: Message) => method?.endsWith('/requestApproval') === true
const isEnd = ({ method }: Message) => method === 'turn/completed'

testCases({ start, shell, look: 'nl note.txt', takesReasons: false })

test('changed by a person: nothing runs, because the protocol cannot change the command', async () => {
  const { fixture, next } = await startTurn([shell(APPEND), { text: 'Understood.' }])
  await next(isAsk)
  const card = await fixture.waiting()
  await fixture.decide(card, { verdict: 'approve', arguments: { ...card.arguments, command: 'printf y >> ran.txt' } })
  await next(isEnd)
  expect(ran(fixture)).toBe('')
})

test('both prompts are open: an approval in Countersign runs the command once, and the report of Codex ends the action', async () => {
  const { fixture, model, next } = await startTurn([shell(APPEND), { text: 'All done.' }])
  await next(isAsk)
  const card = await fixture.waiting()
  expect(card).toMatchObject({ tool: 'host.shell', arguments: { host: 'codex', command: APPEND, folder: fixture.project } })
  expect(ran(fixture)).toBe('')
  await fixture.decide(card, { verdict: 'approve' })
  await next(({ method }) => method === 'serverRequest/resolved')
  expect((await next(isEnd)).params?.turn?.status).toBe('completed')
  expect(ran(fixture)).toBe('x')
  expect(await fixture.settled(card)).toMatchObject({ state: 'succeeded', result: { ranBy: 'Codex', report: { exitCode: 0 } } })
  expect(model.requests).toHaveLength(2)
})

test('answered at the prompt of the program: the command runs once, and the card is closed as answered elsewhere', async () => {
  const { fixture, send, next } = await startTurn([shell(APPEND), { text: 'All done.' }])
  const { id } = await next(isAsk)
  const card = await fixture.waiting()
  send({ id, result: { decision: 'accept' } })
  await next(isEnd)
  expect(ran(fixture)).toBe('x')
  expect(JSON.stringify(await fixture.settled(card))).toContain('answered elsewhere: it was allowed')
})

test('declined in Countersign: nothing runs, and the turn goes on', async () => {
  const { fixture, model, next } = await startTurn([shell(APPEND), { text: 'Understood.' }])
  await next(isAsk)
  await fixture.decide(await fixture.waiting(), { verdict: 'decline', reason: 'Not on a Friday' })
  expect((await next(isEnd)).params?.turn?.status).toBe('completed')
  expect(ran(fixture)).toBe('')
  expect(model.requests).toHaveLength(2)
  // No report of the program makes it a call that ran.
  expect(await fixture.actions()).toMatchObject([{ state: 'declined', error: null }])
})

test('a patch is on the card with its files, and changes them after an approval', async () => {
  const { fixture, next } = await startTurn([shell(PATCH), { text: 'Done.' }])
  await next(isAsk)
  const card = await fixture.waiting()
  expect(card).toMatchObject({ tool: 'host.patch', arguments: { files: [join(fixture.project, 'new.txt')], outside: false } })
  const file = join(fixture.project, 'new.txt')
  expect(existsSync(file)).toBe(false)
  await fixture.decide(card, { verdict: 'approve' })
  await next(isEnd)
  expect(readFileSync(file, 'utf8')).toBe('hello\n')
  expect(await fixture.settled(card)).toMatchObject({ state: 'succeeded' })
})

test('server away: what would have asked does not run', async () => {
  const { fixture, next } = await startTurn([shell(APPEND), { text: 'It did not run.' }])
  await fixture.server.stop()
  await next(isEnd)
  expect(ran(fixture)).toBe('')
})

test('what came of a command is unknown when its turn is interrupted while it runs', async () => {
  const { fixture, send, next } = await startTurn([shell(`${APPEND}; sleep 60`), { text: 'All done.' }])
  const { params: { threadId, turnId } = {} } = await next(isAsk)
  await fixture.decide(await fixture.waiting(), { verdict: 'approve' })
  await expect.poll(() => ran(fixture)).toBe('x')
  send({ id: 104, method: 'turn/interrupt', params: { threadId, turnId } })
  expect((await next(isEnd)).params?.turn?.status).toBe('interrupted')
  await expect.poll(fixture.actions).toMatchObject([{ state: 'outcome_unknown' }])
})
