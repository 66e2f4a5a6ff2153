import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { DEFAULT_POLICY } from '@countersign/core'
import { defineSource, defineTool } from '@countersign/toolkit'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { findConfig, loadConfig, openConfig, requireConfig } from './index.ts'
import { type ConfigInput, defineConfig } from './schema.ts'
import { folderWith, messageOf } from './testing/config-files.ts'

/** The example of the wire contract, with the kinds of tools that this version opens. */
const CONTRACT = `
agents:
  desk:
    model: openai/gpt-5-mini            # provider/model; or scripted/<file>, or remote/<url> (D0 brain)
    fallbacks: [google/gemini-flash-latest]
    instructions: You run the order desk.
    tools: ["shop.*"]
    maxSteps: 20
    actionsPerStep: many                # or one
    onDecline: continue                 # or stop
tools:
  shop:
    routes:
      baseUrl: http://127.0.0.1:4400
      headers: { authorization: "Bearer \${SHOP_TOKEN}" }          # from the environment, never stored or shown
      tools:
        getOrder:          { method: GET, path: "/api/orders/{orderId}" }
        updateOrderStatus:
          method: PATCH
          path: "/api/orders/{orderId}/status"
          body: { status: "{newStatus}" }
          input: { type: object, required: [orderId, newStatus], additionalProperties: false,
                   properties: { orderId: { type: string }, newStatus: { type: string, enum: [pending, processing, shipped, cancelled] } } }
          describe: "Set order {orderId} to {newStatus}"
          before: { get: "/api/orders/{orderId}", compare: { status: "{newStatus}" } }   # current values for the preview and the stale check
          resultUrl: "/orders/{orderId}"
          idempotent: true              # the service honours Idempotency-Key
          executor: server              # or client
policy: ./policy.yaml                   # or inline
`
const POLICY = `
default: ask
rules:
  - { name: reads run, match: { effect: read }, verdict: allow }
  - { name: no cancelling, match: { tool: shop.updateOrderStatus }, verdict: deny }
`
const ENVIRONMENT = { SHOP_TOKEN: 'tok-123456' }

const refusal = (config: unknown, environment = {}) =>
  messageOf(openConfig(config, { environment, folder: '.', source: 'countersign.yaml' }))
const shop = (change: object): unknown => ({ tools: { shop: { routes: { baseUrl: 'http://h', tools: {}, ...change } } } })

test("the contract's example loads from YAML", async () => {
  const folder = await folderWith({ 'countersign.yaml': CONTRACT, 'policy.yaml': POLICY })
  const config = await loadConfig(join(folder, 'countersign.yaml'), ENVIRONMENT)
  expect(config.folder).toBe(folder)
  expect(config.agents).toMatchObject([
    {
      name: 'desk',
      model: 'openai/gpt-5-mini',
      fallbacks: [{ model: 'google/gemini-flash-latest' }],
      instructions: 'You run the order desk.',
      maxSteps: 20,
      actionsPerStep: 'many',
      onDecline: 'continue',
      suggestions: [],
    },
  ])
  expect(config.agents[0]?.tools.map(({ name, effect }) => [name, effect])).toEqual([
    ['shop.getOrder', 'read'],
    ['shop.updateOrderStatus', 'write'],
  ])
  expect(config.policy.rules.map(({ name }) => name)).toEqual(['reads run', 'no cancelling'])
  expect(JSON.stringify(config.tools.all())).not.toContain('tok-123456')
})

test('a JSON file and a module have the same shape as YAML', async () => {
  const config: ConfigInput = {
    agents: { desk: { model: 'scripted/demo.json', tools: ['shop.*'] } },
    tools: { shop: { routes: { baseUrl: 'http://127.0.0.1:1', tools: { list: { method: 'GET', path: '/a' } } } } },
  }
  const folder = await folderWith({
    'a.json': JSON.stringify(config),
    'b.config.ts': `const c: object = ${JSON.stringify(config)}\nexport default c\n`,
  })
  for (const file of ['a.json', 'b.config.ts']) {
    const { agents, policy } = await loadConfig(join(folder, file), {})
    expect(agents[0]).toMatchObject({ name: 'desk', maxSteps: 20, instructions: '' })
    expect(policy).toEqual(DEFAULT_POLICY)
  }
})

test('tools in code stand beside routes', async () => {
  const now = defineTool({ name: 'now', description: 'The time.', input: z.object({}), effect: 'read', execute: () => 0 })
  const config = defineConfig({ agents: { a: { model: 'scripted/x', tools: ['now'] } }, tools: { clock: { prefix: false, tools: [now] } } })
  const { tools } = await openConfig(config, { environment: {}, folder: '.' })
  expect(tools.byName('now')).toMatchObject({ group: 'clock', modelName: 'now' })
})

test('an empty configuration is one: a gate for agents from elsewhere', async () => {
  const { agents, tools, policy } = await openConfig({}, { environment: {}, folder: '.' })
  expect([agents, tools.all(), policy]).toEqual([[], [], DEFAULT_POLICY])
})

test('every error names the file and the place, and all are told at once', async () => {
  const config = {
    agents: { desk: { model: 'gpt', maxSteps: 0, onDecline: 'maybe', tolls: [] } },
    tools: {
      shop: { routes: { tools: { x: { method: 'FETCH' } } } },
      odd: { grpc: {} },
      two: { routes: {}, tools: [] },
      none: {},
    },
  }
  expect((await refusal({ ...config, tools: {} })).split('\n')).toEqual([
    'countersign.yaml: agents.desk.model: must be provider/model, for example openai/gpt-5-mini',
    'countersign.yaml: agents.desk.maxSteps: must be at least 1',
    'countersign.yaml: agents.desk.onDecline: must be one of "continue", "stop"',
    expect.stringMatching(/^countersign\.yaml: agents\.desk\.tolls: is not known here; known are model, .*tools/),
  ])
  expect((await refusal({ tools: config.tools })).split('\n')).toEqual([
    'countersign.yaml: tools.shop.routes.baseUrl: is required',
    'countersign.yaml: tools.shop.routes.tools.x.method: must be one of "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"',
    'countersign.yaml: tools.shop.routes.tools.x.path: is required',
    expect.stringMatching(/^countersign\.yaml: tools\.odd\.grpc: is not a kind of tools; this version knows routes/),
    expect.stringMatching(/^countersign\.yaml: tools\.two: must hold exactly one of routes.*, not routes and tools$/),
    expect.stringMatching(/^countersign\.yaml: tools\.none: must hold exactly one of routes/),
  ])
  const broken = shop({ tools: { updateOrderStatus: { method: 'PATCH', path: '/orders/{orderId' } } })
  expect(await refusal(broken)).toMatch(/^countersign\.yaml: tools\.shop\.routes\.tools\.updateOrderStatus\.path: has a lone "\{"/)
})

const BAD: [string, unknown, string][] = [
  ['not an object', 'text', 'countersign.yaml: must be an object'],
  ['nothing', null, 'countersign.yaml: must be an object'],
  [
    'an unknown section',
    { agent: {} },
    'countersign.yaml: agent: is not known here; known are agents, tools, signIn, policy, gateway, cors, retention, archive, record, prices, network',
  ],
  ['a bad agent name', { agents: { 'a b': { model: 'x/y' } } }, 'countersign.yaml: agents.a b: is not an allowed name'],
  [
    'a glob for nothing',
    { agents: { a: { model: 'x/y', tools: ['shop.*'] } } },
    'countersign.yaml: agents.a.tools.0: "shop.*" fits no tool',
  ],
  [
    'a rule for nothing',
    { policy: { rules: [{ name: 'r', match: { tool: 'shop.x' }, verdict: 'deny' }] } },
    'countersign.yaml: policy.rules.0.match.tool: "shop.x" fits no tool',
  ],
  [
    'a rule for a tool without its group',
    {
      tools: { shop: { routes: { baseUrl: 'http://h', tools: { get: { method: 'GET', path: '/' } } } } },
      policy: { rules: [{ name: 'r', match: { tool: 'get' }, verdict: 'deny' }] },
    },
    'countersign.yaml: policy.rules.0.match.tool: "get" fits no tool; write "shop.get"',
  ],
  ['a policy that allows by default', { policy: { default: 'allow' } }, 'countersign.yaml: policy.default: must be one of "ask", "deny"'],
  [
    'a rule with a key that nobody knows',
    { policy: { rules: [{ name: 'r', match: { unless: 'true' }, verdict: 'ask' }] } },
    'countersign.yaml: policy.rules.0.match.unless: is not known here; known are tool, effect, agent, when',
  ],
  [
    'a rule for an agent that is nobody',
    { policy: { rules: [{ name: 'r', match: { agent: 'desk' }, verdict: 'deny' }] } },
    'countersign.yaml: policy.rules.0.match.agent: "desk" fits no configured agent; for one that runs elsewhere, compare agent.name in a condition',
  ],
  [
    'a condition that is none',
    { policy: { rules: [{ name: 'r', match: { when: 'argz.amount > 500' }, verdict: 'ask' }] } },
    'countersign.yaml: policy.rules.0.match.when: Unknown variable: argz (at character 1)',
  ],
  [
    'raw objects for coded tools',
    { tools: { g: { tools: [{ name: 'x' }] } } },
    'countersign.yaml: tools.g.tools.0: must come from defineTool',
  ],
  [
    'a clash of names',
    { tools: { g: { prefix: false, tools: [] }, h: { prefix: 'no', tools: [] } } },
    'countersign.yaml: tools.h.prefix: must be true or false',
  ],
  [
    'a secret in a description',
    shop({ tools: { x: { method: 'GET', path: '/x', description: `key \${SHOP_TOKEN}` } } }),
    `countersign.yaml: tools.shop.routes.tools.x.description: cannot hold \${SHOP_TOKEN}: it is shown. Variables belong into headers`,
  ],
  [
    'a secret in instructions',
    { agents: { a: { model: 'x/y', instructions: `\${KEY}` } } },
    `countersign.yaml: agents.a.instructions: cannot hold \${KEY}: it is shown. Variables belong into headers`,
  ],
  [
    'a missing variable',
    shop({ headers: { authorization: `Bearer \${SHOP_TOKEN}` } }),
    'countersign.yaml: tools.shop.routes.headers.authorization: needs the environment variable SHOP_TOKEN, which is not set',
  ],
  [
    'a missing address',
    shop({ baseUrl: `\${SHOP_URL}` }),
    'countersign.yaml: tools.shop.routes.baseUrl: needs the environment variable SHOP_URL, which is not set',
  ],
  [
    'a variable inside an address',
    shop({ baseUrl: `https://\${TOKEN}.example.com` }),
    'countersign.yaml: tools.shop.routes.baseUrl: may have a variable only at its start, holding a whole address: it is shown',
  ],
  [
    'a misspelt variable',
    shop({ headers: { a: `\${a b}` } }),
    `countersign.yaml: tools.shop.routes.headers.a: has \${a b}, which is not the name of a variable`,
  ],
]
for (const [name, config, message] of BAD) {
  test(`refused: ${name}`, async () => {
    expect(await refusal(config)).toBe(message)
  })
}

test('a variable goes into headers and base addresses; its value is in no error', async () => {
  const config = shop({
    baseUrl: `\${SHOP_URL}/v2`,
    headers: { authorization: `Bearer \${SHOP_TOKEN}` },
    tools: { x: { method: 'GET', path: '/x' } },
  })
  const environment = { SHOP_URL: 'https://shop.example.com', SHOP_TOKEN: 'tok-123456' }
  const { tools } = await openConfig(config, { environment, folder: '.' })
  expect(tools.byName('shop.x')?.destination).toBe('https://shop.example.com')
  const message = await refusal(config, { SHOP_URL: 'secret-by-mistake', SHOP_TOKEN: 'tok\r\n123456' })
  expect(message).toContain('tools.shop.routes.baseUrl: must be an http:// or https:// address')
  expect(message).toContain('tools.shop.routes.headers.authorization: is not a valid header')
  expect(message).not.toMatch(/secret-by-mistake|123456/)
})

test("a remote brain's address may come from a variable; any other model may not", async () => {
  const agents = (model: string) => ({ agents: { desk: { model } } })
  const config = await openConfig(agents(`remote/\${BRAIN_URL}/chat`), { environment: { BRAIN_URL: 'http://127.0.0.1:5' }, folder: '.' })
  expect(config.agents[0]?.model).toBe('remote/http://127.0.0.1:5/chat')
  const place = 'countersign.yaml: agents.desk.model'
  expect(await refusal(agents(`remote/\${BRAIN_URL}`))).toBe(`${place}: needs the environment variable BRAIN_URL, which is not set`)
  expect(await refusal(agents(`remote/http://\${HOST}`))).toMatch(`${place}: may have a variable only right after remote/`)
  expect(await refusal(agents(`openai/\${MODEL}`))).toMatch(`${place}: cannot hold \${MODEL}`)
})

test('a remote brain takes headers with variables; what is wrong with one is said without its value', async () => {
  const brain = (remote: object, more: object = {}) => ({ agents: { desk: { remote, ...more } } })
  const headers = { authorization: `Bearer \${BRAIN_KEY}`, 'x-team': 'orders' }
  const options = { environment: { BRAIN_KEY: 'key-0123456789', BRAIN_URL: 'https://brain.example.com/chat' }, folder: '.' }
  const config = await openConfig(brain({ url: `\${BRAIN_URL}`, headers }), options)
  expect(config.agents[0]).toMatchObject({
    model: 'remote/https://brain.example.com/chat',
    remoteHeaders: { authorization: 'Bearer key-0123456789', 'x-team': 'orders' },
  })
  expect(config.secrets).toContain('key-0123456789')
  expect(config.secrets).not.toContain('orders')

  const at = 'agents.desk.remote'
  const url = 'https://brain.example.com'
  expect(await refusal(brain({ url, headers }))).toContain(`${at}.headers.authorization: needs the environment variable BRAIN_KEY`)
  expect(await refusal(brain({ url: 'brain.example.com' }))).toContain(`${at}.url: must be an http:// or https:// address`)
  expect(await refusal(brain({ url: `${url}/\${TOKEN}` }))).toContain(`${at}.url: may have a variable only at its start`)
  const broken = await refusal(brain({ url, headers: { 'x-key': 'line\nbreak' } }))
  expect(broken).toContain(`${at}.headers.x-key: is not a valid header`)
  expect(broken).not.toContain('break')
  const both = 'agents.desk: must have either a model or remote'
  expect(await refusal(brain({ url }, { model: 'openai/gpt-5-mini' }))).toContain(both)
  expect(await refusal({ agents: { desk: {} } })).toContain(both)
})

test('an origin of cors is one origin, never a pattern', async () => {
  const cors = (...origins: string[]) => ({ cors: { origins } })
  const config = await openConfig(cors('https://app.example.com', `\${FRONT_END}`), {
    environment: { FRONT_END: 'http://localhost:5173' },
    folder: '.',
  })
  expect(config.corsOrigins).toEqual(['https://app.example.com', 'http://localhost:5173'])
  for (const wrong of [
    '*',
    'null',
    'https://*.example.com',
    'https://app.example.com/',
    'app.example.com',
    'https://APP.example.com',
    'file://',
  ]) {
    expect(await refusal(cors(wrong)), wrong).toContain('cors.origins.0: must be one origin as browsers send it')
  }
})

test('a value from the environment does not come back from the service, whatever its header is called', async () => {
  const server = createServer((request, response) => response.end(JSON.stringify(request.headers)))
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const config = shop({ baseUrl, headers: { 'x-shop': `v=\${SHOP_TOKEN}` }, tools: { x: { method: 'GET', path: '/x' } } })
  const { tools } = await openConfig(config, { environment: ENVIRONMENT, folder: '.' })
  const context = { actionId: 'a', idempotencyKey: 'k', signal: new AbortController().signal, principalId: undefined }
  expect(await tools.byName('shop.x')?.execute({}, context)).toMatchObject({ 'x-shop': 'v=[redacted]' })
  await new Promise((done) => server.close(done))
})

test('a source of one’s own that cannot be opened is named, with the reason', async () => {
  const source = defineSource({
    schema: z.strictObject({}),
    open: () => Promise.reject(new Error('fetch failed', { cause: new Error('connect ECONNREFUSED 127.0.0.1:9') })),
  })
  const config = { tools: { reports: { source: source({}) } } }
  expect(await messageOf(openConfig(config, { environment: {}, folder: '.' }))).toBe(
    'configuration: tools.reports.source: cannot be opened: fetch failed (connect ECONNREFUSED 127.0.0.1:9)',
  )
})

test('a folder has one configuration; two are refused', async () => {
  const none = await folderWith({})
  expect(await findConfig(none)).toBeUndefined()
  await expect(requireConfig(none)).rejects.toThrow(
    `there is no countersign.config.ts or countersign.yaml in ${none}: name one with --config, or make one with countersign init`,
  )
  const one = await folderWith({ 'countersign.yml': '' })
  expect(await findConfig(one)).toBe(join(one, 'countersign.yml'))
  const two = await folderWith({ 'countersign.config.ts': '', 'countersign.json': '' })
  expect(await messageOf(findConfig(two))).toMatch(/^found countersign\.config\.ts and countersign\.json in .*: keep one$/)
})

test('an address that is named twice is told without what may be a token in it', async () => {
  const config = { agents: { desk: { model: `remote/\${BRAIN}`, fallbacks: [`remote/\${BRAIN}`] } } }
  const said = await refusal(config, { BRAIN: 'https://brain.example/x?token=planted-secret' })
  expect(said).toContain('names remote/https://brain.example/x a second time')
  expect(said).not.toContain('planted-secret')
})

test('the headers of an anchor are checked before anything is sent with them, and what authenticates is a secret', async () => {
  const anchorWith = (authorization: string) => ({
    record: { anchor: { webhook: { url: 'https://anchor.example', headers: { authorization } } } },
  })
  const said = await refusal(anchorWith(`Bearer \${TOKEN}`), { TOKEN: 'planted-secret\n' })
  expect(said).toContain('record.anchor.webhook.headers.authorization: is not a valid header (its value is not shown here)')
  expect(said).not.toContain('planted-secret')
  const config = await openConfig(anchorWith('Bearer literal-secret'), { environment: {}, folder: '.' })
  expect(config.secrets).toContain('Bearer literal-secret')
})

test('a key that a file has twice is refused, also where it is a number once and a text once', async () => {
  const folder = await folderWith({ 'a.yaml': 'signIn:\n  oidc:\n    roles:\n      1: [admin]\n      "1": [viewer]\n' })
  expect(await messageOf(loadConfig(join(folder, 'a.yaml'), {}))).toContain('line 5: Map keys must be unique')
})

test('a file that ends with .json is JSON: a comment in it would become part of a key or a text', async () => {
  const folder = await folderWith({
    'key.json': '{"tools": {}, // none\n "agents": {}}',
    'text.json': '{"cors": {"origins": [1 // one\n]}}',
    'fine.json': '\ufeff{"tools": {}}',
  })
  for (const name of ['key.json', 'text.json'])
    expect(await messageOf(loadConfig(join(folder, name), {}))).toBe(
      `${name}: is not JSON, which has no comments, no commas at an end and quotes around every key and text`,
    )
  await (await loadConfig(join(folder, 'fine.json'), {})).close()
})
