import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runCommandLine } from '../../../../verification/testing/run-command.ts'
import { startTarget } from '../../../../verification/testing/target.ts'
import { BOOTSTRAP_KEY, startTestServer, temporaryFolder } from '../../../../verification/testing/test-server.ts'
import type { ConfigInput } from '../config/index.ts'

const input = { type: 'object', properties: { amount: {} } }
const tools: NonNullable<ConfigInput['tools']> = {
  shop: { prefix: false, routes: { baseUrl: 'http://127.0.0.1:9', tools: { refund: { method: 'POST', path: '/refund', input } } } },
}

const LARGE = `
rules:
  - name: large refunds need two
    match: { tool: refund, when: args.amount > 500 }
    verdict: ask
    requires: { quorum: 2, roles: [finance] }
  - { name: small refunds run, match: { tool: refund, when: args.amount <= 500 }, verdict: allow }
`

test('a policy is checked and asked from the command line, with exit codes for a pipeline', async () => {
  using folder = temporaryFolder()
  const file = (name: string, text: string | Buffer) => {
    writeFileSync(join(folder.path, name), text)
    return join(folder.path, name)
  }
  const config = file('countersign.json', JSON.stringify({ tools }))
  const policy = file('policy.yaml', LARGE)
  const run = (...args: string[]) => runCommandLine(['policy', ...args, '--config', config])
  const call = (amount: number) => JSON.stringify({ tool: 'refund', arguments: { amount } })
  const [fine, broken, large, small, misses, failing, colon, lost, noCall, misspelt, hidden, latin] = await Promise.all([
    run('check', policy),
    run('check', file('broken.yaml', 'rules: [{ name: x, match: { tool: refnd }, verdict: deny }]')),
    run('test', '--policy', policy, '--call', call(700)),
    run('test', '--policy', policy, '--call', file('call.json', call(5)), '--expect', 'allow'),
    run('test', '--policy', policy, '--call', call(5), '--expect', 'ask'),
    run('test', '--policy', policy, '--call', '{"tool": "refund", "arguments": {"amount": "many"}}'),
    run('check', file('colon.yaml', 'rules:\n  - { name: x, verdict: deny }\n  - name: y\n    reason: Closed: ask support\n')),
    run('check', 'lost.yaml'),
    run('test', '--call', 'lost.json'),
    run('check', file('misspelt.yaml', 'rules: [{ name: x, match: { tool: refund, when: args.amuont > 5 }, verdict: deny }]')),
    run('check', file('hidden.yaml', LARGE.replace('rules:', 'rules:\n  - { name: any refund, match: { tool: refund }, verdict: ask }'))),
    run('check', file('latin.yaml', Buffer.from('rules: [{ name: Löhne, match: { tool: refund }, verdict: deny }]', 'latin1'))),
  ])
  expect(colon).toMatchObject({ code: 1, stderr: expect.stringMatching(/line 4: .*; a text that contains ": " needs quotes/) })
  expect(fine.stdout).not.toContain('Note:')
  expect(misspelt).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('Note: the rule "x" names args.amuont, which refund does not have; it has amount.'),
  })
  expect(hidden.stdout).toContain('Note: the rule "large refunds need two" never decides: "any refund" decides about all of its calls.')
  expect(hidden.stdout).toMatch(
    /Note: the rule "large refunds need two" has requirements .*: the rule "any refund" above matches first: its quorum of 1 applies, not 2.*\. Move it above that rule\./,
  )
  expect(latin).toMatchObject({ code: 1, stderr: expect.stringContaining('latin.yaml: is not UTF-8') })
  expect(lost).toMatchObject({ code: 1, stderr: 'countersign: lost.yaml: cannot be read (ENOENT)\n' })
  expect(noCall).toMatchObject({ code: 1, stderr: expect.stringContaining('--call: is neither a file nor JSON') })
  expect(fine).toMatchObject({ code: 0, stdout: expect.stringContaining('2 rules, ask for everything else.') })
  expect(broken).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(
      'broken.yaml: the policy cannot be used: line 1: rules.0.match.tool: "refnd" fits no tool; there is refund',
    ),
  })
  expect(large).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^ask: The rule "large refunds need two" asks a person\.\n {2}votes: 2 to approve/),
  })
  expect(small).toMatchObject({ code: 0, stdout: expect.stringMatching(/^allow: Allowed by the rule "small refunds run"/) })
  expect(misses).toMatchObject({ code: 1, stdout: expect.stringContaining('Expected ask.') })
  expect(failing).toMatchObject({ code: 0, stdout: expect.stringContaining('condition failed: no such overload') })
})

test('a policy is written, checked and asked beside a configuration whose own policy is missing, empty or wrong', async () => {
  using folder = temporaryFolder()
  const at = (name: string) => join(folder.path, name)
  writeFileSync(at('countersign.json'), JSON.stringify({ tools: { ...tools, goals: { objectives: {} } }, policy: 'policy.yaml' }))
  writeFileSync(at('new.yaml'), LARGE)
  const run = (...args: string[]) => runCommandLine(['policy', ...args, '--config', at('countersign.json')])
  for (const text of [undefined, '', 'rulez: []\n']) {
    if (text !== undefined) writeFileSync(at('policy.yaml'), text)
    const call = JSON.stringify({ tool: 'refund', arguments: { amount: 700 } })
    const [starter, check, test] = await Promise.all([
      run('starter'),
      run('check', at('new.yaml')),
      run('test', '--policy', at('new.yaml'), '--call', call, '--expect', 'ask'),
    ])
    expect([starter.code, starter.stderr, starter.stdout]).toEqual([
      0,
      '',
      expect.stringContaining('goals: the tools of the source objectives'),
    ])
    expect([check.code, check.stderr]).toEqual([0, ''])
    expect([test.code, test.stderr]).toEqual([0, ''])
  }
  expect(await run('test', '--call', '{}')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('policy.yaml: line 1: rulez: is not known'),
  })
})

test('a replay asks a running server, and fails when more would be allowed than was', async () => {
  using folder = temporaryFolder()
  const policy = join(folder.path, 'policy.yaml')
  writeFileSync(policy, LARGE)
  await using server = await startTestServer({ config: { tools } })
  await server.admin.post('/api/actions', { tool: 'refund', arguments: { amount: 5 } })
  await server.admin.post('/api/actions', { tool: 'refund', arguments: { amount: 900 } })
  const run = (...args: string[]) =>
    runCommandLine(['policy', 'test', '--replay', '7d', '--server', server.url, ...args], { COUNTERSIGN_KEY: BOOTSTRAP_KEY })
  const [same, looser] = await Promise.all([run(), run('--policy', policy)])
  expect(same).toMatchObject({ code: 0, stdout: expect.stringContaining('2 actions since ') })
  expect(looser).toMatchObject({ code: 1, stdout: expect.stringMatching(/ask {4}2 → 1\n(.*\n)*.*1 from ask to allow, for example act_/) })
})

test('a replay and an acceptance call the server of COUNTERSIGN_URL, also below a path, with the key of a file', async () => {
  using folder = temporaryFolder()
  const key = join(folder.path, 'key')
  writeFileSync(key, `${BOOTSTRAP_KEY}\n`)
  await using server = await startTestServer({ config: { tools } })
  await using proxy = await startTarget(async ({ method, path, headers: { authorization = '' }, body }) => {
    if (!path.startsWith('/approve/')) return { status: 404 }
    const headers = { authorization, 'content-type': 'application/json' }
    const init = method === 'GET' ? { headers } : { method, headers, body: JSON.stringify(body) }
    const answer = await fetch(server.url + path.slice('/approve'.length), init)
    return { status: answer.status, body: await answer.json() }
  })
  const url = `${proxy.url}/approve`
  for (const args of [
    ['policy', 'test', '--replay', '7d'],
    ['audit', 'accept', '--reason', 'none'],
  ]) {
    const ways: [string[], Record<string, string>][] = [
      [[], { COUNTERSIGN_URL: url, COUNTERSIGN_KEY_FILE: key }],
      [['--url', url, '--key-file', key], {}],
      [['--server', url], { COUNTERSIGN_URL: 'http://127.0.0.1:1', COUNTERSIGN_KEY: BOOTSTRAP_KEY }],
    ]
    for (const [more, environment] of ways)
      expect(await runCommandLine([...args, ...more], environment), `${args[0]} ${more[0]}`).toMatchObject({ code: 0, stderr: '' })
  }
})
