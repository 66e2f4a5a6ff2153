import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { createAcpDialect } from '../../packages/server/src/cli/acp/acp-dialect.ts'
import { between } from '../testing/between-programs.ts'
import { COMPILE_CACHE } from '../testing/compile-cache.ts'
import { counterpart } from '../testing/counterparts.ts'
import { decide, settled, waiting } from '../testing/decisions.ts'
import { startTestServer, type TestServer, temporaryFolder } from '../testing/test-server.ts'

const MAIN = fileURLToPath(new URL('../../packages/server/src/main.js', import.meta.url))
const SDK = 'dist/v1/stable/acp.js'

/** An agent of the protocol's own package. A prompt is a command: it asks, runs it with the shell, and says what came of it. */
const AGENT = `
import { execSync, spawn } from 'node:child_process'
import { Readable, Writable } from 'node:stream'
const acp = await import(process.argv[1])
let folder
let calls = 0
acp.agent({ name: 'scripted' })
  .onRequest('initialize', () => ({ protocolVersion: acp.PROTOCOL_VERSION, agentCapabilities: {} }))
  .onRequest('session/new', ({ params }) => { folder = params.cwd; return { sessionId: 'acp-session-' + process.pid } })
  .onRequest('session/prompt', async ({ params, client }) => {
    const command = params.prompt[0].text
    const { sessionId } = params
    if (command === 'env') {
      const content = { type: 'text', text: JSON.stringify(Object.keys(process.env)) }
      await client.notify('session/update', { sessionId, update: { sessionUpdate: 'agent_message_chunk', content } })
      return { stopReason: 'end_turn' }
    }
    if (command === 'leave a program') {
      spawn('sleep', ['120'], { stdio: ['ignore', 'inherit', 'ignore'], detached: true })
      return { stopReason: 'end_turn' }
    }
    if (command === 'never end') {
      process.on('SIGTERM', () => undefined)
      setInterval(() => undefined, 1_000)
      return { stopReason: 'end_turn' }
    }
    const toolCallId = 'call_' + ++calls
    const call = { toolCallId, title: command, kind: 'execute', rawInput: { command } }
    await client.notify('session/update', { sessionId, update: { sessionUpdate: 'tool_call', status: 'pending', ...call } })
    const options = [{ optionId: 'once', name: 'Allow', kind: 'allow_once' }, { optionId: 'no', name: 'Reject', kind: 'reject_once' }]
    // Only the id: what the call is was said before.
    const { outcome } = await client.request('session/request_permission', { sessionId, toolCall: { toolCallId }, options })
    if (outcome.outcome !== 'selected' || outcome.optionId !== 'once') return { stopReason: 'refusal' }
    const output = execSync(command, { cwd: folder, encoding: 'utf8' })
    await client.notify('session/update', { sessionId, update: { sessionUpdate: 'tool_call_update', toolCallId, status: 'completed', rawOutput: { output } } })
    return { stopReason: 'end_turn' }
  })
  .onNotification('session/cancel', () => process.exit(3))
  .connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)))
`

let server: TestServer
let key: string
beforeAll(async () => {
  server = await startTestServer({ config: { tools: { host: { 'coding-agent': {} } }, policy: { rules: [] } } })
  key = (await server.makeKey({ name: 'acp', kind: 'agent', agent: 'acp', roles: ['agent'] })).key
})
afterAll(async () => server?.[Symbol.asyncDispose]())

interface Editor {
  child: ChildProcess
  folder: string
  /** Sends a prompt. Resolves with the reason why the turn ended. */
  prompt(words: string): Promise<string>
  /** Cancels the turn, at which this agent dies. */
  cancel(): Promise<void>
  /** Prompts that the editor shows; each is answered by calling it with an option, or it is cancelled. */
  prompts: { answer(optionId: string): void; signal: AbortSignal }[]
  updates: { sessionUpdate: string; content?: { text: string } }[]
  shown(): Promise<void>
}

/** An editor of the protocol's own package with the agent behind `countersign acp`. */
async function openEditor(url = server.url): Promise<Editor> {
  const folder = temporaryFolder()
  onTestFinished(() => folder[Symbol.dispose]())
  const sdk = counterpart(`@agentclientprotocol/sdk/${SDK}`)
  const acp = await import(sdk)
  const flags = ['--conditions=countersign-source', '--disable-warning=ExperimentalWarning', MAIN, 'acp', '--']
  const child = spawn(process.execPath, [...flags, process.execPath, '--input-type=module', '-e', AGENT, sdk], {
    env: { ...COMPILE_CACHE, PATH: process.env.PATH, COUNTERSIGN_URL: url, COUNTERSIGN_KEY: key },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [prompts, updates]: [Editor['prompts'], Editor['updates']] = [[], []]
  let shown = Promise.withResolvers<void>()
  const connection = acp
    .client({ name: 'scripted editor' })
    .onRequest('session/request_permission', ({ signal }: { signal: AbortSignal }) => {
      const { promise, resolve, reject } = Promise.withResolvers<object>()
      signal.addEventListener('abort', () => reject(signal.reason))
      prompts.push({ signal, answer: (optionId) => resolve({ outcome: { outcome: 'selected', optionId } }) })
      shown.resolve()
      shown = Promise.withResolvers()
      return promise
    })
    .onNotification('session/update', ({ params }: { params: { update: Editor['updates'][number] } }) => void updates.push(params.update))
    .connect(acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)))
  await connection.agent.request('initialize', { protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities: {} })
  const { sessionId } = await connection.agent.request('session/new', { cwd: folder.path, mcpServers: [] })
  return {
    child,
    folder: folder.path,
    prompts,
    updates,
    shown: () => shown.promise,
    cancel: () => connection.agent.notify('session/cancel', { sessionId }),
    async prompt(words) {
      const { stopReason } = await connection.agent.request('session/prompt', { sessionId, prompt: [{ type: 'text', text: words }] })
      return stopReason
    },
  }
}

/** Appends one letter, so that running twice would show. */
const APPEND = 'printf x >> ran.txt'
const ran = ({ folder }: Editor): string => (existsSync(join(folder, 'ran.txt')) ? readFileSync(join(folder, 'ran.txt'), 'utf8') : '')

test('both prompts open, an approval here runs the command once, and the prompt of the editor is cancelled', async () => {
  const editor = await openEditor()
  const shown = editor.shown()
  const turn = editor.prompt(APPEND)
  await shown
  const card = await waiting(server)
  expect(card).toMatchObject({ description: `Run ${APPEND}`, arguments: { command: APPEND, folder: editor.folder } })
  expect(editor.prompts).toHaveLength(1)
  await decide(server, card, { verdict: 'approve' })
  expect(await turn).toBe('end_turn')
  expect(ran(editor)).toBe('x')
  await expect.poll(() => editor.prompts[0]?.signal.aborted).toBe(true)
  expect(await settled(server, card.id)).toMatchObject({ state: 'succeeded', result: { report: { output: '' } } })
})

test('the editor allows it first: it runs once, and a later approval is refused', async () => {
  const editor = await openEditor()
  const shown = editor.shown()
  const turn = editor.prompt(APPEND)
  await shown
  const card = await waiting(server)
  editor.prompts[0]?.answer('once')
  expect(await turn).toBe('end_turn')
  expect(ran(editor)).toBe('x')
  expect((await settled(server, card.id)).state).toBe('cancelled')
  const { id, revision, digest } = card
  const late = await server.admin.send('POST', `/api/actions/${id}/decision`, { body: { verdict: 'approve', revision, digest } })
  expect(late.status).toBe(409)
})

test('a decline here and a server that is away run nothing, whatever the editor answers afterwards', async () => {
  const editor = await openEditor()
  const turn = editor.prompt(APPEND)
  await decide(server, await waiting(server), { verdict: 'decline', reason: 'No' })
  expect(await turn).toBe('refusal')
  const away = await openEditor('http://127.0.0.1:9')
  const other = away.prompt(APPEND)
  expect(await other).toBe('refusal')
  expect(ran(editor) + ran(away)).toBe('')
})

test('the agent does not get the key, and the editor that closes ends it and closes its card', async () => {
  const editor = await openEditor()
  await editor.prompt('env')
  const told = () => editor.updates.at(-1)?.content?.text
  await expect.poll(told).toContain('PATH')
  expect(told()).not.toContain('COUNTERSIGN_KEY')
  editor.prompt(APPEND).catch(() => undefined)
  const card = await waiting(server)
  const ended = once(editor.child, 'close')
  editor.child.stdin?.end()
  await ended
  expect((await settled(server, card.id)).state).toBe('cancelled')
  expect(ran(editor)).toBe('')
})

test('the agent dies and a program that it started lives on: the card is closed, and the command ends', async () => {
  const editor = await openEditor()
  await editor.prompt('leave a program')
  editor.prompt(APPEND).catch(() => undefined)
  const card = await waiting(server)
  const ended = once(editor.child, 'exit')
  await editor.cancel()
  expect(await ended).toEqual([3, null])
  expect((await settled(server, card.id)).state).toBe('cancelled')
})

test('an agent that does not end when its editor is gone is ended, and its card is closed', async () => {
  const editor = await openEditor()
  await editor.prompt('never end')
  editor.prompt(APPEND).catch(() => undefined)
  const card = await waiting(server)
  const ended = once(editor.child, 'exit')
  editor.child.stdin?.end()
  await ended
  expect((await settled(server, card.id)).state).toBe('cancelled')
})

test('the agent dies: its exit code is ours, and its card is closed; one that cannot be started is a sentence', async () => {
  const editor = await openEditor()
  editor.prompt(APPEND).catch(() => undefined)
  const card = await waiting(server)
  const ended = once(editor.child, 'close')
  await editor.cancel()
  const [code] = await ended
  expect(code).toBe(3)
  expect((await settled(server, card.id)).state).toBe('cancelled')
  const child = spawn(process.execPath, ['--conditions=countersign-source', MAIN, 'acp', '--', '/no/such/agent'], {
    env: { ...COMPILE_CACHE, COUNTERSIGN_KEY: key },
  })
  const [said, [failed]] = await Promise.all([text(child.stderr), once(child, 'close')])
  expect(failed).toBe(1)
  expect(said).toContain('countersign: /no/such/agent could not be started')
})

test('a call that comes in 150,000 pieces is passed on in the time that its pieces take', async () => {
  const { editor, agent } = between(createAcpDialect(), { base: 'http://127.0.0.1:9', authorization: 'Bearer cs_x' })
  const content = { type: 'content', content: { type: 'text', text: 'x' } }
  const update = { sessionUpdate: 'tool_call_content_chunk', toolCallId: 'a', content }
  const line = `${JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params: { sessionId: 's1', update } })}\n`
  // Copied with each piece, they would take longer than the test may.
  const pieces = 150_000
  for (let sent = 0; sent < pieces; sent += 1_000) agent.raw(Buffer.from(line.repeat(1_000)))
  for (let got = 0; got < pieces; got++) await editor.next()
})
