import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { JsonObject } from '@countersign/core'
import { expect, onTestFinished, test } from 'vitest'
import { COMPILE_CACHE } from '../../../../verification/testing/compile-cache.ts'
import type { CommandResult } from '../../../../verification/testing/run-command.ts'
import { HOOK_HOSTS, type HookHost } from '../coding-agent/index.ts'

const MAIN = fileURLToPath(new URL('../main.js', import.meta.url))
const NODE_FLAGS = ['--conditions=countersign-source', '--disable-warning=ExperimentalWarning']

const CLAUDE = { session_id: 's', cwd: '/', hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: { command: 'ls' } }
const ASKS: Readonly<Record<HookHost, JsonObject>> = {
  claude: CLAUDE,
  codex: CLAUDE,
  copilot: { sessionId: 's', cwd: '/', toolName: 'bash', toolArgs: '{"command":"ls"}' },
  gemini: { ...CLAUDE, hook_event_name: 'BeforeTool', tool_name: 'run_shell_command' },
  cursor: { conversation_id: 's', hook_event_name: 'preToolUse', tool_name: 'Shell', tool_input: { command: 'ls' } },
}

/** Runs `countersign` as a host runs its hook, without a server and without a key. */
async function run(args: readonly string[], message: unknown = CLAUDE, nodeFlags: readonly string[] = []): Promise<CommandResult> {
  const child = spawn(process.execPath, [...NODE_FLAGS, ...nodeFlags, MAIN, ...args], { env: COMPILE_CACHE, stdio: 'pipe' })
  const ended = once(child, 'close')
  // A command that refuses its options does not read the message.
  child.stdin.on('error', () => {})
  child.stdin.end(typeof message === 'string' ? message : JSON.stringify(message))
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  const [code] = await ended
  return { code, stdout, stderr }
}

/** Hosts take 2 for a denial. After any other failure most of them run the call. */
const REFUSED = { code: 2, stdout: '', stderr: expect.stringMatching(/^(?:countersign|error): \S.*\n$/s) }

test('a hook that is called wrongly denies the call: it exits with 2 and says why', async () => {
  const wrong = [
    ['hook'],
    ['hook', 'cloude'],
    ['hook', 'claude', '--limt', '550'],
    ['hook', 'claude', '--limit'],
    ['hook', 'claude', 'PreToolUse', 'Bash'],
    ['hook', 'copilot', 'preTolUse'],
  ]
  const results = await Promise.all(wrong.map((args) => run(args, args[1] === 'copilot' ? ASKS.copilot : CLAUDE)))
  expect(results.map((result, at) => [wrong[at], result])).toEqual(wrong.map((args) => [args, REFUSED]))
})

test.each(HOOK_HOSTS)('a hook of %s that has no usable server, key or message denies the call', async (host) => {
  const nameless = Object.fromEntries(Object.entries(ASKS[host]).filter(([name]) => !['tool_name', 'toolName'].includes(name)))
  const options = [['--url', 'ftp://desk'], ['--url', 'http://desk.example'], ['--key-file', '/dev/null/key'], ['--limit', '9m'], []]
  const denied = await Promise.all(options.map((more) => run(['hook', host, ...more], ASKS[host])))
  for (const { code, stdout, stderr } of denied) {
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^countersign: .*\n$/)])
    expect(JSON.stringify(JSON.parse(stdout))).toMatch(/"deny".*Nothing was run\. Ask the person to correct that/)
  }
  const unread = await Promise.all(['', '{', '[]', {}, nameless].map((message) => run(['hook', host], message)))
  for (const result of unread) expect(result).toEqual(REFUSED)
})

test('a broken installation denies the call', async () => {
  const broken = `import { registerHooks } from 'node:module'
registerHooks({ load: (url, context, next) => { if (url.endsWith('/cli/hook.ts')) throw new Error('it is broken'); return next(url, context) } })`
  const flags = ['--import', `data:text/javascript,${encodeURIComponent(broken)}`]
  expect(await run(['hook', 'claude'], CLAUDE, flags)).toEqual(REFUSED)
  const crashing = broken.replace("throw new Error('it is broken')", "setImmediate(() => { throw new Error('it is broken') })")
  const crashed = await run(['hook', 'claude'], CLAUDE, ['--import', `data:text/javascript,${encodeURIComponent(crashing)}`])
  expect([crashed.code, crashed.stdout]).toEqual([2, ''])
})

test('a report is made although its host has ended meanwhile', async () => {
  const requests = Promise.withResolvers<void>()
  let shell: ReturnType<typeof spawn> | undefined
  let count = 0
  const server = createServer((_, response) => {
    count++
    // It tries again a second after this answer, by when its shell is gone.
    if (count === 1) shell?.once('exit', () => response.writeHead(503).end()).kill('SIGKILL')
    else requests.resolve(void response.end('{}'))
  })
  onTestFinished(() => void server.close())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const command = [process.execPath, ...NODE_FLAGS, MAIN, 'hook', 'gemini', '--url', `http://127.0.0.1:${port}`]
  const report = { ...CLAUDE, hook_event_name: 'AfterTool', tool_name: 'run_shell_command', tool_response: { output: 'done' } }
  shell = spawn('bash', ['-c', `${command.map((part) => `'${part}'`).join(' ')}; true`], {
    ...{ env: { ...COMPILE_CACHE, PATH: process.env.PATH ?? '', COUNTERSIGN_KEY: 'key' }, stdio: ['pipe', 'ignore', 'ignore'] },
  })
  shell.stdin?.end(JSON.stringify(report))
  await requests.promise
  expect(count).toBe(2)
})
