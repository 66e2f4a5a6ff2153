import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { JsonObject } from '@countersign/core'
import { expect, onTestFinished, test } from 'vitest'
import { HOOK_HOSTS, type HookHost } from '../../packages/server/src/coding-agent/index.ts'
import { COMPILE_CACHE } from '../testing/compile-cache.ts'
import { decide, waiting } from '../testing/decisions.ts'
import { freePort } from '../testing/free-port.ts'
import type { CommandResult } from '../testing/run-command.ts'
import { startTestServer } from '../testing/test-server.ts'

const MAIN = fileURLToPath(new URL('../../packages/server/src/main.js', import.meta.url))

const CLAUDE = { session_id: 's', cwd: '/shop', hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: { command: 'npm publish' } }
const ASKS: Readonly<Record<HookHost, JsonObject>> = {
  claude: { ...CLAUDE, tool_use_id: 'toolu_1' },
  codex: { ...CLAUDE, hook_event_name: 'PermissionRequest' },
  copilot: { sessionId: 's', cwd: '/shop', toolName: 'bash', toolArgs: '{"command":"npm publish"}' },
  gemini: { ...CLAUDE, hook_event_name: 'BeforeTool', tool_name: 'run_shell_command' },
  cursor: { conversation_id: 's', hook_event_name: 'beforeShellExecution', command: 'npm publish', cwd: '/shop' },
}
const ALLOWED = /"(?:permissionDecision|behavior|decision|permission)":"allow"/

/** Runs the hook as its host does. */
async function runHook(host: HookHost, message: JsonObject, at: { url: string; key: string }, ...args: string[]): Promise<CommandResult> {
  const flags = ['--conditions=countersign-source', '--disable-warning=ExperimentalWarning']
  const child = spawn(process.execPath, [...flags, MAIN, 'hook', host, '--url', at.url, ...args], {
    env: { ...COMPILE_CACHE, COUNTERSIGN_KEY: at.key },
    stdio: 'pipe',
  })
  const ended = once(child, 'close')
  child.stdin.end(JSON.stringify(message))
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  const [code] = await ended
  return { code, stdout, stderr }
}

/** A server that gives these answers, one after the other, to whoever asks. */
async function startAnswering(answers: readonly RequestListener[]): Promise<{ url: string; queries: URLSearchParams[] }> {
  const queries: URLSearchParams[] = []
  const server = createServer((request, response) => {
    queries.push(new URL(request.url ?? '', 'http://x').searchParams)
    answers[queries.length - 1]?.(request, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, queries }
}

test.each(HOOK_HOSTS)(
  'a server that is restarted while people are asked keeps the question of a hook of %s: the approval after it counts, once',
  async (host) => {
    await using server = await startTestServer({
      config: { tools: { host: { 'coding-agent': {} } }, policy: { rules: [] } },
      flags: { port: await freePort() },
    })
    const { key } = await server.makeKey({ name: 'coder', kind: 'agent', agent: 'coder', roles: ['agent'] })
    const running = runHook(host, ASKS[host], { url: server.url, key })
    const card = await waiting(server)
    for (const _ of ['once', 'twice']) await server.restart()
    expect((await waiting(server)).id).toBe(card.id)
    await decide(server, card, { verdict: 'approve' })
    expect(await running).toMatchObject({ code: 0, stdout: expect.stringMatching(ALLOWED), stderr: '' })
    expect((await server.admin.get('/api/actions')).items).toMatchObject([{ id: card.id, state: 'executing' }])
  },
)

test('a hook asks again when its connection breaks, and when the server, or a proxy before it, is not ready; never past its limit', async () => {
  const problem =
    (status: number): RequestListener =>
    (_, response) =>
      response.writeHead(status).end(JSON.stringify({ detail: 'not ready' }))
  const { url, queries } = await startAnswering([
    (request) => request.destroy(),
    problem(503),
    problem(502),
    problem(504),
    (_, response) => void response.write('{ ', () => response.destroy()),
    (_, response) => response.end('{"decision":"later"}'),
    (_, response) => response.end('{"hookSpecificOutput":{"permissionDecision":"allow"}}'),
  ])
  expect(await runHook('claude', ASKS.claude, { url, key: 'cs_x' }, '--limit', '60')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(ALLOWED),
  })
  expect(queries).toHaveLength(7)
  const limits = queries.map((query) => Number(query.get('limit')))
  expect(limits).toEqual(limits.toSorted((a, b) => b - a))
  expect(limits[6]).toBeLessThan(limits[0] ?? 0)
})

test.each(HOOK_HOSTS)(
  'a hook of %s that finds no server until its limit denies the call, and says that the server was away',
  async (host) => {
    const { code, stdout } = await runHook(host, ASKS[host], { url: 'http://127.0.0.1:9', key: 'cs_x' }, '--limit', '1')
    expect([code, ALLOWED.test(stdout)]).toEqual([0, false])
    expect(stdout).toMatch(/"deny".*127\.0\.0\.1:9 cannot be reached.*Nothing was run\. Ask the person to start it/)
  },
)

test('what came of a call is told again after a restart; the end of a session and a canary are told once', async () => {
  const report = { ...ASKS.claude, hook_event_name: 'PostToolUse', tool_response: { stdout: 'done' } }
  const away: RequestListener = (request) => request.destroy()
  const told = await startAnswering([away, (_, response) => response.end('{}')])
  expect(await runHook('claude', report, { url: told.url, key: 'cs_x' })).toEqual({ code: 0, stdout: '{}\n', stderr: '' })
  expect(told.queries).toHaveLength(2)
  for (const message of [
    { ...CLAUDE, hook_event_name: 'SessionEnd' },
    { ...CLAUDE, tool_name: 'countersign_canary' },
  ]) {
    const toldOnce = await startAnswering([away])
    await runHook('claude', message, { url: toldOnce.url, key: 'cs_x' })
    expect(toldOnce.queries).toHaveLength(1)
  }
})

test('a refusal of the server is not asked again', async () => {
  const refusing = await startAnswering([(_, response) => response.writeHead(401).end(JSON.stringify({ detail: 'this key is not known' }))])
  const { code, stdout } = await runHook('claude', ASKS.claude, { url: refusing.url, key: 'cs_x' })
  expect([code, stdout]).toEqual([0, expect.stringMatching(/"deny".*this key is not known/)])
  expect(refusing.queries).toHaveLength(1)
})

test.each(HOOK_HOSTS)(
  'an older server, which refuses what a newer hook of %s asks, denies the call, once and with its reason',
  async (host) => {
    const problem = { title: 'The request is not valid', status: 400, detail: 'again: is unknown', code: 'validation_failed' }
    const { url, queries } = await startAnswering([
      (_, response) => response.writeHead(400, { 'content-type': 'application/problem+json' }).end(JSON.stringify(problem)),
    ])
    const { code, stdout } = await runHook(host, ASKS[host], { url, key: 'csk_old' })
    expect([code, queries.length]).toEqual([0, 1])
    expect(stdout).toMatch(/"deny".*again: is unknown.*Nothing was run/)
  },
)
