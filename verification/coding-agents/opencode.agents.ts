import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import type { Speech } from '../../packages/server/src/models/testing/speak.ts'
import { freePort } from '../testing/free-port.ts'
import { APPEND, type Prompted, ran, type Steps, testCases } from './cases.ts'
import { type Fixture, startFixture } from './fixture.ts'
import { killWhole, OPENCODE, versionOf } from './programs.ts'
import { type ScriptedEndpoint, startScriptedEndpoint } from './scripted-endpoint.ts'

console.info(`opencode ${versionOf('opencode-ai')}`)

const MAIN = fileURLToPath(new URL('../../packages/server/src/main.js', import.meta.url))
const SOURCE = ['--conditions=countersign-source', '--disable-warning=ExperimentalWarning']

let calls = 0
const call = (name: string, args: object): Speech => ({ calls: [{ id: `call_${++calls}`, name, argumentsText: JSON.stringify(args) }] })
const bash = call('bash', { command: APPEND, description: 'Does it' })

interface Opencode {
  /** Calls opencode as another program with a prompt does. */
  request(method: string, path: string, body?: object): Promise<Response>
  /** Resolves when the turn is over. */
  turn: Promise<void>
  /** Kills opencode and the bridge. */
  kill(): void
}

/** Starts opencode with the bridge beside it, and one turn. */
async function startTurn(steps: readonly Speech[]): Promise<Opencode & { fixture: Fixture; model: ScriptedEndpoint }> {
  const { fixture, model, open } = await start({ steps })
  return { fixture, model, ...(await open()) }
}

async function start({ steps, policy, connect = [] }: Steps): Promise<Prompted & { open(): Promise<Opencode> }> {
  const fixture = await startFixture(policy)
  const model = await startScriptedEndpoint(steps)
  onTestFinished(() => model[Symbol.asyncDispose]())
  const folder = join(fixture.home, '.config', 'opencode')
  mkdirSync(folder, { recursive: true })
  const options = { baseURL: `${model.url}/v1`, apiKey: 'x' }
  const models = { m: { name: 'm', tool_call: true, limit: { context: 100_000, output: 4_000 } } }
  const config = {
    permission: { bash: 'ask', edit: 'ask' },
    enabled_providers: ['scripted'],
    model: 'scripted/m',
    small_model: 'scripted/m',
    autoupdate: false,
    share: 'disabled',
    provider: { scripted: { npm: '@ai-sdk/openai-compatible', name: 's', options, models } },
  }
  writeFileSync(join(folder, 'opencode.json'), JSON.stringify(config))
  const open = () => openTurn(fixture, connect)
  return {
    fixture,
    model,
    open,
    async prompt() {
      const { turn, kill } = await open()
      return { ended: turn.catch(() => undefined), kill }
    },
  }
}

async function openTurn(fixture: Fixture, bridgeArgs: readonly string[]): Promise<Opencode> {
  const children: ChildProcess[] = []
  const base = { HOME: fixture.home, PATH: process.env.PATH ?? '', OPENCODE_SERVER_PASSWORD: 'pw' }
  const port = await freePort()
  const run = (program: string, args: string[], env: Record<string, string>, isUp: RegExp): Promise<void> => {
    const child = spawn(program, args, { cwd: fixture.project, env, stdio: ['ignore', 'pipe', 'pipe'] })
    children.push(child)
    onTestFinished(() => void child.kill())
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    let said = ''
    const hear = (chunk: Buffer) => {
      said += chunk
      if (isUp.test(said)) resolve()
    }
    child.stdout.on('data', hear)
    child.stderr.on('data', hear)
    child.on('close', () => reject(new Error(said)))
    return promise
  }
  await run(OPENCODE(), ['serve', '--port', String(port)], { ...base, OPENCODE_DISABLE_MODELS_FETCH: '1' }, /listening/)
  const url = `http://127.0.0.1:${port}`
  const env = { ...base, COUNTERSIGN_URL: fixture.server.url, COUNTERSIGN_KEY: fixture.key }
  await run(process.execPath, [...SOURCE, MAIN, 'opencode', url, ...bridgeArgs], env, /Asking Countersign/)
  const headers = { authorization: `Basic ${Buffer.from('opencode:pw').toString('base64')}`, 'content-type': 'application/json' }
  const request = (method: string, path: string, body?: object): Promise<Response> =>
    fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
  const { id } = (await (await request('POST', '/session', {})).json()) as { id: string }
  const turn = request('POST', `/session/${id}/message`, { parts: [{ type: 'text', text: 'Do it.' }] }).then(async (answer) => {
    await answer.text()
  })
  return { request, turn, kill: () => children.forEach(killWhole) }
}

testCases({ start, shell: (command) => call('bash', { command, description: 'Does it' }) })

test('changed by a person: nothing runs, because a reply to opencode cannot change the command', async () => {
  const { fixture, model, turn } = await startTurn([bash, { text: 'Understood.' }])
  const card = await fixture.waiting()
  await fixture.decide(card, { verdict: 'approve', arguments: { ...card.arguments, command: 'printf y >> ran.txt' } })
  await turn
  expect(ran(fixture)).toBe('')
  expect(model.requests[1]?.body).toContain('printf y')
})

test('a command waits for a person, runs once, and its report ends the action', async () => {
  const { fixture, model, turn } = await startTurn([bash, { text: 'All done.' }])
  const card = await fixture.waiting()
  expect(card).toMatchObject({
    tool: 'host.shell',
    arguments: { host: 'opencode', command: APPEND, folder: fixture.project },
    agent: 'coder',
  })
  expect(ran(fixture)).toBe('')
  await fixture.decide(card, { verdict: 'approve' })
  await turn
  expect(ran(fixture)).toBe('x')
  expect(await fixture.settled(card)).toMatchObject({ state: 'succeeded', result: { ranBy: 'opencode' } })
  expect(model.requests).toHaveLength(2)
})

test('declined: nothing is written, and the words of the person reach the model', async () => {
  const desk0 = await startTurn([call('write', { filePath: 'new.txt', content: 'hello\n' }), { text: 'Understood.' }])
  const { fixture, model, turn } = desk0
  const card = await fixture.waiting()
  expect(card).toMatchObject({ tool: 'host.write', arguments: { content: 'hello\n' } })
  await fixture.decide(card, { verdict: 'decline', reason: 'Not on a Friday' })
  await turn
  expect(existsSync(join(fixture.project, 'new.txt'))).toBe(false)
  expect(model.requests[1]?.body).toContain('Not on a Friday')
  // No report of the program makes it a call that ran.
  expect(await fixture.actions()).toMatchObject([{ state: 'declined', error: null }])
})

test('answered in opencode first: the command runs once, and the card is closed as answered elsewhere', async () => {
  const { fixture, request, turn } = await startTurn([bash, { text: 'All done.' }])
  const card = await fixture.waiting()
  const [pending] = (await (await request('GET', '/permission')).json()) as { id: string }[]
  await request('POST', `/permission/${pending?.id}/reply`, { reply: 'once' })
  await turn
  expect(ran(fixture)).toBe('x')
  expect(JSON.stringify(await fixture.settled(card))).toContain('answered elsewhere: it was allowed')
})

test('server away: what would have asked does not run', async () => {
  const { fixture, turn } = await startTurn([bash, { text: 'It did not run.' }])
  // Whether it was asked about before or not.
  await fixture.server.stop()
  await turn
  expect(ran(fixture)).toBe('')
})

test.each(['aborts the turn', 'lets its time run out'])('what came of a command is unknown when somebody %s while it runs', async (how) => {
  const slow = { command: `${APPEND}; sleep 60`, description: 'Does it', ...(how !== 'aborts the turn' && { timeout: 1_000 }) }
  const { fixture, request, turn } = await startTurn([call('bash', slow), { text: 'All done.' }])
  await fixture.decide(await fixture.waiting(), { verdict: 'approve' })
  await expect.poll(() => ran(fixture)).toBe('x')
  if (how === 'aborts the turn') {
    const [session] = (await (await request('GET', '/session')).json()) as { id: string }[]
    await request('POST', `/session/${session?.id}/abort`)
  }
  await turn
  await expect.poll(fixture.actions).toMatchObject([{ state: 'outcome_unknown' }])
})
