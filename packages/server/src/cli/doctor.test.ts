import { existsSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runCommandLine } from '../testing/run-command.ts'
import { startTarget } from '../testing/target.ts'
import { temporaryFolder } from '../testing/test-server.ts'
import { tempRepository } from '../testing/workspace.ts'

const PATH = process.env.PATH ?? ''
const route = { method: 'POST', path: '/refund', input: { type: 'object', properties: {} } }

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
  const words = await runCommandLine(['doctor', '--config', config, '--data', data], { PATH })
  expect(words.stdout).toContain('14 tools in ')
  expect(words.stdout).toMatch(/repo\.commit +write +asks 1 of approver {2}\("default"\)/)
  expect(words.stdout).toMatch(
    /shop\.refund +write +asks 2 of finance, high risk {2}\("two for a refund"; otherwise where "never on Sundays" says so\)/,
  )
  expect(words.stdout).toContain('Nothing is wrong.\n')
  expect(words).toMatchObject({ code: 0, stderr: '' })
  expect(words.stdout).toContain(`routes to ${service.url}: answers (404)\n`)
  expect(words.stdout).toContain('has no data yet')
  // Only a look, without anything of ours, and nothing made.
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
    const environment = { PATH, SHOP_TOKEN: 'hidden-value-of-the-shop' }
    const found = await runCommandLine(['doctor', '--config', config, '--data', folder.path, '--timeout', '1'], environment)
    expect(found.code).toBe(1)
    for (const words of [
      /PROBLEM {2}secrets in countersign\.yaml: line 7 holds what looks like a key of OpenAI or Anthropic/,
      /PROBLEM {2}routes to http:\/\/127\.0\.0\.1:\d+: .*did not answer|did not answer within 1 s/,
      /PROBLEM {2}routes to http:\/\/127\.0\.0\.1:9: .*could not be reached/,
      /PROBLEM {2}model openai\/gpt-5-mini: .*OPENAI_API_KEY/,
      /note {5}policy: the rule "reads of refunds" is for no tool that there is/,
      /note {5}policy: no agent here has gone\.look/,
    ]) {
      expect(found.stdout).toMatch(words)
    }
    expect(found.stdout).toContain('4 problems.\n')
    expect(found.stdout + found.stderr).not.toMatch(/abcdefghijkl|hidden-value/)
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

test('a policy to start from is printed for kinds or for a configuration, and can be used as it is', async () => {
  using repository = tempRepository({ 'a.txt': 'a\n' })
  using folder = temporaryFolder()
  const config = join(folder.path, 'countersign.json')
  writeFileSync(config, JSON.stringify({ tools: { repo: { workspace: { root: repository.root } } } }))
  const printed = await runCommandLine(['policy', 'starter', '--config', config], { PATH })
  expect(printed).toMatchObject({ code: 0, stdout: expect.stringContaining('# repo: the tools of the source workspace') })
  const policy = join(folder.path, 'policy.yaml')
  writeFileSync(policy, printed.stdout)
  const call = JSON.stringify({ tool: 'repo.writeFile', arguments: { path: '.github/workflows/ci.yml', content: 'x' } })
  const asked = await runCommandLine(['policy', 'test', '--policy', policy, '--config', config, '--call', call], { PATH })
  expect(asked.stdout).toMatch(/^ask: [\s\S]*risk: high/)
  expect(asked.stdout).not.toContain('condition failed')
})
