import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Action, PolicyRule, PolicyRuleUses, ToolDetails, ToolSourceView } from '@countersign/core'
import { expect, test } from 'vitest'
import { startTestServer, type TestServer } from '../testing/test-server.ts'

const RAW = fileURLToPath(new URL('../../packages/tools-mcp/src/testing/raw-server.ts', import.meta.url))

const ALL_RUN: PolicyRule = { name: 'all run', match: { tool: '*' }, verdict: 'allow' }

/** A server with an MCP server whose tool `note` says of itself what `become` wrote last. */
async function start(rules: PolicyRule[] = [ALL_RUN]) {
  const file = join(await mkdtemp(join(tmpdir(), 'tool-changes-')), 'tools.json')
  const inputSchema = { type: 'object' }
  const become = (description: string) =>
    writeFile(
      file,
      JSON.stringify([
        { name: 'note', description, inputSchema },
        { name: 'die', description: 'Ends the program', inputSchema },
      ]),
    )
  await become('Writes a note')
  const server = await startTestServer({
    environment: process.env,
    config: { tools: { s: { mcp: { command: process.execPath, args: [RAW, 'plain', file] } } }, policy: { rules } },
  })
  return {
    server,
    become,
    breakList: () => writeFile(file, 'no JSON'),
    calls: () => readFile(`${file}.calls`, 'utf8').catch(() => ''),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

const details = (server: TestServer): Promise<ToolDetails> => server.admin.get('/api/tools/s.note')
const propose = (server: TestServer): Promise<Action> => server.admin.post('/api/actions', { tool: 's.note', arguments: {} })

test('an admin accepts a changed tool without a call: policy decides again, the record names the admin and the definition', async () => {
  await using it = await start()
  const { server } = it
  expect(await details(server)).toMatchObject({
    ...{ name: 's.note', group: 's', kind: 'mcp', change: null },
    risk: { level: 'medium', isGuess: true },
    policy: { rules: [{ rule: 'all run', verdict: 'allow', always: true }], default: 'ask' },
  })
  await it.become('Writes a note, and sends it to somebody')
  await server.restart()
  const { change, caution } = await details(server)
  expect(caution).toContain('says something else of note')
  expect(change?.fields).toEqual([
    { field: 'the tool’s description', oldValue: 'Writes a note', newValue: 'Writes a note, and sends it to somebody' },
  ])
  const waiting = await propose(server)
  expect(waiting.state).toBe('proposed')

  const accept = (who = server.admin, hash = change?.hash, headers = {}) =>
    who.send('POST', '/api/tools/s.note/accept', { body: { hash }, headers })
  const ann = await server.as({ name: 'Ann', kind: 'person', roles: ['approver', 'viewer', 'member'] })
  const bot = await server.as({ name: 'bot', kind: 'agent', roles: ['agent'] })
  for (const who of [ann, bot]) expect(await accept(who)).toMatchObject({ status: 403, body: { code: 'forbidden' } })
  expect(await accept(server.admin, 'an older one')).toMatchObject({ status: 409, body: { code: 'revision_mismatch' } })
  expect((await details(server)).change).not.toBeNull()

  const once = { 'idempotency-key': 'accept-once' }
  expect(await accept(server.admin, change?.hash, once)).toMatchObject({ status: 200, body: { accepted: 's.note' } })
  expect(await accept(server.admin, change?.hash, once)).toMatchObject({ status: 200 })
  expect(await accept()).toMatchObject({ status: 409, body: { detail: expect.stringContaining('accepted it already') } })
  expect((await details(server)).change).toBeNull()
  const { items } = await server.admin.get('/api/audit?kind=tool_accepted')
  expect(items).toMatchObject([{ actor: { name: expect.any(String) }, data: { tool: 's.note', group: 's', hash: change?.hash } }])

  expect(await propose(server)).toMatchObject({ policy: { verdict: 'allow', rule: 'all run' } })
  await server.restart()
  expect(await details(server)).toMatchObject({ change: null })
  // What was asked about the former definition is not approved for the new one unseen.
  expect(await server.admin.get(`/api/actions/${waiting.id}`)).toMatchObject({ state: 'proposed' })
})

test('a tool that changes again between the look and the acceptance is not accepted', async () => {
  await using it = await start()
  const { server } = it
  await it.become('Second')
  await server.restart()
  const { change } = await details(server)
  await it.become('Third')
  await server.restart()
  const answer = await server.admin.send('POST', '/api/tools/s.note/accept', { body: { hash: change?.hash } })
  expect(answer).toMatchObject({ status: 409, body: { code: 'revision_mismatch', detail: expect.stringContaining('changed again') } })
  expect(await propose(server)).toMatchObject({ state: 'proposed', policy: { rule: 'changed tool' } })
  expect(await it.calls()).toBe('')
})

test('a source that is away is named with the time and the reason, and no longer once it is back', async () => {
  await using it = await start()
  const { server } = it
  const sources = async (): Promise<ToolSourceView[]> => (await server.admin.get('/api/sources')).items
  expect(await sources()).toEqual([{ group: 's', kind: 'mcp', tools: 2, away: null }])
  // The program cannot list its tools any more, and ends: each later start of it fails.
  await it.breakList()
  await server.admin.post('/api/actions', { tool: 's.die', arguments: {} })
  // Each later start is a short time in which it is not away: what is checked below is what was found here.
  let found: ToolSourceView[] = []
  await expect
    .poll(async () => (found = await sources()))
    .toEqual([{ group: 's', kind: 'mcp', tools: 2, away: { since: expect.any(String), why: expect.any(String) } }])
  expect(Math.abs(Date.now() - Date.parse(found[0]?.away?.since ?? ''))).toBeLessThan(300_000)
  await it.become('Writes a note')
  await expect.poll(sources).toEqual([{ group: 's', kind: 'mcp', tools: 2, away: null }])
  const agent = await server.as({ name: 'bot', kind: 'agent', roles: ['agent'] })
  expect(await agent.send('GET', '/api/sources')).toMatchObject({ status: 403 })
})

test('an agent that changed its own tool is accepted by an admin, too', async () => {
  await using it = await start([])
  const { server } = it
  const bot = await server.as({ name: 'billing bot', kind: 'agent', agent: 'billing', roles: ['agent'] })
  const body = { name: 'pay', description: 'Pays.', input: { type: 'object' }, effect: 'write' }
  await bot.post('/api/tools', body)
  await bot.send('POST', '/api/tools', { body: { ...body, description: 'Pays twice.' } })
  const found: ToolDetails = await server.admin.get('/api/tools/pay')
  expect(found).toMatchObject({
    ...{ kind: 'registered', registeredBy: { name: 'billing bot' } },
    change: { fields: [{ field: 'the tool’s description', oldValue: 'Pays.', newValue: 'Pays twice.' }] },
  })
  // The agent sees its tool and no policy; a stranger finds no such tool.
  expect(await bot.get('/api/tools/pay')).toMatchObject({ policy: null })
  const stranger = await server.as({ name: 'other bot', kind: 'agent', agent: 'other', roles: ['agent'] })
  expect((await stranger.send('GET', '/api/tools/pay')).status).toBe(404)
  expect(await server.admin.send('POST', '/api/tools/pay/accept', { body: { hash: found.change?.hash } })).toMatchObject({ status: 200 })
  expect(await server.admin.get('/api/tools/pay')).toMatchObject({ change: null })
  expect(await server.admin.get('/api/tools/pay')).not.toHaveProperty('caution')
})

test('the rules in force are listed with their hits and why some never decide; the numbers are for those who see everything', async () => {
  await using it = await start([
    { name: 'notes run', match: { tool: 's.note' }, verdict: 'allow' },
    { name: 'notes to the boss', match: { tool: 's.note', when: 'has(args.to) && args.to == "boss"' }, verdict: 'allow' },
    { name: 'desk asks', match: { tool: 's.*', when: 'has(args.to)' }, verdict: 'ask' },
    { name: 'reads ask', match: { effect: 'read' }, verdict: 'ask' },
    { name: 'again', match: { tool: 's.n*' }, verdict: 'allow' },
  ])
  const { server } = it
  await propose(server)
  await propose(server)
  await server.admin.post('/api/actions', { tool: 's.note', arguments: { to: 'all' } })
  const uses: PolicyRuleUses = await server.admin.get('/api/policy/rules')
  expect(uses).toMatchObject({ version: 1, days: 30, isComplete: true, default: { hits: 0, lastHitAt: null } })
  expect(uses.items.map(({ rule, tools, hits, never }) => [rule, tools, hits, never])).toEqual([
    ['notes run', 1, 2, null],
    // Its condition holds only where that of the asking rule does, and an asking rule is stronger.
    ['notes to the boss', 1, 0, { why: 'overruled', by: ['desk asks'] }],
    ['desk asks', 2, 1, null],
    ['reads ask', 0, 0, { why: 'no_tool' }],
    ['again', 1, 0, { why: 'overruled', by: ['notes run'] }],
  ])
  const approver = await server.as({ name: 'Ann', kind: 'person', roles: ['approver'] })
  const theirs: PolicyRuleUses = await approver.get('/api/policy/rules')
  expect(theirs.items.every(({ hits, lastHitAt }) => hits === null && lastHitAt === null)).toBe(true)
  const bot = await server.as({ name: 'bot', kind: 'agent', roles: ['agent'] })
  expect((await bot.send('GET', '/api/policy/rules')).status).toBe(403)
})
