import type { Action } from '@countersign/core'
import { expect, test } from 'vitest'
import { startCodingAgent } from '../testing/coding-agent.ts'

async function start() {
  const { propose, ...others } = await startCodingAgent()
  return {
    ...others,
    call: (hostTool: string, input: object, more: object = {}): Promise<Action> =>
      propose('host.mcp', { hostTool, server: 'said', name: 'said', input, ...more }),
  }
}

test('the card of a call says the tool and the server in one sentence, and shows each argument in a row', async () => {
  const desk = await start()
  const card = await desk.call('mcp__tracker__create_issue', { title: 'A bug', labels: ['a', 'b'], server: 'mine' })
  expect(card.description).toBe('Call create_issue of the MCP server tracker')
  expect(card.preview).toEqual([
    { field: 'server', newValue: 'tracker' },
    { field: 'tool', newValue: 'create_issue' },
    { field: 'argument labels', newValue: ['a', 'b'] },
    { field: 'argument server', newValue: 'mine' },
    { field: 'argument title', newValue: 'A bug' },
  ])
  expect(card.risk).toMatchObject({ level: 'medium', reasons: ['the effect of this MCP tool is not known here'] })
  expect(card.arguments).toMatchObject({ server: 'tracker', name: 'create_issue' })
})

test('no name of a tool makes a call a read, and a name that says it takes something away makes it high risk', async () => {
  const desk = await start()
  for (const name of ['get_issue', 'list', 'read_file', 'readOnly'])
    expect([name, (await desk.call(`mcp__tracker__${name}`, {})).risk.level]).toEqual([name, 'medium'])
  for (const name of ['delete_issue', 'transferFunds', 'drop-table'])
    expect([name, (await desk.call(`mcp__tracker__${name}`, {})).risk.level]).toEqual([name, 'high'])
})

test('a name that may be that of a tool of two servers has no server, is high risk, and nothing is granted for it', async () => {
  const desk = await start()
  for (const [hostTool, name] of [
    ['mcp__github__admin__create_issue', 'github__admin__create_issue'],
    ['mcp__github___create_issue', 'github___create_issue'],
    ['mcp__github__mcp__slack__send', 'github__mcp__slack__send'],
    ['mcp__a____b', 'a____b'],
  ] as const) {
    const card = await desk.call(hostTool, {})
    expect(card.description).toBe(`Call an MCP tool whose server is not clear: ${name}`)
    expect(card.arguments).toMatchObject({ server: '', name, call: { understood: false } })
    expect(card.risk.level).toBe('high')
    for (const { status } of await desk.tryGrant(card, { exact: true })) expect(status).toBe(409)
  }
  for (const hostTool of ['mcp__gіthub__x', 'mcp__git hub__x', 'mcp__github__x\u202e', 'mcp__github__x/y'])
    expect([hostTool, (await desk.call(hostTool, {})).risk.level]).toEqual([hostTool, 'high'])
})

test('Cursor does not say which server has the tool: its calls are high risk, the card says so, and nothing is granted for them', async () => {
  const desk = await start()
  const card = await desk.call('mcp__cursor__create_issue', { title: 'A bug' }, { host: 'cursor' })
  expect(card.description).toBe('Call create_issue of an MCP server that Cursor does not name')
  expect(card.preview?.[0]).toEqual({ field: 'server', newValue: 'not named by Cursor' })
  expect(card.risk).toMatchObject({ level: 'high', reasons: ['Cursor does not say which server has this tool'] })
  expect(card.arguments, 'rules of a policy may name it').toMatchObject({ server: 'cursor', name: 'create_issue' })
  for (const { status } of await desk.tryGrant(card, { exact: true })) expect(status).toBe(409)
  const elsewhere = await desk.call('mcp__cursor__create_issue', { title: 'A bug' })
  expect(elsewhere.description, 'a server of that name at another host').toBe('Call create_issue of the MCP server cursor')
})

test.each([
  [
    'an address in this network',
    { url: 'http://169.254.169.254/' },
    'its argument url leads to an address where cloud machines give out credentials',
  ],
  ['one deep in a list', { pages: [{ href: 'http://localhost:8080/' }] }, 'its argument pages leads into this machine or its network'],
  ['one that programs read differently', { uri: 'evil.example' }, 'its argument uri has an address that programs may read differently'],
  ['a file with secrets', { path: '/home/ana/.ssh/id_rsa' }, 'its argument path names a file that usually holds secrets'],
])('a call with %s is asked about each time', async (_, input, risk) => {
  const desk = await start()
  const card = await desk.call('mcp__browser__browser_navigate', input)
  expect(card.risk).toMatchObject({ level: 'high', reasons: expect.arrayContaining([risk]) })
  expect((await desk.suggest(card)).refusal).toContain('risk is high')
})

test('a grant for exactly these arguments covers them in any order of their names, and no others', async () => {
  const desk = await start()
  const input = { repo: 'shop', nested: { a: 1, b: [1, 2] } }
  const first = await desk.call('mcp__tracker__create_issue', input)
  const [made] = await desk.tryGrant(first, { exact: true })
  expect(made?.status).toBe(201)
  expect((await desk.call('mcp__tracker__create_issue', { nested: { b: [1, 2], a: 1 }, repo: 'shop' })).state).toBe('approved')
  for (const other of [
    {},
    { ...input, repo: 'Shop' },
    { ...input, more: null },
    { ...input, nested: { a: 1, b: [2, 1] } },
    { ...input, nested: { a: '1', b: [1, 2] } },
    { repo: ['shop'], nested: input.nested },
  ])
    expect([other, (await desk.call('mcp__tracker__create_issue', other)).state]).toEqual([other, 'proposed'])
  for (const hostTool of [
    'mcp__tracker2__create_issue',
    'mcp__tracker__create_issues',
    'mcp__Tracker__create_issue',
    'mcp__x__tracker__create_issue',
  ])
    expect([hostTool, (await desk.call(hostTool, input)).state]).toEqual([hostTool, 'proposed'])
  for (const more of [{ folder: '/home/ana' }, { host: 'codex' }])
    expect([more, (await desk.call('mcp__tracker__create_issue', input, more)).state]).toEqual([more, 'proposed'])
})

test('a rule that is too long to be granted is not suggested', async () => {
  const desk = await start()
  const body = 'one more word '.repeat(200)
  await desk.approve(await desk.call('mcp__tracker__create_issue', { body, count: 1 }))
  const second = await desk.call('mcp__tracker__create_issue', { body, count: 2 })
  expect(await desk.suggest(second)).toMatchObject({ refusal: null, rule: null })
})

test('from calls that differ, a grant keeps the arguments that were the same; the others may be any text that is no longer', async () => {
  const desk = await start()
  await desk.approve(await desk.call('mcp__tracker__create_issue', { repo: 'shop', title: 'A bug', count: 3 }))
  const second = await desk.call('mcp__tracker__create_issue', { count: 5, title: 'Another', repo: 'shop' })
  const { rule } = await desk.suggest(second)
  expect(rule?.when).toContain('args.input["repo"] == "shop"')
  await desk.grant(second, rule?.when ?? '')
  for (const input of [
    { repo: 'shop', title: 'Third', count: 4 },
    { title: '', count: 3, repo: 'shop' },
  ])
    expect([input, (await desk.call('mcp__tracker__create_issue', input)).state]).toEqual([input, 'approved'])
  for (const input of [
    { repo: 'other', title: 'Third', count: 4 },
    { repo: 'shop', title: 'Longer than those', count: 4 },
    { repo: 'shop', title: ['Third'], count: 4 },
    { repo: 'shop', title: null, count: 4 },
    { repo: 'shop', title: 'Third', count: 6 },
    { repo: 'shop', title: 'Third', count: '4' },
    { repo: 'shop', title: 'Third' },
    { repo: 'shop', title: 'Third', count: 4, body: 'x' },
    { repo: 'shop', title: '~/.env', count: 4 },
  ])
    expect([input, (await desk.call('mcp__tracker__create_issue', input)).state]).toEqual([input, 'proposed'])
})

test('a grant is for the tool of the call that it was made from, whatever condition people write', async () => {
  const desk = await start()
  await desk.grant(await desk.call('mcp__tracker__get_issue', { id: 1 }), 'true')
  expect((await desk.call('mcp__tracker__get_issue', { id: 2 })).state).toBe('approved')
  for (const hostTool of ['mcp__tracker__create_issue', 'mcp__other__get_issue', 'mcp__tracker__get_issue__x'])
    expect([hostTool, (await desk.call(hostTool, { id: 2 })).state]).toEqual([hostTool, 'proposed'])
})

test('no rule is suggested where all arguments vary, where none does, and where parts of one do', async () => {
  for (const [one, other] of [
    [{ a: 'x' }, { a: 'y' }],
    [{ a: 'x' }, { a: 'x' }],
    [
      { a: 'x', b: [1] },
      { a: 'x', b: [2] },
    ],
    [
      { a: 'x', b: 1 },
      { a: 'x', b: 'y' },
    ],
  ] as const) {
    const desk = await start()
    await desk.approve(await desk.call('mcp__tracker__create_issue', one))
    expect((await desk.suggest(await desk.call('mcp__tracker__create_issue', other))).rule).toBeNull()
  }
})
