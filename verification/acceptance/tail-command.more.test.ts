import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { Action } from '@countersign/core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { COMPILE_CACHE } from '../testing/compile-cache.ts'
import { runCommandLine, spawnCommandLine } from '../testing/run-command.ts'
import { startTarget, type Target, toolsOf } from '../testing/target.ts'
import { startTestServer, type TestServer } from '../testing/test-server.ts'

const MAIN = fileURLToPath(new URL('../../packages/server/src/main.js', import.meta.url))

let target: Target
let server: TestServer
let environment: Record<string, string>

beforeAll(async () => {
  target = await startTarget(() => ({ status: 200, body: { id: 1 } }))
  server = await startTestServer({ config: { tools: toolsOf(target) } })
  const { key } = await server.makeKey({ name: 'Ana', kind: 'person', roles: ['approver'] })
  environment = { COUNTERSIGN_URL: server.url, COUNTERSIGN_KEY: key }
})
afterAll(async () => {
  await server?.[Symbol.asyncDispose]()
  await target?.[Symbol.asyncDispose]()
})

const propose = async (what: string): Promise<Action> => server.admin.post('/api/actions', { tool: 'keyed', arguments: { what } })

/** Proposes until the command has ended, and declines each at once: no more than 200 may wait, and a slow command sees more than that. */
async function proposeUntilEnd(child: ChildProcess, what: string): Promise<Action[]> {
  const proposed: Action[] = []
  while (child.exitCode === null) {
    const action = await propose(what)
    await server.admin.post(`/api/actions/${action.id}/decision`, { verdict: 'decline' })
    proposed.push(action)
  }
  return proposed
}

test('`tail` prints what happens as it happens, one JSON object a line with --json', async () => {
  const child = spawn(
    process.execPath,
    ['--conditions=countersign-source', '--disable-warning=ExperimentalWarning', MAIN, 'tail', '--json', '--count', '2'],
    { env: { ...COMPILE_CACHE, ...environment }, stdio: ['ignore', 'pipe', 'pipe'] },
  )
  const ended = once(child, 'close')
  const lines: { id: number; type: string; data: { proposal?: Action } }[] = []
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(JSON.parse(line)))
  const [said] = await once(child.stderr, 'data')
  expect(String(said)).toContain('connected')
  // The command prints only new events, and ends by itself after two.
  const proposed = await proposeUntilEnd(child, 'tail')
  const [code] = await ended
  expect(code).toBe(0)
  expect(lines).toHaveLength(2)
  expect(lines.every(({ type }) => /^[a-z_]+$/.test(type))).toBe(true)
  for (const { data } of lines) if (data.proposal) expect(proposed.map(({ id }) => id)).toContain(data.proposal.id)
  // Each line has the id of its event: a stream resumed after the first starts with the second.
  expect(lines.map(({ id }) => typeof id)).toEqual(['number', 'number'])
  const [first, second] = lines
  using behind = await server.admin.stream('/api/events', { headers: { 'last-event-id': String(first?.id) } })
  await expect.poll(() => behind.seen.find(({ id }) => id !== undefined)?.id).toBe(second?.id)
})

test('`tail` ends without a word once nobody reads it any more, as in `tail | head -1`', async () => {
  const child = spawn(process.execPath, ['--conditions=countersign-source', '--disable-warning=ExperimentalWarning', MAIN, 'tail'], {
    env: { ...COMPILE_CACHE, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = once(child, 'close')
  const said = text(child.stderr)
  await once(child.stderr, 'data')
  child.stdout.destroy()
  await proposeUntilEnd(child, 'nobody reads')
  expect(await ended).toEqual([0, null])
  expect(await said).toBe('countersign: connected\n')
})

test('`tail` says that nobody has decided, and `inbox` says what is overdue', async () => {
  const rules = [{ name: 'ask in time', match: { effect: 'write' as const }, verdict: 'ask' as const, remind: 'PT1S' }]
  await using hasty = await startTestServer({ config: { tools: toolsOf(target), policy: { rules } } })
  const { key } = await hasty.makeKey({ name: 'Ana', kind: 'person', roles: ['approver'] })
  const child = spawn(
    process.execPath,
    ['--conditions=countersign-source', '--disable-warning=ExperimentalWarning', MAIN, 'tail', '--count', '2'],
    { env: { ...COMPILE_CACHE, COUNTERSIGN_URL: hasty.url, COUNTERSIGN_KEY: key }, stdio: ['ignore', 'pipe', 'pipe'] },
  )
  const stdout = text(child.stdout)
  await once(child.stderr, 'data')
  const { id }: Action = await hasty.admin.post('/api/actions', { tool: 'keyed', arguments: { what: 'x' } })
  expect((await stdout).trim().split('\n')[1]).toMatch(new RegExp(`  approval_overdue  ${id}  nobody has decided for \\d+ s$`))
  const her = { COUNTERSIGN_URL: hasty.url, COUNTERSIGN_KEY: key }
  const { overdue, createdAt }: Action = await hasty.admin.get(`/api/actions/${id}`)
  expect(overdue).toBe(true)
  expect((await runCommandLine(['inbox'], her)).stdout).toContain(`${id}  medium  ${createdAt} (overdue)  keyed`)
  expect((await runCommandLine(['inbox', '--ask'], her)).stdout).toContain(
    `  overdue: it has waited since ${createdAt}, and nobody has decided\n`,
  )
})

test('`tail` goes on after a restart of a server, whose proxy answers 502 meanwhile', async () => {
  const frame = (id: number) => `id: ${id}\nevent: approval_overdue\ndata: {"actionId":"act_${id}","waitedMs":1000}\n\n`
  let asked = 0
  const proxy = createServer((_, response) => {
    asked++
    if (asked === 2) response.writeHead(502, { 'content-type': 'text/html' }).end('<title>502 Bad Gateway</title>')
    else response.writeHead(200, { 'content-type': 'text/event-stream' }).end(frame(asked))
  })
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  const { port } = proxy.address() as AddressInfo
  const args = ['tail', '--json', '--count', '2', '--url', `http://127.0.0.1:${port}`]
  const { code, stdout } = await runCommandLine(args, { COUNTERSIGN_KEY: 'cs_x' })
  proxy.close()
  expect([
    code,
    stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).id),
  ]).toEqual([0, [1, 3]])
})

test('`tail` goes on after its first connection was cut, and while a proxy answers 404, 429 or with a page', async () => {
  const frame = (id: number) => `id: ${id}\nevent: approval_overdue\ndata: {"actionId":"act_${id}","waitedMs":1000}\n\n`
  const html = { 'content-type': 'text/html' }
  const asked: (string | undefined)[] = []
  const proxy = createServer(({ headers }, response) => {
    const nth = asked.push(headers['last-event-id'] as string | undefined)
    if (nth === 2) response.writeHead(404, html).end('<title>404 Not Found</title>')
    else if (nth === 3) response.writeHead(429, html).end('<title>429 Too Many Requests</title>')
    else if (nth === 4) response.writeHead(200, html).end('<title>Back soon</title>')
    else response.writeHead(200, { 'content-type': 'text/event-stream' }).write(frame(nth), () => response.destroy())
  })
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  const { port } = proxy.address() as AddressInfo
  const args = ['tail', '--json', '--count', '2', '--url', `http://127.0.0.1:${port}`]
  const { code, stdout } = await runCommandLine(args, { COUNTERSIGN_KEY: 'cs_x' })
  proxy.close()
  const ids = stdout.match(/"id":\d+/g)
  expect([code, ids, asked]).toEqual([0, ['"id":1', '"id":5'], [undefined, '1', '1', '1', '1']])
})

test('`tail` prints also what happened between a restart before its first event and its next connection', async () => {
  await using fresh = await startTestServer({ config: { tools: toolsOf(target) } })
  const { key } = await fresh.makeKey({ name: 'Ana', kind: 'person', roles: ['approver'] })
  // One address before and after the restart.
  const proxy = createTcpServer((near) => {
    const far = connect(Number(new URL(fresh.url).port), '127.0.0.1')
    near.pipe(far).pipe(near)
    near.on('error', () => far.destroy())
    far.on('error', () => near.destroy())
  })
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  const { port } = proxy.address() as AddressInfo
  const args = ['tail', '--json', '--count', '1', '--url', `http://127.0.0.1:${port}`]
  const { child, ended } = spawnCommandLine(args, { COUNTERSIGN_KEY: key })
  await once(child.stderr as Readable, 'data')
  await fresh.restart()
  const { id }: Action = await fresh.admin.post('/api/actions', { tool: 'keyed', arguments: { what: 'in the gap' } })
  // The first thing that it prints: what is proposed later comes behind it.
  const later = setInterval(() => void fresh.admin.post('/api/actions', { tool: 'keyed', arguments: { what: 'later' } }), 3_000)
  const { code, stdout } = await ended
  clearInterval(later)
  proxy.close()
  expect([code, JSON.parse(stdout)]).toEqual([
    0,
    expect.objectContaining({ data: expect.objectContaining({ proposal: expect.objectContaining({ id }) }) }),
  ])
})
