import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { cliCommands } from '../../../../scripts/docs/cli.ts'
import { COMPILE_CACHE } from '../../../../verification/testing/compile-cache.ts'
import { type CommandResult, databaseFlags, runCommandLine } from '../../../../verification/testing/run-command.ts'
import { BOOTSTRAP_KEY, startTestServer, type TestServer, temporaryFolder } from '../../../../verification/testing/test-server.ts'
import { JSON_OUTPUTS } from './json-output.ts'

type Words = keyof typeof JSON_OUTPUTS
const WORDS = Object.keys(JSON_OUTPUTS) as Words[]

const MAIN = fileURLToPath(new URL('../main.js', import.meta.url))
const route = { method: 'POST', path: '/refund', input: { type: 'object', properties: { amount: {} } } } as const
const tools = {
  shop: { prefix: false as const, routes: { baseUrl: 'http://127.0.0.1:9', tools: { refund: route } } },
  host: { 'coding-agent': {} },
}
const policy = { rules: [{ name: 'no hands on hosts', match: { tool: 'host.*' }, verdict: 'deny' as const }] }

let server: TestServer
let folder: ReturnType<typeof temporaryFolder>
let environment: Record<string, string>
let data: string[]
const at = (...names: string[]): string => join(folder.path, ...names)

beforeAll(async () => {
  folder = temporaryFolder()
  server = await startTestServer({
    config: { tools, policy, agents: { desk: { model: 'scripted/desk.json', tools: [] } } },
    scripts: { desk: [{ text: 'Done.' }] },
  })
  const { key } = await server.makeKey({ name: 'Ana', kind: 'person', roles: ['approver', 'member'] })
  environment = { HOME: folder.path, PATH: process.env.PATH ?? '', COUNTERSIGN_URL: server.url, COUNTERSIGN_KEY: key }
  data = databaseFlags(server.database, server.dataDir)
  writeFileSync(at('countersign.json'), JSON.stringify({ tools, policy }))
  writeFileSync(at('policy.json'), JSON.stringify(policy))
})
afterAll(async () => {
  await server?.[Symbol.asyncDispose]()
  folder?.[Symbol.dispose]()
})

const run = (words: string, args: readonly string[] = [], more: Record<string, string> = {}): Promise<CommandResult> =>
  runCommandLine([...words.split(' '), ...args], { ...environment, ...more })

/** Requires what a command printed to be lines of its shape, with no member that the shape does not have. @returns The first. */
function read(words: Words, { code, stdout, stderr }: CommandResult, exit = 0): Record<string, unknown> {
  expect([words, code, stderr]).toEqual([words, exit, expect.any(String)])
  const lines = stdout.split('\n')
  expect([words, lines.pop()]).toEqual([words, ''])
  const isStream = words === 'run' || words === 'tail'
  expect([words, isStream || lines.length === 1]).toEqual([words, true])
  const values = lines.map((line): Record<string, unknown> => JSON.parse(line))
  for (const value of values) expect([words, JSON_OUTPUTS[words].parse(value)]).toEqual([words, value])
  return values[0] ?? {}
}

const propose = async (amount: number): Promise<string> =>
  (await server.admin.post('/api/actions', { tool: 'refund', arguments: { amount } })).id

async function exportRecord(): Promise<string> {
  const answer = await fetch(`${server.url}/api/audit/export?format=jsonl`, { headers: { authorization: `Bearer ${BOOTSTRAP_KEY}` } })
  const record = await answer.text()
  writeFileSync(at('record.jsonl'), record)
  return record
}

test('every command that prints a result takes --json, has a shape, and says its exit codes; scripts complete the option', async () => {
  const leaves = cliCommands().filter(({ command }) => command.commands.length === 0 || command.name() === 'archive')
  // These speak a protocol, run until they are stopped, or print a document.
  const others = ['serve', 'demo', 'mcp', 'hook', 'acp', 'opencode', 'codex', 'policy starter', 'completion']
  const named = (words: string) => words.replace('countersign ', '')
  const withJson = leaves.filter(({ command }) => command.options.some(({ long }) => long === '--json'))
  expect(withJson.map(({ words }) => named(words)).sort()).toEqual(WORDS.toSorted())
  expect(leaves.map(({ words }) => named(words)).sort()).toEqual([...WORDS, ...others].sort())
  for (const { words, command } of leaves) {
    let help = ''
    command.configureOutput({ writeOut: (part) => (help += part) }).outputHelp()
    expect([words, help]).toEqual([words, expect.stringContaining('Exit code')])
  }
  const { stdout: script } = await run('completion', ['bash'])
  for (const words of WORDS) expect(script).toMatch(new RegExp(`"${words}"\\) words="[^"]*--json`))
})

test('commands on files and data print one line of their shape with --json', async () => {
  const config = ['--config', at('countersign.json')]
  expect(read('init', await run('init', [at('project'), '--json']))).toMatchObject({ folder: at('project') })
  expect(read('policy check', await run('policy check', [at('policy.json'), '--json', ...config]))).toMatchObject({ rules: 1 })
  writeFileSync(at('broken.json'), JSON.stringify({ rules: [{ name: 'x', match: { tool: 'refnd' }, verdict: 'deny' }] }))
  expect(read('policy check', await run('policy check', [at('broken.json'), '--json', ...config]), 1)).toMatchObject({
    problems: [{ path: 'rules.0.match.tool', message: expect.stringContaining('fits no tool') }],
    rules: null,
  })
  const call = ['--call', '{"tool": "refund", "arguments": {"amount": 5}}', '--expect']
  const tested = read('policy test', await run('policy test', [...call, 'ask', '--json', ...config]))
  expect(tested).toMatchObject({ items: [{ tool: 'refund', verdict: 'ask', expected: 'ask', isMet: true }] })
  read('policy test', await run('policy test', [...call, 'deny', '--json', ...config]), 1)
  // Nothing answers at the address of the tool.
  read('doctor', await run('doctor', ['--json', '--data', at('none'), ...config], { COUNTERSIGN_KEY: '' }), 1)

  expect(read('migrate', await run('migrate', ['--json', ...data]))).toEqual({ migrations: [] })
  const made = read('key create', await run('key create', ['--name', 'Robin', '--kind', 'person', '--role', 'approver', '--json', ...data]))
  expect(made).toMatchObject({ key: expect.stringMatching(/^cs_/), principal: { name: 'Robin' } })
  const id = String(made.id)
  expect(read('key list', await run('key list', ['--json', ...data])).items).toContainEqual(expect.objectContaining({ id }))
  expect(read('key accept', await run('key accept', [id, '--json', ...data]))).toMatchObject({ id })
  expect(read('key revoke', await run('key revoke', [id, '--json', ...data]))).toMatchObject({ id, revokedAt: expect.any(String) })
})

test('commands that ask a server print one line of their shape with --json', async () => {
  const [one, two] = [await propose(1), await propose(2)]
  expect(read('inbox', await run('inbox', ['--json'])).items).toHaveLength(2)
  expect(read('approve', await run('approve', [one, '--json']))).toMatchObject({ id: one })
  expect(read('decline', await run('decline', [two, '--json']))).toMatchObject({ id: two, state: 'declined' })
  const replayed = await run('policy test', ['--replay', '7d', '--server', server.url, '--json'], { COUNTERSIGN_KEY: BOOTSTRAP_KEY })
  expect(read('policy test', replayed)).toMatchObject({ evaluated: 2 })
  read('run', await run('run', ['hello', '--json']))

  const tail = spawn(process.execPath, ['--conditions=countersign-source', MAIN, 'tail', '--json', '--count', '1'], {
    env: { ...COMPILE_CACHE, ...environment, NODE_NO_WARNINGS: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = once(tail, 'close')
  const stdout = text(tail.stdout)
  await once(tail.stderr, 'data')
  const three = await propose(3)
  const [code] = await ended
  read('tail', { code, stdout: await stdout, stderr: '' })
  await run('decline', [three])

  expect(read('sign-in', await run('sign-in', ['--json', '--data', server.dataDir])).link).toContain('#sign-in=')
  const { key } = await server.makeKey({ name: 'claude', kind: 'agent', roles: ['agent'] })
  const connected = await run('connect', ['claude', '--yes', '--json'], { COUNTERSIGN_KEY: key })
  expect(read('connect', connected)).toMatchObject({ host: 'claude', isConnected: true, hasChanged: true, problem: null })
  const unproved = await run('connect', ['codex', '--yes', '--json'], { COUNTERSIGN_KEY: 'cs_nobody' })
  expect(read('connect', unproved, 1)).toMatchObject({ isConnected: false, hasChanged: false, problem: expect.any(String), notes: [] })
  expect(read('connect', await run('connect', ['claude', '--undo', '--yes', '--json']))).toMatchObject({ isConnected: false })
  const seal = await run('audit accept', ['--reason', 'none', '--server', server.url, '--json'], { COUNTERSIGN_KEY: BOOTSTRAP_KEY })
  expect(read('audit accept', seal)).toMatchObject({ accepted: null })
})

test('the record, the archive and backups print one line of their shape with --json', async () => {
  await server.settle()
  const record = await exportRecord()
  expect(read('audit verify', await run('audit verify', [at('record.jsonl'), '--json']))).toMatchObject({ problem: null })
  writeFileSync(at('cut.jsonl'), record.split('\n').slice(0, -2).join('\n'))
  expect(read('audit verify', await run('audit verify', [at('cut.jsonl'), '--json']), 1)).toMatchObject({ problem: expect.any(String) })

  const into = ['--to', at('archive'), '--older-than', '0s', '--json', ...data]
  expect(read('archive', await run('archive', ['--dry-run', ...into]))).toMatchObject({ dryRun: true, files: [] })
  expect(read('archive', await run('archive', into))).toMatchObject({ dryRun: false, files: [{ rows: expect.any(Number) }] })
  const files = readdirSync(at('archive')).filter((name) => name.endsWith('.gz'))
  const paths = files.map((name) => at('archive', name))
  expect(read('archive verify', await run('archive verify', [...paths, '--json']))).toMatchObject({ files: [{ problem: null }] })
  expect(read('archive verify', await run('archive verify', ['--json', at('policy.json')]), 1)).toMatchObject({
    files: [{ problem: expect.any(String) }],
  })
  if (server.database.kind === 'postgres') return
  const file = at('desk.backup')
  expect(read('backup', await run('backup', [file, '--json', ...data]))).toMatchObject({ file, bytes: expect.any(Number) })
  expect(read('restore', await run('restore', [file, '--json', '--data', at('restored')]))).toMatchObject({ file, movedTo: null })
})

test('what goes wrong is a sentence on standard error, and standard output stays empty', async () => {
  mkdirSync(at('full'))
  writeFileSync(at('full', 'policy.yaml'), '')
  const gone = ['--data', at('gone')]
  const wrong: Readonly<Record<Words, string[]>> = {
    init: [at('full')],
    connect: ['claude'],
    inbox: ['--url', 'ftp://desk'],
    approve: ['act_nobody'],
    decline: ['act_nobody'],
    tail: ['--count', '0'],
    run: ['hello', '--agent', 'nobody'],
    archive: ['--older-than', 'a month', ...gone],
    'archive verify': [],
    backup: [at('gone.backup'), ...gone],
    restore: [at('gone.backup'), ...gone],
    migrate: ['--database-url', 'postgres://127.0.0.1:1/none'],
    'policy check': [at('gone.yaml'), '--config', at('countersign.json')],
    'policy test': ['--call', '{"tool": "gone"}', '--config', at('countersign.json')],
    doctor: ['--timeout', 'soon'],
    'audit verify': [at('gone.jsonl')],
    'audit accept': ['--reason', 'x', '--server', 'http://127.0.0.1:1'],
    'key create': ['--name', 'x', '--kind', 'wizard', ...gone],
    'key list': gone,
    'key accept': ['key_gone', ...gone],
    'key revoke': ['key_gone', ...data],
    'sign-in': gone,
  }
  for (const words of WORDS) {
    const said = {
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^(?:countersign|error): \S.*\n(?:\(countersign .+ --help has .+\)\n)?$/),
    }
    expect([words, await run(words, ['--json', ...wrong[words]])]).toEqual([words, said])
  }
})

test('names that would control a terminal are printed escaped, in words and in JSON', async () => {
  const name = 'x\u001b[2J\u009b2K\nKey key_1 of Ana was accepted'
  const create = (...args: string[]) => run('key create', ['--kind', 'service', '--role', 'agent', '--name', name, ...args, ...data])
  const rule = { name, match: {}, verdict: 'allow' }
  writeFileSync(at('hostile.json'), JSON.stringify({ rules: [rule] }))
  const hostile = [at('hostile.json'), '--config', at('countersign.json')]
  const call = ['--call', '{"tool": "refund"}', '--config', at('countersign.json'), '--policy', at('hostile.json')]
  const scope = JSON.stringify(name).slice(1, -1)
  writeFileSync(at('hostile.jsonl'), (await exportRecord()).replace(/"scope":"[^"]+"/, `"scope":"${scope}"`))
  const printed = [
    await create(),
    await create('--json'),
    await run('key list', data),
    await run('key list', ['--json', ...data]),
    await run('policy check', hostile),
    await run('policy test', call),
    await run('policy test', [...call, '--json']),
    await run('audit verify', [at('hostile.jsonl')]),
    await run('audit verify', [at('hostile.jsonl'), '--json']),
  ]
  for (const { stdout, stderr } of printed) {
    expect(stdout + stderr).toMatch(/⟦U\+001B⟧|\\u001b/)
    expect(stdout + stderr).not.toMatch(/[^\P{Cc}\n]/u)
    expect(stdout + stderr).not.toMatch(/^Key key_1/m)
  }
})

test('a role that nobody has and nothing names is refused before a key is made', async () => {
  const create = (role: string, ...args: string[]) =>
    run('key create', ['--name', 'x', '--kind', 'person', '--role', role, '--json', ...args])
  const refused = {
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^countersign: there is no role aprover; roles are admin, approver, .*\n$/),
  }
  expect(await create('aprover', '--data', at('new'))).toEqual(refused)
  expect(readdirSync(folder.path)).not.toContain('new')
  expect(await create('aprover', ...data)).toEqual(refused)
  // The configuration names one in a rule, and one in a condition.
  const rules = [
    { name: 'finance decides', match: {}, verdict: 'ask', requires: { roles: ['finance'] } },
    { name: 'own', match: { when: "'sales' in requester.roles" }, verdict: 'allow' },
  ]
  writeFileSync(at('groups.json'), JSON.stringify({ tools, policy: { rules } }))
  const named = (role: string) =>
    run('key create', ['--name', 'x', '--kind', 'person', '--role', role, '--json', '--data', at('new')], {
      COUNTERSIGN_CONFIG: at('groups.json'),
    })
  read('key create', await named('sales'))
  read('key create', await named('finance'))
  // Somebody has it now.
  read('key create', await create('finance', '--data', at('new')))
  expect((await named('legal')).stderr).toContain('finance')
  writeFileSync(at('groups.json'), '{')
  expect((await named('legal')).stderr).toContain(`(${at('groups.json')} could not be used: see countersign doctor)`)
})
