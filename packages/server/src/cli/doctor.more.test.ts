import { chmodSync, existsSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { PROVIDERS, providerEnvironment } from '../../../../verification/testing/providers.ts'
import { runCommandLine } from '../../../../verification/testing/run-command.ts'
import { mountSmallDisk } from '../../../../verification/testing/small-disk.ts'
import { startTarget } from '../../../../verification/testing/target.ts'
import { startTestServer, temporaryFolder } from '../../../../verification/testing/test-server.ts'
import { tempRepository } from '../../../../verification/testing/workspace.ts'
import { type Environment, loadConfig } from '../config/index.ts'
import { answerWith, startReplayServer } from '../models/testing/replay-server.ts'
import { speak } from '../models/testing/speak.ts'
import { compilePolicy, readPolicy } from '../policy/index.ts'
import { type DoctorFlags, doctor } from './doctor.ts'
import { starterPolicy } from './policy-starter.ts'

const PATH = process.env.PATH ?? ''
const route = { method: 'POST', path: '/refund', input: { type: 'object', properties: {} } }

/** In seconds, for each check: as long as a busy machine may take. */
const LIMIT = '240'

/** Returns the output of the command, run in this process. */
async function examine(flags: Partial<DoctorFlags>, environment: Environment): Promise<{ problems: number; text: string }> {
  let text = ''
  const write = (more: string) => {
    text += more
    return true
  }
  return { problems: await doctor({ timeout: LIMIT, ...flags }, { PATH, ...environment }, { write }), text }
}

test.skipIf(process.platform === 'win32')('a configuration or policy that every user of the machine can change is a problem', async () => {
  using folder = temporaryFolder()
  const [config, policy] = [join(folder.path, 'countersign.yaml'), join(folder.path, 'policy.yaml')]
  writeFileSync(config, 'policy: policy.yaml\n', { mode: 0o644 })
  writeFileSync(policy, 'default: deny\n', { mode: 0o644 })
  const data = join(folder.path, 'data')
  expect((await examine({ config, data }, {})).text).toContain('configuration files: other users cannot change them\n')
  chmodSync(policy, 0o666)
  const { problems, text } = await examine({ config, data }, {})
  expect(text).toContain(
    `PROBLEM  configuration files: every user of this machine can change the policy (${policy}): run chmod o-w on it\n`,
  )
  expect(problems).toBe(1)
})

test('a mistake in the configuration or in its policy is told with its file and line', async () => {
  using folder = temporaryFolder()
  const config = join(folder.path, 'countersign.yaml')
  const policy = join(folder.path, 'policy.yaml')
  const examined = async (text: string) => {
    writeFileSync(config, text)
    return (await examine({ config, data: join(folder.path, 'data') }, {})).text
  }
  writeFileSync(policy, 'rules:\n  - name: x\n    match: { agent: dsk }\n    verdict: deny\n')
  expect(await examined('tools: {}\npolcy: policy.yaml\n')).toContain(
    'PROBLEM  configuration: countersign.yaml: line 2: polcy: is not known',
  )
  expect(await examined('policy: policy.yaml\n')).toContain('PROBLEM  configuration: policy.yaml: line 3: rules.0.match.agent: "dsk" fits')
  writeFileSync(policy, 'default: ask\nrules:\n  - verdict: deny\n    match: {}\n')
  expect(await examined('policy: policy.yaml\n')).toContain('PROBLEM  configuration: policy.yaml: line 3: rules.0.name: is required')
})

test('the doctor finds nothing wrong with what works, says what would be asked, and changes nothing', async () => {
  using repository = tempRepository({ 'a.txt': 'a\n' })
  using folder = temporaryFolder()
  await using service = await startTarget(() => ({ status: 404 }))
  const script = join(folder.path, 'script.ts')
  writeFileSync(script, 'export default { steps: [{ text: "Hello." }] }')
  const config = join(folder.path, 'countersign.json')
  const rules = [
    { name: 'reads run', match: { tool: 'repo.*', effect: 'read' }, verdict: 'allow' },
    { name: 'two for a refund', match: { tool: 'shop.refund' }, verdict: 'ask', requires: { quorum: 2, roles: ['finance'] }, risk: 'high' },
    { name: 'never on Sundays', match: { tool: 'shop.refund', when: 'args.amount > 5' }, verdict: 'deny' },
  ]
  const tools = { repo: { workspace: { root: repository.root } }, shop: { routes: { baseUrl: service.url, tools: { refund: route } } } }
  writeFileSync(config, JSON.stringify({ agents: { desk: { model: `scripted/${script}`, tools: ['*'] } }, tools, policy: { rules } }))
  const data = join(folder.path, 'data')
  const { problems, text } = await examine({ config, data }, {})
  expect(text).toContain('15 tools in ')
  expect(text).toMatch(/repo\.commit +write +asks 1 of approver {2}\("default"\)/)
  expect(text).toMatch(
    /shop\.refund +write +asks 2 of finance, high risk {2}\("two for a refund"; otherwise where "never on Sundays" says so\)/,
  )
  expect(text).toContain('Nothing is wrong.\n')
  expect(problems).toBe(0)
  expect(text).toContain(`routes to ${service.url}: answers (404)\n`)
  expect(text).toContain('has no data yet')
  // The check is read-only: it connects without credentials and creates nothing.
  expect(service.writes.map(({ method, path }) => `${method} ${path}`)).toEqual(['HEAD /'])
  expect(existsSync(data)).toBe(false)
})

test('the doctor names each problem, waits for nothing that hangs, and shows no secret', async () => {
  using folder = temporaryFolder()
  const hung = createServer(() => {})
  await new Promise<void>((resolve) => hung.listen(0, '127.0.0.1', resolve))
  try {
    const config = join(folder.path, 'countersign.yaml')
    const secret = 'sk-proj-abcdefghijklmnopqrstuvwx'
    writeFileSync(
      config,
      `
agents: { desk: { model: openai/gpt-5-mini, tools: ["shop.*"] } }
tools:
  shop:
    routes:
      baseUrl: http://127.0.0.1:${(hung.address() as AddressInfo).port}
      headers: { authorization: "Bearer ${secret}", x-other: "\${SHOP_TOKEN}" }
      tools: { refund: ${JSON.stringify(route)} }
  gone: { routes: { baseUrl: "http://127.0.0.1:9", tools: { look: { method: GET, path: /look } } } }
policy: { rules: [{ name: reads of refunds, match: { tool: shop.refund, effect: read }, verdict: allow }] }
`,
    )
    const found = await examine({ config, data: folder.path, timeout: '20' }, { SHOP_TOKEN: 'hidden-value-of-the-shop' })
    for (const words of [
      /PROBLEM {2}secrets in countersign\.yaml: line 7 holds what looks like a key of OpenAI or Anthropic/,
      /PROBLEM {2}routes to http:\/\/127\.0\.0\.1:\d+: did not answer within 20 s/,
      /PROBLEM {2}routes to http:\/\/127\.0\.0\.1:9: .*could not be reached/,
      /PROBLEM {2}model openai\/gpt-5-mini: .*OPENAI_API_KEY/,
      /note {5}policy: the rule "reads of refunds" matches no tool/,
      /note {5}policy: no agent here has gone\.look/,
    ]) {
      expect(found.text).toMatch(words)
    }
    expect(found.text).toContain('4 problems.\n')
    expect(found.problems).toBe(4)
    expect(found.text).not.toMatch(/abcdefghijkl|hidden-value/)
    // The same as a command: the exit code and the JSON output report it.
    const unset = await runCommandLine(['doctor', '--config', config, '--json'], { PATH })
    expect(unset.code).toBe(1)
    expect(JSON.parse(unset.stdout).findings).toContainEqual({
      check: 'configuration',
      level: 'problem',
      message: expect.stringContaining('needs the environment variable SHOP_TOKEN'),
    })
  } finally {
    hung.close()
  }
})

test('a data folder where serve could write nothing is a problem, whether it is there or not', async ({ skip }) => {
  using disk = mountSmallDisk(1_000_000)
  if (!disk) return skip()
  using folder = temporaryFolder()
  const config = join(folder.path, 'countersign.yaml')
  writeFileSync(config, 'tools: {}\n')
  const examined = async (data: string) => (await examine({ config, data }, {})).text
  expect(await examined(disk.path)).not.toContain('cannot be written')
  disk.makeReadOnly()
  for (const data of [disk.path, join(disk.path, 'data')]) {
    expect(await examined(data)).toContain(`PROBLEM  database: the data folder ${data} cannot be written: `)
  }
})

test('a problem of a whole file names the file', async () => {
  using folder = temporaryFolder()
  const config = join(folder.path, 'countersign.yaml')
  writeFileSync(config, 'policy: ./polcy.yaml\n')
  const lost = await runCommandLine(['doctor', '--config', config], { PATH })
  expect(lost.stdout).toContain('PROBLEM  configuration: polcy.yaml: cannot be read (ENOENT)\n')
  const { text } = await examine({ config: join(folder.path, 'gone.yaml'), data: join(folder.path, 'data') }, {})
  expect(text.split('\n').filter((line) => line.includes('gone.yaml'))).toEqual([
    'PROBLEM  configuration: gone.yaml: cannot be read (ENOENT)',
  ])
})

test('a policy to start from is printed for kinds or for a configuration, and can be used as it is', async () => {
  using repository = tempRepository({ 'a.txt': 'a\n' })
  using folder = temporaryFolder()
  const config = join(folder.path, 'countersign.json')
  writeFileSync(config, JSON.stringify({ tools: { repo: { workspace: { root: repository.root } } } }))
  const printed = await starterPolicy([], { config }, { PATH })
  expect(printed).toContain('# repo: the tools of the source workspace')
  const { tools, close } = await loadConfig(config, { PATH })
  const policy = compilePolicy(readPolicy(printed, { tools, agents: [] }), 0)
  const tool = tools.byName('repo.writeFile')
  if (!tool) throw new Error('the workspace has no writeFile')
  const requester = { id: 'prn_somebody', kind: 'person' as const, name: 'Somebody', roles: [] }
  const args = { path: '.github/workflows/ci.yml', content: 'x' }
  const call = { tool, arguments: args, agent: undefined, session: null, requester, nowMs: 0 }
  expect(policy.evaluate(call)).toMatchObject({ verdict: 'ask', risk: 'high' })
  expect(policy.explain(call).filter(({ failed }) => failed !== undefined)).toEqual([])
  await close()
})

test('the policy that the doctor reports is the one in force, also where a person saved it over the one of the file', async () => {
  using folder = temporaryFolder()
  const [config, data] = [join(folder.path, 'countersign.json'), join(folder.path, 'data')]
  const refund = (verdict: 'allow' | 'ask' | 'deny') => ({
    rules: [{ name: `refunds ${verdict}`, match: { tool: 'shop.refund' }, verdict }],
  })
  const written = (verdict: 'allow' | 'ask' | 'deny') => {
    const document = {
      tools: { shop: { routes: { baseUrl: 'http://127.0.0.1:9', tools: { refund: { method: 'POST' as const, path: '/refund' } } } } },
      policy: refund(verdict),
    }
    writeFileSync(config, JSON.stringify(document))
    return document
  }
  const examined = async () => JSON.parse((await examine({ config, data, json: true }, {})).text)
  const document = written('deny')
  {
    await using server = await startTestServer({ config: document, place: { dataDir: data, environment: {} } })
    const one = await examined()
    expect(one.policy).toMatchObject([{ tool: 'shop.refund', would: 'denied' }])
    expect(JSON.stringify(one.findings)).not.toContain('in force')
    const saved = { body: { document: refund('allow'), reason: 'for today' }, headers: { 'if-match': '"1"' } }
    expect((await server.admin.send('PUT', '/api/policy', saved)).status).toBe(200)
  }
  const two = await examined()
  expect(two.policy).toMatchObject([{ tool: 'shop.refund', would: 'runs', rule: 'refunds allow' }])
  expect(two.findings).toContainEqual({
    check: 'policy',
    level: 'note',
    message: 'version 2, which a person saved, is in force, and is reported here: it stays until the policy of the configuration changes',
  })
  written('ask')
  const three = await examined()
  expect(three.policy).toMatchObject([{ tool: 'shop.refund', would: 'asks 1 of approver' }])
  expect(three.findings).toContainEqual({
    check: 'policy',
    level: 'note',
    message: 'version 2 is in force: the policy of the configuration, which is reported here, takes its place at the next start',
  })
})

test('--json is one object with every finding and what policy says of each tool', async () => {
  using repository = tempRepository({ 'a.txt': 'a\n' })
  using folder = temporaryFolder()
  const config = join(folder.path, 'countersign.json')
  writeFileSync(config, JSON.stringify({ tools: { repo: { workspace: { root: repository.root } } } }))
  const { problems, text } = await examine({ config, data: join(folder.path, 'data'), json: true }, {})
  const answer = JSON.parse(text)
  expect(problems).toBe(0)
  expect(answer).toEqual({ problems: 0, findings: expect.any(Array), policy: expect.any(Array) })
  expect(answer.findings).toContainEqual({ check: 'repo (workspace)', level: 'ok', message: `15 tools in ${repository.root}` })
  expect(answer.policy).toContainEqual({
    tool: 'repo.editFile',
    effect: 'write',
    would: 'asks 1 of approver',
    rule: 'default',
    unless: [],
  })
})

test('--models asks each model once: what takes the key is fine, what refuses it is a problem in its own words', async () => {
  using folder = temporaryFolder()
  await using provider = await startReplayServer()
  const body = new TextEncoder().encode(JSON.stringify({ error: { message: 'Incorrect API key provided: key-of-a-test.' } }))
  await Promise.all(
    PROVIDERS.map(async ({ model, api }) => {
      const asked = provider.play([answerWith({ status: 401, contentType: 'application/json', body }), speak(api, { text: 'ok' })])
      const own = join(folder.path, `${model.replace('/', '-')}.json`)
      writeFileSync(own, JSON.stringify({ agents: { desk: { model, tools: [] } } }))
      const look = () =>
        examine({ config: own, data: join(folder.path, 'data'), models: true, json: true }, providerEnvironment(asked.baseUrl))
      const refused = await look()
      expect(JSON.parse(refused.text).findings, model).toContainEqual({
        check: `model ${model}`,
        level: 'problem',
        message: expect.stringMatching(/Incorrect API key provided: \[redacted\]/),
      })
      expect(refused).toMatchObject({ problems: 1, text: expect.not.stringContaining('key-of-a-test') })
      const taken = await look()
      expect(JSON.parse(taken.text).findings, model).toContainEqual({ check: `model ${model}`, level: 'ok', message: 'answers' })
      expect(taken.problems).toBe(0)
      expect(asked.requests).toHaveLength(2)
    }),
  )
})

test('whatever a service says of what it was sent, no secret is in what the doctor prints, and each source that is away is named', async () => {
  using folder = temporaryFolder()
  // Echoes everything that it receives, like a careless service.
  const careless = createHttpServer((request, response) => {
    const all = `${request.url} ${JSON.stringify(request.headers)}`
    const errors = [{ message: all, extensions: { userPresentableMessage: all } }]
    response.writeHead(401, { 'content-type': 'application/json' }).end(JSON.stringify({ message: all, errors, error: { message: all } }))
  })
  await new Promise<void>((resolve) => careless.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(careless.address() as AddressInfo).port}`
  const secrets: Record<string, string> = Object.fromEntries(
    ['MODEL', 'HUB', 'LINEAR', 'SHOP', 'MCP', 'PROGRAM', 'API', 'OIDC', 'DATABASE', 'BOOTSTRAP', 'BRAIN'].map((name) => [
      name,
      `hidden-${name.toLowerCase()}-0123456789abcdef`,
    ]),
  )
  const from = (name: string) => `\${${name}}`
  const document = { openapi: '3.1.0', info: { title: 'a', version: '1' }, paths: { '/x': { get: { operationId: 'x', responses: {} } } } }
  writeFileSync(join(folder.path, 'shouts.mjs'), 'console.error("no:", process.env.TOKEN); process.exit(3)')
  writeFileSync(
    join(folder.path, 'api.json'),
    JSON.stringify({ ...document, components: { securitySchemes: { key: { type: 'http', scheme: 'bearer' } } }, security: [{ key: [] }] }),
  )
  const config = join(folder.path, 'countersign.json')
  writeFileSync(
    config,
    JSON.stringify({
      agents: { desk: { model: 'openai-compatible/m', tools: ['*'] }, brain: { model: `remote/${from('BRAIN_URL')}`, tools: [] } },
      tools: {
        hub: { github: { token: from('HUB'), baseUrl: url } },
        lin: { linear: { apiKey: from('LINEAR'), baseUrl: url } },
        shop: { routes: { baseUrl: url, headers: { authorization: `Bearer ${from('SHOP')}` }, tools: { refund: route } } },
        far: { mcp: { url: `${url}/mcp`, headers: { authorization: `Bearer ${from('MCP')}` } } },
        near: { mcp: { command: process.execPath, args: ['shouts.mjs'], env: { TOKEN: from('PROGRAM') } } },
        api: { openapi: { document: 'api.json', baseUrl: url, auth: { key: from('API') } } },
      },
      signIn: { oidc: { issuer: url, clientId: 'c', clientSecret: from('OIDC') } },
    }),
  )
  const environment = {
    ...secrets,
    BRAIN_URL: `${url}/chat?key=${secrets.BRAIN}`,
    OPENAI_COMPATIBLE_API_KEY: secrets.MODEL,
    OPENAI_COMPATIBLE_BASE_URL: url,
    COUNTERSIGN_BOOTSTRAP_KEY: secrets.BOOTSTRAP,
    DATABASE_URL: `postgres://doctor:${secrets.DATABASE}@127.0.0.1:9/countersign`,
  }
  try {
    const { problems, text } = await examine({ config, models: true }, environment)
    expect(text).not.toMatch(/hidden-/)
    for (const check of ['far (mcp)', 'near (mcp)', 'database', 'api (openapi)', 'lin (linear)', 'hub (github)']) {
      expect(text).toContain(`PROBLEM  ${check}: `)
    }
    expect(text).toMatch(/PROBLEM {2}model openai-compatible\/m: .*\[redacted\]/)
    expect(text).toMatch(/PROBLEM {2}model remote\/http:\/\/127\.0\.0\.1:\d+\/chat: .*\[redacted\]/)
    expect(problems).toBe(8)
  } finally {
    careless.closeAllConnections()
    careless.close()
  }
})
