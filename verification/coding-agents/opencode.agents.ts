import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import type { Speech } from '../../packages/server/src/models/testing/speak.ts'
import { freePort } from '../testing/free-port.ts'
import { type Fixture, startFixture } from './fixture.ts'
import { OPENCODE, versionOf } from './programs.ts'
import { type ScriptedEndpoint, startScriptedEndpoint } from './scripted-endpoint.ts'

console.info(`opencode ${versionOf('opencode-ai')}`)

const MAIN = fileURLToPath(new URL('../../packages/server/src/main.js', import.meta.url))
const SOURCE = ['--conditions=countersign-source', '--disable-warning=ExperimentalWarning']

let calls = 0
const call = (name: string, args: object): Speech => ({ calls: [{ id: `call_${++calls}`, name, argumentsText: JSON.stringify(args) }] })
/** Appends one letter, so that running twice would show. */
const APPEND = 'printf x >> ran.txt'
const bash = call('bash', { command: APPEND, description: 'Does it' })
const ran = ({ project }: Fixture): string => (existsSync(join(project, 'ran.txt')) ? readFileSync(join(project, 'ran.txt'), 'utf8') : '')

interface Opencode {
  fixture: Fixture
  model: ScriptedEndpoint
  /** Calls opencode as another program with a prompt does. */
  request(method: string, path: string, body?: object): Promise<Response>
  /** Resolves when the turn is over. */
  turn: Promise<void>
}

/** Starts opencode with the bridge beside it, and one turn. */
async function startTurn(steps: readonly Speech[]): Promise<Opencode> {
  const fixture = await startFixture()
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
  const base = { HOME: fixture.home, PATH: process.env.PATH ?? '', OPENCODE_SERVER_PASSWORD: 'pw' }
  const port = await freePort()
  const start = (program: string, args: string[], env: Record<string, string>, isUp: RegExp): Promise<void> => {
    const child = spawn(program, args, { cwd: fixture.project, env, stdio: ['ignore', 'pipe', 'pipe'] })
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
  await start(OPENCODE(), ['serve', '--port', String(port)], { ...base, OPENCODE_DISABLE_MODELS_FETCH: '1' }, /listening/)
  const url = `http://127.0.0.1:${port}`
  const env = { ...base, COUNTERSIGN_URL: fixture.server.url, COUNTERSIGN_KEY: fixture.key }
  await start(process.execPath, [...SOURCE, MAIN, 'opencode', url], env, /Asking Countersign/)
  const headers = { authorization: `Basic ${Buffer.from('opencode:pw').toString('base64')}`, 'content-type': 'application/json' }
  const request = (method: string, path: string, body?: object): Promise<Response> =>
    fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
  const { id } = (await (await request('POST', '/session', {})).json()) as { id: string }
  const turn = request('POST', `/session/${id}/message`, { parts: [{ type: 'text', text: 'Do it.' }] }).then(async (answer) => {
    await answer.text()
  })
  return { fixture, model, request, turn }
}

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
