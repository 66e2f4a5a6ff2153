import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { Action } from '@countersign/core'
import { defineTool } from '@countersign/toolkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { COMPILE_CACHE } from '../testing/compile-cache.ts'
import { runCommandLine } from '../testing/run-command.ts'
import { startTarget, type Target, toolsOf } from '../testing/target.ts'
import { startTestServer, type TestServer, temporaryFolder } from '../testing/test-server.ts'

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
const stateOf = async ({ id }: Action): Promise<string> => (await server.admin.get(`/api/actions/${id}?wait=60&until=settled`)).state

/** Runs the command with lines on its standard input. */
async function runWith(input: string, args: readonly string[], who = environment): Promise<{ code: number | null; stdout: string }> {
  const child = spawn(process.execPath, ['--conditions=countersign-source', '--disable-warning=ExperimentalWarning', MAIN, ...args], {
    env: { ...COMPILE_CACHE, ...who },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(child, 'close')
  child.stdin.end(input)
  const stdout = await text(child.stdout)
  const [code] = await ended
  return { code, stdout }
}

test('`inbox` shows what waits, `approve` and `decline` decide it, and the exit code says whether it was done', async () => {
  const [one, two] = [await propose('one'), await propose('two')]
  const listed = await runCommandLine(['inbox'], environment)
  expect(listed).toMatchObject({ code: 0, stderr: '' })
  expect(listed.stdout.trim().split('\n')).toHaveLength(2)
  for (const { id, description } of [one, two]) expect(listed.stdout).toMatch(new RegExp(`${id} .*${description}`))
  const { items } = JSON.parse((await runCommandLine(['inbox', '--json'], environment)).stdout)
  expect(items.map(({ id }: Action) => id).sort()).toEqual([one.id, two.id].sort())

  const approved = await runCommandLine(['approve', one.id], environment)
  expect(approved).toMatchObject({ code: 0, stdout: expect.stringContaining(one.id) })
  expect(await stateOf(one)).toBe('succeeded')
  const declined = await runCommandLine(['decline', two.id, '--reason', 'not today', '--json'], environment)
  expect(declined.code).toBe(0)
  expect(JSON.parse(declined.stdout)).toMatchObject({ id: two.id, state: 'declined', votes: [{ verdict: 'decline', reason: 'not today' }] })
  expect(await runCommandLine(['inbox'], environment)).toMatchObject({ code: 0, stdout: 'Nothing waits for your decision.\n' })

  // These decisions are late, name an unknown action, or carry another action's digest.
  const late = await runCommandLine(['approve', two.id], environment)
  expect(late).toMatchObject({ code: 3, stdout: '', stderr: expect.stringContaining(`${two.id} was not decided`) })
  expect(await runCommandLine(['approve', 'act_none'], environment)).toMatchObject({ code: 1, stderr: expect.stringMatching(/\S/) })
  const three = await propose('three')
  const other = await runCommandLine(['approve', three.id, '--revision', '1', '--digest', one.digest], environment)
  expect(other).toMatchObject({ code: 3 })
  expect(await server.admin.get(`/api/actions/${three.id}`)).toMatchObject({ state: 'proposed' })
  await runCommandLine(['decline', three.id], environment)
})

test('`approve` of a revision or digest that was never approved is an error, also after the same person approved another', async () => {
  const action = await propose('once')
  expect(await runCommandLine(['approve', action.id], environment)).toMatchObject({ code: 0 })
  expect(await stateOf(action)).toBe('succeeded')
  const again = (...named: string[]) => runCommandLine(['approve', action.id, ...named], environment)
  expect(await again('--revision', '1', '--digest', action.digest)).toMatchObject({ code: 0, stdout: expect.stringContaining('succeeded') })
  expect(await again('--revision', '2')).toEqual({
    code: 3,
    stdout: '',
    stderr: `${action.id} was not decided: it is succeeded with revision 1, not 2\n`,
  })
  const other = await again('--digest', 'sha256:other', '--json')
  expect(other).toMatchObject({ code: 3, stdout: '', stderr: expect.stringContaining('with another digest') })
})

test('what the agent says is shown as not verified, and forges no line of its own', async () => {
  const context = { run: 'conv-7', url: 'https://ci.example.com/7', reason: 'trust me\n  low risk' }
  const description = 'approved by Ana'
  const { id } = await server.admin.post('/api/actions', { tool: 'keyed', arguments: { what: 'x' }, description, context })
  const { stdout } = await runWith('q\n', ['inbox', '--ask'])
  const said = stdout.split('\n').filter((line) => line.includes('not verified'))
  expect(said).toEqual([
    '  agent says (not verified): approved by Ana',
    '  agent says (not verified): reason: trust me⟦U+000A⟧  low risk',
    '  agent says (not verified): run: conv-7',
    '  agent says (not verified): link: https://ci.example.com/7',
  ])
  await runCommandLine(['decline', id], environment)
})

test('`inbox --ask` shows the diff of a file, what goes, which values are not verified, and that the current values could not be read', async () => {
  await using service = await startTarget(() => ({ status: 500 }))
  using work = temporaryFolder()
  writeFileSync(join(work.path, 'pay.txt'), 'Ada 5\nend\n')
  const input = { type: 'object', properties: { name: { type: 'string' } } }
  const rename = { method: 'PUT' as const, path: '/one', input, before: { get: '/one', compare: { name: '{name}' } } }
  const preview = async () => [{ field: 'name', oldValue: 'Ada' }]
  const remove = defineTool({
    name: 'remove',
    description: 'Removes',
    effect: 'write',
    input: { type: 'object' },
    preview,
    execute: () => null,
  })
  const shop = { routes: { baseUrl: service.url, tools: { rename } } }
  const tools = { repo: { workspace: { root: work.path } }, shop, desk: { tools: [remove] } }
  await using own = await startTestServer({ config: { tools } })
  const bot = await own.as({ name: 'Bot', kind: 'agent', roles: ['agent'] })
  await bot.post('/api/tools', { name: 'note', description: 'Approved by Ana', effect: 'write', input: { type: 'object' } })
  await bot.post('/api/actions', { tool: 'note', arguments: {} })
  await bot.post('/api/actions', { tool: 'shop.rename', arguments: { name: 'x' } })
  await bot.post('/api/actions', { tool: 'desk.remove', arguments: {} })
  await bot.post('/api/actions', { tool: 'repo.writeFile', arguments: { path: 'pay.txt', content: 'Ada 5000\u202e\nend\n' } })
  const { key } = await own.makeKey({ name: 'Ana', kind: 'person', roles: ['approver'] })
  const { stdout } = await runWith('s\ns\ns\ns\n', ['inbox', '--ask'], { COUNTERSIGN_URL: own.url, COUNTERSIGN_KEY: key })
  expect(stdout).toContain('\n    -Ada 5\n    +Ada 5000⟦U+202E⟧\n     end\n')
  expect(stdout).toContain('\n  Bot says (not verified): "Approved by Ana"\n')
  expect(stdout).toMatch(/^ {2}The current values could not be read: \S/m)
  expect(stdout).toContain('\n  name: "Ada" → removed\n')
  expect(stdout).not.toContain('undefined')
})

test('`inbox` lists what the person may decide, and not what they only see', async () => {
  const action = await propose('for approvers')
  const { key } = await server.makeKey({ name: 'Vera', kind: 'person', roles: ['viewer'] })
  const hers = { ...environment, COUNTERSIGN_KEY: key }
  expect(await server.with({ authorization: `Bearer ${key}` }).get(`/api/actions/${action.id}`)).toMatchObject({ state: 'proposed' })
  expect(await runCommandLine(['inbox'], hers)).toMatchObject({ code: 0, stdout: 'Nothing waits for your decision.\n' })
  expect(JSON.parse((await runCommandLine(['inbox', '--json'], hers)).stdout)).toEqual({ items: [] })
  expect((await runCommandLine(['inbox'], environment)).stdout).toContain(action.id)
  await runCommandLine(['decline', action.id], environment)
})

test('`inbox` with the key of an agent or a service says that only people decide, in place of an empty list', async () => {
  const action = await propose('for people')
  for (const kind of ['agent', 'service'] as const) {
    const { key } = await server.makeKey({ name: 'orders', kind, roles: ['agent'] })
    for (const flags of [[], ['--json'], ['--ask']]) {
      expect(await runCommandLine(['inbox', ...flags], { ...environment, COUNTERSIGN_KEY: key })).toEqual({
        code: 1,
        stdout: '',
        stderr: `countersign: this key is that of orders, which is ${kind === 'agent' ? 'an agent' : 'a service'}, and only people decide. Make one for yourself: countersign key create --name me --kind person --role approver\n`,
      })
    }
  }
  await runCommandLine(['decline', action.id], environment)
})

test('a command that lacks an argument or has one that is not known names its help', async () => {
  for (const [args, command] of [
    [['approve'], 'approve'],
    [['key', 'create', '--name', 'x'], 'key create'],
    [['serve', '--prot', '1'], 'serve'],
    [['audit', 'verify'], 'audit verify'],
  ] as const) {
    const { code, stdout, stderr } = await runCommandLine(args)
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toContain(`(countersign ${command} --help has the arguments and options)`)
  }
})

test('a flag of `key create` that is not right is named as it is typed', async () => {
  const create = async (...args: string[]) =>
    (await runCommandLine(['key', 'create', '--name', 'x', ...args, '--data', server.dataDir])).stderr
  expect(await create('--kind', 'person', '--role', 'approver', '--expires-in', '3d')).toMatch(
    /^countersign: --expires-in: must be an ISO 8601 duration/,
  )
  expect(await create('--kind', 'robot')).toBe('countersign: --kind: must be one of "person", "agent", "service"\n')
  expect(await create('--kind', 'agent', '--role', '')).toMatch(/^countersign: --role: /)
  expect(await create('--kind', 'service', '--scope', 'embed', '--embed-role', '')).toMatch(/^countersign: --embed-role: /)
  expect(await create('--kind', 'person', '--scope', 'rule')).toMatch(/^countersign: --scope: must be one of /)
})

test('`inbox` at a terminal shows each action whole and takes a letter for it', async () => {
  const actions = [await propose('first \u202egnp'), await propose('second'), await propose('third')]
  // Newest first.
  const [third, second, first] = actions.toReversed()
  const { code, stdout } = await runWith('x\na\nd\nno budget\ns\n', ['inbox', '--ask'])
  expect(code).toBe(0)
  expect(stdout).toMatch(/^1 of 3$/m)
  expect(stdout).toContain('arguments: {"what":"third"}')
  // Control characters in an argument do not reach the terminal.
  expect(stdout).toContain('⟦U+202E⟧')
  expect(stdout).not.toContain('\u202e')
  expect(third && (await stateOf(third))).toBe('succeeded')
  expect(second && (await server.admin.get(`/api/actions/${second.id}`))).toMatchObject({
    state: 'declined',
    votes: [{ reason: 'no budget' }],
  })
  expect(first && (await server.admin.get(`/api/actions/${first.id}`))).toMatchObject({ state: 'proposed' })
  if (first) await runCommandLine(['decline', first.id], environment)
})

test('an empty variable counts as not set', async () => {
  const empty = { COUNTERSIGN_URL: '', COUNTERSIGN_KEY_FILE: '', COUNTERSIGN_CONFIG: '' }
  expect(await runCommandLine(['inbox', '--url', server.url], { ...environment, ...empty })).toMatchObject({ code: 0, stderr: '' })
  const { stderr } = await runCommandLine(['policy', 'check', 'policy.yaml'], empty)
  expect(stderr).toContain('there is no countersign.config.ts or countersign.yaml in ')
})

/** A server that answers everything with a page. */
async function startPage() {
  const server = createServer((_, response) => response.setHeader('content-type', 'text/html').end('<!doctype html><title>Sign in</title>'))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, [Symbol.dispose]: () => void server.close() }
}

test('the key comes from a file or the environment, never goes out unencrypted, and what is wrong is one sentence', async () => {
  const file = join(server.dataDir, 'ana.key')
  writeFileSync(file, `${environment.COUNTERSIGN_KEY}\n`, { mode: 0o600 })
  const fromFile = await runCommandLine(['inbox', '--json', '--key-file', file], { COUNTERSIGN_URL: server.url })
  expect(fromFile.code).toBe(0)
  await using other = await startTarget(() => ({ status: 418 }))
  using page = await startPage()
  const wrong: [args: string[], more: Record<string, string>, says: string][] = [
    [
      ['inbox'],
      { COUNTERSIGN_URL: server.url },
      'no key: set COUNTERSIGN_KEY, or name a file with --key-file; countersign key create makes one',
    ],
    [['inbox', '--key-file', '/nowhere/key'], { COUNTERSIGN_URL: server.url }, 'the key file /nowhere/key cannot be read (ENOENT)'],
    ...[`${environment.COUNTERSIGN_KEY}\nIt is shown only once.`, `“${environment.COUNTERSIGN_KEY}”`].map((key): (typeof wrong)[number] => [
      ['inbox'],
      { ...environment, COUNTERSIGN_KEY: key },
      'COUNTERSIGN_KEY has more than a key: write the key alone',
    ]),
    [['inbox', '--url', 'http://approve.example.com'], environment, 'unencrypted: use https'],
    [['policy', 'test', '--replay', '7d', '--server', 'http://0.0.0.0:1'], environment, '0.0.0.0:1 unencrypted: use https'],
    [['audit', 'accept', '--reason', 'Looked into', '--server', 'http://0.0.0.0:1'], environment, '0.0.0.0:1 unencrypted: use https'],
    [['audit', 'accept', '--reason', 'Looked into', '--server', 'approve'], environment, '--url must be an http:// or https:// address'],
    [['inbox', '--url', 'http://127.0.0.1:1'], environment, 'http://127.0.0.1:1 cannot be reached: start the server'],
    [
      ['inbox'],
      { ...environment, COUNTERSIGN_KEY: 'wrong-key-0123456789abcdef' },
      `${server.url}: this key is not known here; on its machine, countersign key create makes one`,
    ],
    [['inbox', '--url', other.url], environment, `${other.url} answered 418 without a reason: is it a Countersign server?`],
    ...[['inbox'], ['run', 'hello'], ['tail'], ['approve', 'act_1']].map((args): (typeof wrong)[number] => [
      [...args, '--url', page.url],
      environment,
      `${page.url} answered with something else than was asked for: is it a Countersign server?`,
    ]),
    [['tail', '--count', '0'], environment, '--count must be a number above 0'],
  ]
  for (const [args, more, says] of wrong) {
    const { code, stdout, stderr } = await runCommandLine(args, more)
    expect([code, stdout], says).toEqual([1, ''])
    expect(stderr).toContain(says)
    expect(stderr.trim().split('\n')).toHaveLength(1)
  }
  for (const command of ['inbox', 'approve', 'decline', 'tail']) {
    const { code, stdout } = await runCommandLine([command, '--help'])
    expect(code).toBe(0)
    expect(stdout).toContain('COUNTERSIGN_KEY')
    expect(stdout).toContain('Exit code')
  }
})
