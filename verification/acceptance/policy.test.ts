import { expect, test } from 'vitest'
import { LARGE_POLICY, startPolicyDesk } from '../testing/policy-desk.ts'

test('a saved policy decides about the next call: verdict, requirements, risk, version', async () => {
  await using it = await startPolicyDesk()
  expect(await it.propose('gold')).toMatchObject({
    policy: { verdict: 'ask', rule: 'default', version: 1 },
    risk: { level: 'medium', setBy: 'unverified' },
  })
  const saved = await it.save(LARGE_POLICY)
  expect([saved.status, saved.headers.get('etag')]).toEqual([200, '"2"'])
  expect(saved.body).toMatchObject({ version: 2, inUse: 'force', source: 'api', reason: 'because', author: { id: 'prn_local' } })
  expect(saved.body.changes).toEqual([
    {
      kind: 'added',
      rule: 'two for gold',
      text: expect.stringContaining('verdict: ask, requires: { quorum: 2, roles: [ finance ], notRequester: true }'),
    },
    {
      kind: 'added',
      rule: 'small change',
      text: 'added "small change": { match: { tool: keyed, when: size(args.what) < 4 }, verdict: allow, risk: low }',
    },
    { kind: 'added', rule: 'never lead', text: expect.stringContaining('lead') },
  ])
  expect(saved.body.warnings).toEqual(['"two for gold" waits for the role finance, which nobody has yet'])
  expect(await it.propose('gold')).toMatchObject({
    state: 'proposed',
    policy: { verdict: 'ask', rule: 'two for gold', version: 2, reason: 'The rule "two for gold" asks a person' },
    requires: { quorum: 2, declineQuorum: 1, roles: ['finance'], notRequester: true },
    risk: { level: 'critical', setBy: 'policy', reasons: ['the rule "two for gold" says critical', 'changes data'] },
    expiresAt: expect.any(String),
  })
  expect(await it.propose('tin')).toMatchObject({
    policy: { verdict: 'allow', rule: 'small change' },
    risk: { level: 'low', setBy: 'policy' },
  })
  expect(await it.propose('lead')).toMatchObject({ state: 'declined', policy: { verdict: 'deny', rule: 'never lead' } })
  await it.server.settle()
  expect(it.target.writes).toHaveLength(1)
})

test('a condition that fails asks, and says which and why', async () => {
  await using it = await startPolicyDesk()
  await it.save({ default: 'deny', rules: [{ name: 'broken', match: { tool: 'keyed', when: 'args.weight > 5' }, verdict: 'allow' }] })
  expect(await it.propose('x')).toMatchObject({
    state: 'proposed',
    policy: {
      verdict: 'ask',
      rule: 'broken',
      reason: expect.stringMatching(/"broken".*condition could not be evaluated.*No such key: weight/),
    },
  })
  await it.save({ default: 'ask', rules: [{ name: 'broken', match: { tool: 'keyed', when: 'args.weight > 5' }, verdict: 'deny' }] })
  expect(await it.propose('x')).toMatchObject({ state: 'declined', policy: { verdict: 'deny', rule: 'broken' } })
  expect(it.target.writes).toHaveLength(0)
})

test('what cannot be used is refused with its place, and changes nothing', async () => {
  await using it = await startPolicyDesk()
  const before = await it.server.dump()
  const refused: [unknown, string][] = [
    [{ rules: [{ name: 'x', match: { tool: 'keyd' }, verdict: 'deny' }] }, 'rules.0.match.tool: "keyd" fits no tool'],
    [{ rules: [{ name: 'x', match: { agent: 'desk' }, verdict: 'deny' }] }, 'rules.0.match.agent: "desk" fits no configured agent'],
    [
      { rules: [{ name: 'x', match: { when: 'args.what >' }, verdict: 'deny' }] },
      'rules.0.match.when: it ends where a value or a bracket is missing',
    ],
    [{ rules: [{ name: 'x', match: { when: 'user.admin' }, verdict: 'deny' }] }, 'rules.0.match.when: Unknown variable: user'],
    [{ default: 'allow' }, 'default'],
    [{ rules: [{ name: 'x', match: {}, verdict: 'allow', requires: { quorum: 2 } }] }, 'requires is for rules whose verdict is ask'],
    [
      {
        rules: [
          { name: 'x', match: {}, verdict: 'ask' },
          { name: 'x', match: {}, verdict: 'deny' },
        ],
      },
      '"x" is taken',
    ],
    [{ rulez: [] }, 'rulez'],
    ['rules: [', 'line 1'],
    ['default: ask\ndefault: deny\n', 'unique'],
    [
      'a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: &d [*c, *c]\ne: &e [*d, *d]\nf: &f [*e,*e]\ng: &g [*f,*f]\nh: [*g,*g]\n',
      'the policy cannot be used',
    ],
  ]
  for (const [document, why] of refused) {
    const answer = await it.save(document)
    expect([answer.status, answer.body.code]).toEqual([400, 'bad_request'])
    expect(answer.body.detail).toContain(why)
  }
  expect(await it.server.dump()).toEqual(before)
})

test('nobody overwrites a version that they did not see', async () => {
  await using it = await startPolicyDesk()
  const put = (headers: Record<string, string>) =>
    it.server.admin.send('PUT', '/api/policy', { body: { document: LARGE_POLICY, reason: 'because' }, headers })
  expect((await put({})).body).toMatchObject({ code: 'bad_request', detail: expect.stringContaining('If-Match') })
  expect((await put({ 'if-match': '*' })).status).toBe(400)
  expect((await put({ 'if-match': '"7"' })).body).toMatchObject({ code: 'revision_mismatch', version: 1 })
  const both = await Promise.all([put({ 'if-match': '"1"' }), put({ 'if-match': '"1"' })])
  expect(both.map(({ status }) => status).sort()).toEqual([200, 409])
  expect(
    (await it.server.admin.send('PUT', '/api/policy', { body: { document: LARGE_POLICY }, headers: { 'if-match': '"2"' } })).status,
  ).toBe(400)
})

test('YAML goes in and comes out; versions keep who, why and what changed; a rollback is a new version', async () => {
  await using it = await startPolicyDesk()
  const yaml = await it.server.admin.send('GET', '/api/policy?format=yaml')
  expect([yaml.headers.get('etag'), yaml.headers.get('content-type')]).toEqual(['"1"', 'application/yaml'])
  expect(yaml.text).toBe('default: ask\nrules:\n  - name: reads run\n    match:\n      effect: read\n    verdict: allow\n')
  expect((await it.save(`${yaml.text}  # and nothing else\n  - { name: stop, match: {}, verdict: deny }\n`)).body.version).toBe(2)
  expect(await it.propose('x')).toMatchObject({ state: 'declined', policy: { rule: 'stop', version: 2 } })
  expect(await it.server.admin.get('/api/policy/versions/2')).toMatchObject({
    changes: [{ kind: 'added', rule: 'stop' }],
    reason: 'because',
  })
  const back = await it.server.admin.post('/api/policy/rollback', { version: 1, reason: 'too strict' }, { 'idempotency-key': 'back' })
  expect(back).toMatchObject({ version: 3, changes: [{ kind: 'removed', rule: 'stop' }] })
  expect(await it.server.admin.post('/api/policy/rollback', { version: 1, reason: 'too strict' }, { 'idempotency-key': 'back' })).toEqual(
    back,
  )
  expect(await it.propose('x')).toMatchObject({ state: 'proposed', policy: { version: 3 } })
  const first = await it.server.admin.get('/api/policy/versions?limit=2')
  const rest = await it.server.admin.get(`/api/policy/versions?limit=2&cursor=${first.nextCursor}`)
  expect([...first.items, ...rest.items].map(({ version, source, inUse, reason }) => [version, source, inUse, reason])).toEqual([
    [3, 'api', 'force', 'too strict'],
    [2, 'api', null, 'because'],
    [1, 'file', null, 'The policy of the configuration changed'],
  ])
  expect((await it.server.admin.send('GET', '/api/policy/versions/9')).status).toBe(404)
  expect((await it.server.admin.send('POST', '/api/policy/rollback', { body: { version: 9, reason: 'x' } })).status).toBe(404)
})

test('the text of a policy comes back as it was written, comments included, also after a rollback; what came as data comes as YAML', async () => {
  await using it = await startPolicyDesk()
  const text = async () => (await it.server.admin.send('GET', '/api/policy?format=yaml')).text
  const written =
    '# Ask Ana before you loosen anything.\ndefault: ask\nrules:\n  - { name: stop, match: {}, verdict: deny } # agreed in May\n'
  expect((await it.save(written)).body.version).toBe(2)
  expect(await text()).toBe(written)
  await it.server.restart()
  expect(await text()).toBe(written)
  expect((await it.save({ default: 'deny', rules: [] })).status).toBe(200)
  expect(await text()).toBe('default: deny\nrules: []\n')
  await it.server.admin.post('/api/policy/rollback', { version: 2, reason: 'back' })
  expect(await text()).toBe(written)
  expect(await it.propose('x')).toMatchObject({ state: 'declined', policy: { rule: 'stop', version: 4 } })
})

test('what people saved survives a restart; the file comes into force again only when it changes', async () => {
  await using it = await startPolicyDesk()
  await it.save(LARGE_POLICY)
  await it.server.restart()
  expect(await it.server.admin.get('/api/policy')).toMatchObject({ version: 2, source: 'api', document: LARGE_POLICY })
})

test('a document that was not saved is checked: what keeps it from being used, likely mistakes, and dead rules, each with its place', async () => {
  await using it = await startPolicyDesk()
  const before = await it.server.dump()
  const check = (document: unknown) => it.server.admin.post('/api/policy/check', { document })
  const rule = (when: string, more: object = {}) => ({ name: when, match: { tool: 'keyed', when }, verdict: 'ask', ...more })
  expect(await check(LARGE_POLICY)).toMatchObject({ problems: [], rules: [{ rule: 'reads run' }, { never: null }, {}, {}] })
  expect(await check({ rules: [rule('args.what ==')] })).toMatchObject({
    problems: [{ path: 'rules.0.match.when', message: 'it ends where a value or a bracket is missing (at character 13)', at: 12 }],
  })
  expect(await check({ rules: [rule('user.name == "x"')] })).toMatchObject({
    problems: [{ path: 'rules.0.match.when', message: 'Unknown variable: user (at character 1)', at: 0 }],
  })
  expect(await check({ rules: [rule('agent.nmae == "x"')] })).toMatchObject({
    problems: [{ message: 'agent has no nmae; it has name (at character 7)', at: 6 }],
  })
  expect(await check({ rules: [rule('args.whut == "x"', { requires: { roles: ['treasury'] } })] })).toMatchObject({
    problems: [],
    warnings: [
      { path: 'rules.0.requires.roles', message: 'waits for the role treasury, which nobody has yet', at: null },
      { path: 'rules.0.match.when', message: 'names args.whut, which keyed does not have; it has what', at: 0 },
    ],
  })
  expect(await check('rules: [')).toMatchObject({ problems: [{ path: '', at: null }], rules: [] })
  expect(await check('default: perhaps')).toMatchObject({ problems: [{ path: 'default' }], warnings: [], rules: [] })
  expect(await it.server.dump()).toEqual(before)
})

test('the names for a condition are the arguments of the tools that its rule is about, the variables and the functions', async () => {
  await using it = await startPolicyDesk()
  const names = await it.server.admin.get('/api/policy/names?tool=keyed')
  expect(names).toMatchObject({ tools: 1, arguments: [{ path: 'args.what', types: ['string'], values: [], tools: 1 }] })
  expect(names.variables).toContainEqual({ name: 'agent', type: 'map<string, string>', fields: ['name'] })
  expect(names.functions).toContainEqual(expect.objectContaining({ name: 'has', on: 'call', example: 'has(args.name)' }))
  expect(await it.server.admin.get('/api/policy/names?tool=nothing')).toMatchObject({ tools: 0, arguments: [] })
})

test('only an admin changes the policy, any person with a role reads it, programs do neither', async () => {
  await using it = await startPolicyDesk()
  const { server } = it
  const readers = [
    await server.as({ name: 'V', kind: 'person', roles: ['viewer'] }),
    await server.as({ name: 'A', kind: 'person', roles: ['approver'] }),
  ]
  const programs = [
    await server.as({ name: 'bot', kind: 'agent', roles: ['agent'] }),
    await server.as({ name: 'job', kind: 'service', roles: [] }),
  ]
  const nobody = await server.as({ name: 'N', kind: 'person', roles: [] })
  await it.save(LARGE_POLICY, { shadow: true })
  /** Returns what a read must not change. Keys are left out because the server stores when they were last used. */
  const kept = async () => {
    const { policy_version, policy_difference, audit } = await server.dump()
    return { policy_version, policy_difference, audit }
  }
  const before = await kept()
  const reads = ['', '?format=yaml', '/versions', '/versions/1', '/shadow', '/names'].map((path) => `/api/policy${path}`)
  const test = { call: { tool: 'keyed', arguments: { what: 'x' } } }
  for (const who of [...readers, ...programs, nobody]) {
    const mayRead = readers.includes(who)
    for (const path of reads) expect([path, (await who.send('GET', path)).status]).toEqual([path, mayRead ? 200 : 403])
    expect((await who.send('POST', '/api/policy/test', { body: test })).status).toBe(mayRead ? 200 : 403)
    expect((await who.send('POST', '/api/policy/check', { body: { document: LARGE_POLICY } })).status).toBe(mayRead ? 200 : 403)
    expect((await it.save({}, {}, who)).status).toBe(403)
    expect((await who.send('POST', '/api/policy/rollback', { body: { version: 1, reason: 'x' } })).status).toBe(403)
    expect((await who.send('DELETE', '/api/policy/shadow')).status).toBe(403)
  }
  expect(await kept()).toEqual(before)
})
