import type { Action } from '@countersign/core'
import { expect, inject, test } from 'vitest'
import type { ApiClient } from '../testing/api-client.ts'
import { startTarget, toolsOf } from '../testing/target.ts'
import { startTestServer } from '../testing/test-server.ts'
import { startTwoServers } from '../testing/two-servers.ts'

const RULES = [
  { name: 'reads run', match: { effect: 'read' }, verdict: 'allow' },
  { name: 'keys run', match: { tool: '*ey*' }, verdict: 'allow' },
] as const

const PAY = {
  name: 'payInvoice',
  description: 'Pays an invoice.',
  input: {
    type: 'object',
    required: ['id', 'cents'],
    additionalProperties: false,
    properties: { id: { type: 'string' }, cents: { type: 'integer' } },
  },
  effect: 'write',
  describe: 'Pay invoice {id}: {cents} cents',
}
const CALL = { tool: 'payInvoice', arguments: { id: 'INV-1', cents: 500 } }

async function start() {
  const target = await startTarget(() => ({ status: 200, body: { id: 4 } }))
  const server = await startTestServer({
    config: {
      tools: toolsOf(target),
      agents: { desk: { model: 'scripted/desk.json', tools: ['*'] } },
      policy: { rules: [...RULES, { name: 'registered look-ups', match: { tool: 'registered.lookUp' }, verdict: 'allow' }] },
    },
    scripts: { desk: [{ text: 'Fine.' }] },
  })
  return {
    server,
    target,
    billing: await server.as({ name: 'billing bot', kind: 'agent', agent: 'billing', roles: ['agent'] }),
    stranger: await server.as({ name: 'other bot', kind: 'agent', agent: 'other', roles: ['agent'] }),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      await target[Symbol.asyncDispose]()
    },
  }
}

const register = (agent: ApiClient, body: object) => agent.send('POST', '/api/tools', { body })
const propose = async (agent: ApiClient, body: object = CALL): Promise<Action> => agent.post('/api/actions', body)
const approve = (admin: ApiClient, { id, revision, digest }: Action) =>
  admin.post(`/api/actions/${id}/decision`, { verdict: 'approve', revision, digest })

test('an agent registers a tool, a person approves a call, and the agent carries it out with what was approved', async () => {
  await using it = await start()
  const { billing, server } = it
  expect(await register(billing, PAY)).toMatchObject({
    status: 201,
    body: { name: 'payInvoice', executor: 'client', status: 'registered' },
  })
  expect(await register(billing, PAY)).toMatchObject({ status: 200, body: { status: 'unchanged' } })
  const action = await propose(billing)
  expect(action).toMatchObject({
    state: 'proposed',
    executor: 'client',
    effect: 'write',
    description: 'payInvoice: Pay invoice INV-1: 500 cents',
    risk: { level: 'high', reasons: ['its name says “pay”', 'changes data'], setBy: 'unverified' },
    preview: [{ field: 'billing bot says', newValue: 'Pays an invoice.', unverified: true }],
  })
  await approve(server.admin, action)
  const { epoch } = await billing.post(`/api/actions/${action.id}/claim`, {})
  const done = await billing.post(`/api/actions/${action.id}/result`, { epoch, output: { paid: true } })
  expect(done).toMatchObject({ state: 'succeeded', outcome: { status: 'succeeded', text: '{"paid":true}' } })
  expect((await server.admin.get('/api/audit?kind=tool_registered')).items).toHaveLength(1)
})

test('a registered tool without words of its own is headed by its name and its arguments, not by their number', async () => {
  await using it = await start()
  const { billing } = it
  const { describe: _, ...wordless } = PAY
  await register(billing, { ...wordless, name: 'moveInvoice' })
  const move = { tool: 'moveInvoice', arguments: { id: 'INV-1', cents: 500 } }
  expect((await propose(billing, move)).description).toBe('moveInvoice: cents 500, id "INV-1"')
  await register(billing, { name: 'tidy', description: 'Tidies.', input: { type: 'object' }, effect: 'write' })
  expect((await propose(billing, { tool: 'tidy', arguments: {} })).description).toBe('Call tidy')
})

test('arguments that do not fit the schema of a registered tool are refused, also as an edit', async () => {
  await using it = await start()
  const { billing, server } = it
  await register(billing, PAY)
  const wrong = { ...CALL, arguments: { id: 'INV-1', cents: 'all' } }
  expect(await billing.send('POST', '/api/actions', { body: wrong })).toMatchObject({ status: 422, body: { code: 'invalid_arguments' } })
  const { id, revision, digest } = await propose(billing)
  const body = { verdict: 'approve', revision, digest, arguments: { id: 'INV-1', cents: 5, more: 1 } }
  expect(await server.admin.send('POST', `/api/actions/${id}/decision`, { body })).toMatchObject({ status: 422 })
  const edited = await server.admin.post(`/api/actions/${id}/decision`, { ...body, arguments: { id: 'INV-1', cents: 5 } })
  expect(edited).toMatchObject({ state: 'approved', arguments: { cents: 5 } })
})

test('what an agent says of its tool lets nothing run: not "read", not a low risk, not a name that a glob allows', async () => {
  await using it = await start()
  const { billing } = it
  await register(billing, { ...PAY, name: 'moneyOut', effect: 'read', risk: 'low', describe: 'Look up an invoice' })
  const action = await propose(billing, { ...CALL, tool: 'moneyOut' })
  expect(action).toMatchObject({
    state: 'proposed',
    effect: 'write',
    risk: { level: 'medium', setBy: 'unverified' },
    policy: { rule: 'default' },
  })
  // Its words do not stand alone: the name of what is called comes first.
  expect(action.description).toBe('moneyOut: Look up an invoice')
  await register(billing, { ...PAY, name: 'deleteBackups', effect: 'read', risk: 'low' })
  expect(await propose(billing, { ...CALL, tool: 'deleteBackups' })).toMatchObject({ risk: { level: 'high' } })
  await register(billing, { ...PAY, name: 'wire', risk: 'critical' })
  expect(await propose(billing, { ...CALL, tool: 'wire' })).toMatchObject({ risk: { level: 'critical', setBy: 'unverified' } })
})

test('a rule that names a registered tool decides about it, before and after it is registered', async () => {
  await using it = await start()
  const { billing, server } = it
  await register(billing, { ...PAY, name: 'lookUp', effect: 'read' })
  expect(await propose(billing, { ...CALL, tool: 'lookUp' })).toMatchObject({ state: 'approved', policy: { rule: 'registered look-ups' } })
  await register(billing, PAY)
  const save = (rule: object, version: number) => {
    const body = { document: { rules: [...RULES, rule] }, reason: 'other rules' }
    return server.admin.send('PUT', '/api/policy', { body, headers: { 'if-match': `"${version}"` } })
  }
  expect(await save({ name: 'no payments', match: { tool: 'pay*' }, verdict: 'deny' }, 1)).toMatchObject({ status: 200 })
  expect(await propose(billing)).toMatchObject({ state: 'declined', policy: { rule: 'no payments' } })
  expect(await save({ name: 'pays', match: { tool: 'payInvoice' }, verdict: 'allow' }, 2)).toMatchObject({ status: 200 })
  expect(await propose(billing)).toMatchObject({ state: 'approved', policy: { rule: 'pays' } })
})

test('a tool belongs to the key that registered it: others can neither use, see, change nor remove it', async () => {
  await using it = await start()
  const { billing, stranger, server } = it
  await register(billing, PAY)
  expect(await register(stranger, { ...PAY, description: 'Mine now.' })).toMatchObject({ status: 409, body: { code: 'name_taken' } })
  expect(await stranger.send('POST', '/api/actions', { body: CALL })).toMatchObject({
    status: 404,
    body: { detail: 'there is no tool payInvoice' },
  })
  expect(await stranger.send('DELETE', '/api/tools/payInvoice')).toMatchObject({ status: 404 })
  const names = async (who: ApiClient) => (await who.get('/api/tools')).items.map(({ name }: { name: string }) => name)
  expect(await names(stranger)).not.toContain('payInvoice')
  expect(await names(billing)).toContain('payInvoice')
  expect((await server.admin.get('/api/tools')).items.find(({ name }: { name: string }) => name === 'payInvoice')).toMatchObject({
    registeredBy: { name: 'billing bot' },
    claimedEffect: 'write',
  })
  // Removed, its name is still not for others: a rule may name it.
  await billing.send('DELETE', '/api/tools/payInvoice')
  expect(await billing.send('POST', '/api/actions', { body: CALL })).toMatchObject({ status: 404 })
  expect(await register(stranger, PAY)).toMatchObject({ status: 409 })
  expect(await register(billing, PAY)).toMatchObject({ status: 200, body: { status: 'changed' } })
})

test('the tools and the agents come whole, or in pages where a limit is given', async () => {
  await using it = await start()
  const {
    billing,
    server: { admin },
  } = it
  for (const name of ['payInvoice', 'payRent']) await register(billing, { ...PAY, name })
  const whole = await admin.get('/api/tools')
  expect(whole.nextCursor).toBeNull()
  const names: string[] = []
  for (let cursor = ''; names.length < 50; ) {
    const page = await admin.get(`/api/tools?limit=1${cursor && `&cursor=${cursor}`}`)
    expect(page.items).toHaveLength(1)
    names.push(page.items[0].name)
    cursor = page.nextCursor
    if (cursor === null) break
  }
  expect(names).toEqual(whole.items.map(({ name }: { name: string }) => name))
  expect(names.length).toBeGreaterThan(2)
  const agents = await admin.get('/api/agents?limit=200')
  expect([agents.items.length > 0, agents.nextCursor]).toEqual([true, null])
  for (const query of ['limit=0', 'limit=201', 'limit=x', 'cursor=x', `cursor=${Buffer.from('["tools","gone"]').toString('base64url')}`])
    expect([query, (await admin.send('GET', `/api/tools?${query}`)).status]).toEqual([query, 400])
})

test('a registration takes no name of the configuration, and the agents of the server are not offered it', async () => {
  await using it = await start()
  const { billing, server } = it
  const [configured] = (await server.admin.get('/api/tools')).items
  const { group, name: own } = configured
  for (const name of [own, own.toUpperCase(), `${group}.more`, `${group.toUpperCase()}.more`, 'registered.x', 'Registered.x'])
    expect(await register(billing, { ...PAY, name })).toMatchObject({ status: 409, body: { code: 'name_taken' } })
  for (const name of ['', 'päy', '../x', '__proto__', 'a b', 'x'.repeat(101)])
    expect(await register(billing, { ...PAY, name })).toMatchObject({ status: 400 })
  await register(billing, PAY)
  const [desk] = (await server.admin.get('/api/agents')).items
  expect(desk.tools).not.toContain('payInvoice')
})

test('a changed definition is shown and asked about, whatever allows the tool, until a call of it was approved and begun', async () => {
  await using it = await start()
  const { billing, server } = it
  await register(billing, { ...PAY, name: 'lookUp' })
  expect(await propose(billing, { ...CALL, tool: 'lookUp' })).toMatchObject({ state: 'approved' })
  const changed = { ...PAY, name: 'lookUp', description: 'Pays and closes an invoice.' }
  expect(await register(billing, changed)).toMatchObject({
    status: 200,
    body: { status: 'changed', caution: expect.stringContaining('description') },
  })
  const asked = await propose(billing, { ...CALL, tool: 'lookUp' })
  expect(asked).toMatchObject({
    state: 'proposed',
    policy: { rule: 'changed tool' },
    preview: [
      { field: 'the tool’s description', oldValue: PAY.description, newValue: changed.description, ofTool: true },
      { unverified: true },
    ],
  })
  await approve(server.admin, asked)
  expect(await propose(billing, { tool: 'lookUp', arguments: { id: 'INV-2', cents: 1 } })).toMatchObject({ state: 'proposed' })
  await billing.post(`/api/actions/${asked.id}/claim`, {})
  expect(await propose(billing, { tool: 'lookUp', arguments: { id: 'INV-3', cents: 1 } })).toMatchObject({ state: 'approved' })
})

// SQLite allows one process at a time.
test.skipIf(inject('database') === 'sqlite')(
  'a change is shown from what people accepted last, also where another process heard of it',
  async () => {
    await using servers = await startTwoServers()
    const { here, there } = servers
    const { key } = await here.makeKey({ name: 'billing bot', kind: 'agent', agent: 'billing', roles: ['agent'] })
    const [atHere, atThere] = [here.with({ authorization: `Bearer ${key}` }), there.with({ authorization: `Bearer ${key}` })]
    const says = (agent: ApiClient, description: string) => register(agent, { ...PAY, description })
    const change = (oldValue: string, newValue: string) => ({ preview: [{ field: 'the tool’s description', oldValue, newValue }, {}] })
    await says(atHere, 'Pays.')
    await says(atHere, 'Pays twice.')
    expect(await propose(atHere)).toMatchObject(change('Pays.', 'Pays twice.'))
    // Meanwhile people accept another definition, and then the last one is registered again.
    await says(atThere, 'Pays later.')
    const action = await propose(atThere, { ...CALL, arguments: { id: 'INV-2', cents: 1 } })
    await approve(there.admin, action)
    await atThere.post(`/api/actions/${action.id}/claim`, {})
    await says(atThere, 'Pays twice.')
    expect(await propose(atHere, { ...CALL, arguments: { id: 'INV-3', cents: 1 } })).toMatchObject(change('Pays later.', 'Pays twice.'))
  },
)

test('an approval is for one definition: after a change the claim is asked about again, and after removal it fails', async () => {
  await using it = await start()
  const { billing, server } = it
  await register(billing, PAY)
  const first = await propose(billing)
  await approve(server.admin, first)
  await register(billing, { ...PAY, describe: 'Something harmless with {id}' })
  expect(await billing.send('POST', `/api/actions/${first.id}/claim`, { body: {} })).toMatchObject({
    status: 409,
    body: { code: 'stale_preview' },
  })
  const second = await propose(billing, { ...CALL, arguments: { id: 'INV-2', cents: 1 } })
  await approve(server.admin, second)
  await billing.send('DELETE', '/api/tools/payInvoice')
  expect(await billing.send('POST', `/api/actions/${second.id}/claim`, { body: {} })).toMatchObject({ status: 409 })
  expect(await server.admin.get(`/api/actions/${second.id}`)).toMatchObject({ state: 'failed', error: { kind: 'tool_missing' } })
})

test('schemas that would take for ever, and words that lie about what ran, are refused and stored nowhere', async () => {
  await using it = await start()
  const { billing, server } = it
  let deep: object = { type: 'string' }
  for (let level = 0; level < 60; level++) deep = { type: 'object', properties: { a: deep } }
  const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more })
  const refs = Object.fromEntries(
    Array.from({ length: 20 }, (_, at) => [`n${at}`, { anyOf: [{ $ref: `#/$defs/n${at + 1}` }, { $ref: `#/$defs/n${at + 1}` }] }]),
  )
  const bombs = [
    { type: 'array' },
    object({ a: deep }),
    object({ a: { pattern: '(a+)+$' } }, { patternProperties: { '(a+)+$': {} } }),
    object({ a: { pattern: '(?:a{0,900}){0,900}' } }),
    object({ a: { $ref: '#/$defs/n0' } }, { $defs: { ...refs, n20: {} } }),
    object({ a: { $ref: 'https://evil.example/schema.json' } }),
  ]
  for (const input of bombs)
    expect(await register(billing, { ...PAY, input }), JSON.stringify(input).slice(0, 90)).toMatchObject({ status: 400 })
  expect(await register(billing, { ...PAY, input: object({ a: { description: 'x'.repeat(40_000) } }) })).toMatchObject({ status: 413 })
  for (const describe of ['Paid: {result.id}', 'Pay {', 'x'.repeat(501)])
    expect(await register(billing, { ...PAY, describe })).toMatchObject({ status: 400 })
  for (const more of [{ effect: 'none' }, { executor: 'server' }, { effect: undefined }])
    expect(await register(billing, { ...PAY, ...more })).toMatchObject({ status: 400 })
  expect((await server.dump()).registered_tool).toEqual([])
})

test('an agent registers 200 tools at most, removed ones included, and others still register', async () => {
  await using it = await start()
  const { billing, stranger } = it
  const made = await Promise.all(Array.from({ length: 200 }, (_, at) => register(billing, { ...PAY, name: `pay${at}` })))
  expect(new Set(made.map(({ status }) => status))).toEqual(new Set([201]))
  const isRefused = async () => (await register(billing, { ...PAY, name: 'oneMore' })).status >= 400
  expect(await isRefused()).toBe(true)
  await billing.send('DELETE', '/api/tools/pay7')
  expect(await isRefused(), 'the removed tool keeps its name').toBe(true)
  expect(await register(stranger, { ...PAY, name: 'oneMore' })).toMatchObject({ status: 201 })
})

test('patterns of one agent stop at a budget, and others still register', async () => {
  await using it = await start()
  const { billing, stranger } = it
  const withPattern = (at: number) => ({ ...PAY, input: { type: 'object', properties: { a: { pattern: `^${'ab?'.repeat(600)}${at}$` } } } })
  let refused = 0
  for (let at = 0; at < 60 && refused === 0; at++) if ((await register(billing, withPattern(at))).status === 400) refused++
  expect(refused).toBe(1)
  expect(await register(stranger, { ...withPattern(0), name: 'other' })).toMatchObject({ status: 201 })
})

test('registered tools survive a restart, and go with the person who owns the agent and is disabled', async () => {
  await using it = await start()
  const { server } = it
  const { principal } = await server.makeKey({ name: 'Nora', kind: 'person', roles: ['approver'] })
  const { key } = await server.makeKey({ name: 'crew', kind: 'agent', agent: 'crew', roles: ['agent'], person: principal.id })
  const crew = () => server.with({ authorization: `Bearer ${key}` })
  await register(crew(), PAY)
  await server.restart()
  expect(await propose(crew())).toMatchObject({ state: 'proposed' })
  await server.admin.post(`/api/people/${principal.id}/disable`, {})
  const names = (await server.admin.get('/api/tools')).items.map(({ name }: { name: string }) => name)
  expect(names).not.toContain('payInvoice')
})

test('a rule about a registered tool that is not there now is kept: the server starts with it, saves it, and it counts when the tool is back', async () => {
  await using it = await start()
  const { server } = it
  const { principal } = await server.makeKey({ name: 'Nora', kind: 'person', roles: ['approver'] })
  const { key } = await server.makeKey({ name: 'crew', kind: 'agent', agent: 'crew', roles: ['agent'], person: principal.id })
  const ledger = await server.makeKey({ name: 'ledger', kind: 'agent', agent: 'ledger', roles: ['agent'] })
  // A restarted server has another address.
  const as = (secret: string) => server.with({ authorization: `Bearer ${secret}` })
  await register(as(ledger.key), PAY)
  await register(as(key), { ...PAY, name: 'moveStock' })
  let version = 1
  const save = async (...tools: string[]) => {
    const rules = [...RULES, ...tools.map((tool) => ({ name: `no ${tool}`, match: { tool }, verdict: 'deny' }))]
    const body = { document: { rules }, reason: 'other rules' }
    const saved = await server.admin.send('PUT', '/api/policy', { body, headers: { 'if-match': `"${version}"` } })
    if (saved.status === 200) version = saved.body.version
    return saved
  }
  expect(await save('payInvoice', 'moveSt*')).toMatchObject({ status: 200 })
  expect(await as(ledger.key).send('DELETE', '/api/tools/payInvoice')).toMatchObject({ status: 200 })
  await server.admin.post(`/api/people/${principal.id}/disable`, {})
  await server.restart()
  expect(await save('payInvoice', 'moveSt*', 'registered.other')).toMatchObject({ status: 200 })
  const unknown = await save('payInvoices')
  expect(unknown.status).toBe(400)
  expect(JSON.stringify(unknown.body)).toContain('payInvoices\\" fits no tool')
  const back = await server.admin.send('POST', '/api/policy/rollback', { body: { version: 2, reason: 'as before' } })
  expect(back).toMatchObject({ status: 200 })
  await server.restart()
  await register(as(ledger.key), PAY)
  expect(await propose(as(ledger.key))).toMatchObject({ state: 'declined', policy: { rule: 'no payInvoice' } })
})

test('a viewer and a key that may not propose register nothing', async () => {
  await using it = await start()
  const viewer = await it.server.as({ name: 'Vic', kind: 'person', roles: ['viewer'] })
  expect(await register(viewer, PAY)).toMatchObject({ status: 403 })
})
