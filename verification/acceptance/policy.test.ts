import type { PolicyDocument } from '@countersign/core'
import { expect, test } from 'vitest'
import { startTarget, toolsOf } from '../testing/target.ts'
import { startTestServer } from '../testing/test-server.ts'

const FILE = { rules: [{ name: 'reads run', match: { effect: 'read' }, verdict: 'allow' }] } as const

async function start() {
  const target = await startTarget(() => ({ status: 200, body: { id: 4 } }))
  const server = await startTestServer({ config: { tools: toolsOf(target), policy: { ...FILE, rules: [...FILE.rules] } } })
  const propose = (what: string, tool = 'keyed', by = server.admin) => by.post('/api/actions', { tool, arguments: { what } })
  /** Saves a new version on top of the one in force. */
  const save = async (document: unknown, more: object = {}, by = server.admin) => {
    const { version } = await server.admin.get('/api/policy')
    return by.send('PUT', '/api/policy', { body: { document, reason: 'because', ...more }, headers: { 'if-match': `"${version}"` } })
  }
  return {
    target,
    server,
    propose,
    save,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      await target[Symbol.asyncDispose]()
    },
  }
}

const LARGE: PolicyDocument = {
  default: 'ask',
  rules: [
    { name: 'reads run', match: { effect: 'read' }, verdict: 'allow' },
    {
      name: 'two for gold',
      match: { tool: 'keyed', when: 'args.what.contains("gold")' },
      verdict: 'ask',
      requires: { quorum: 2, roles: ['finance'], notRequester: true },
      risk: 'critical',
      expires: 'PT1H',
    },
    { name: 'small change', match: { tool: 'keyed', when: 'size(args.what) < 4' }, verdict: 'allow', risk: 'low' },
    { name: 'never lead', match: { when: 'args.what == "lead"' }, verdict: 'deny' },
  ],
}

test('a saved policy decides about the next call: verdict, requirements, risk, version', async () => {
  await using it = await start()
  expect(await it.propose('gold')).toMatchObject({
    policy: { verdict: 'ask', rule: 'default', version: 1 },
    risk: { level: 'medium', setBy: 'unverified' },
  })
  const saved = await it.save(LARGE)
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
  await using it = await start()
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
  await using it = await start()
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
  await using it = await start()
  const put = (headers: Record<string, string>) =>
    it.server.admin.send('PUT', '/api/policy', { body: { document: LARGE, reason: 'because' }, headers })
  expect((await put({})).body).toMatchObject({ code: 'bad_request', detail: expect.stringContaining('If-Match') })
  expect((await put({ 'if-match': '*' })).status).toBe(400)
  expect((await put({ 'if-match': '"7"' })).body).toMatchObject({ code: 'revision_mismatch', version: 1 })
  const both = await Promise.all([put({ 'if-match': '"1"' }), put({ 'if-match': '"1"' })])
  expect(both.map(({ status }) => status).sort()).toEqual([200, 409])
  expect((await it.server.admin.send('PUT', '/api/policy', { body: { document: LARGE }, headers: { 'if-match': '"2"' } })).status).toBe(400)
})

test('YAML goes in and comes out; versions keep who, why and what changed; a rollback is a new version', async () => {
  await using it = await start()
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
  await using it = await start()
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
  await using it = await start()
  await it.save(LARGE)
  await it.server.restart()
  expect(await it.server.admin.get('/api/policy')).toMatchObject({ version: 2, source: 'api', document: LARGE })
})

test('a version that is tried decides nothing; what it would have said otherwise is counted', async () => {
  await using it = await start()
  expect((await it.server.admin.send('GET', '/api/policy/shadow')).status).toBe(404)
  const tried = await it.save(LARGE, { shadow: true })
  expect([tried.body.inUse, tried.headers.get('etag')]).toEqual(['shadow', '"1"'])
  const lead = await it.propose('lead')
  const tin = await it.propose('tin')
  const gold = await it.propose('gold')
  await it.propose('silver')
  for (const action of [lead, tin, gold]) expect(action).toMatchObject({ state: 'proposed', policy: { rule: 'default', version: 1 } })
  expect(await it.server.admin.get('/api/policy')).toMatchObject({ version: 1, shadow: { version: 2 } })
  const report = await it.server.admin.get('/api/policy/shadow')
  expect(report).toMatchObject({
    version: 2,
    evaluated: 4,
    differences: 3,
    counts: [
      { was: 'ask', wouldBe: 'allow', count: 1 },
      { was: 'ask', wouldBe: 'ask', count: 1 },
      { was: 'ask', wouldBe: 'deny', count: 1 },
    ],
  })
  expect(report.samples.map(({ actionId, wouldBe, rule }: Record<string, string>) => [actionId, wouldBe, rule])).toEqual([
    [gold.id, 'ask', 'two for gold'],
    [tin.id, 'allow', 'small change'],
    [lead.id, 'deny', 'never lead'],
  ])
  // Saving the tried policy puts it in force and ends its shadow.
  expect((await it.save(LARGE)).body).toMatchObject({ version: 3, inUse: 'force' })
  expect(await it.server.admin.get('/api/policy')).toMatchObject({ version: 3, shadow: null })
  const [triedVersion, promoted] = await Promise.all([2, 3].map((version) => it.server.admin.get(`/api/policy/versions/${version}`)))
  expect(promoted.changes).toEqual(triedVersion.changes)
  expect(promoted.changes).not.toEqual([])
  expect(await it.propose('lead')).toMatchObject({ state: 'declined' })
  await it.save(FILE, { shadow: true })
  expect((await it.server.admin.send('DELETE', '/api/policy/shadow')).status).toBe(200)
  expect((await it.server.admin.send('DELETE', '/api/policy/shadow')).status).toBe(404)
})

test('a trial is not put in force over a version that was saved since it began; what both say is saved on top of that one', async () => {
  await using it = await start()
  const { admin } = it.server
  const stop = { default: 'ask', rules: [{ name: 'stop', match: { tool: 'keyed' }, verdict: 'deny' }] } as const
  await it.save(LARGE, { shadow: true })
  expect(await admin.get('/api/policy/shadow')).toMatchObject({ version: 2, basedOn: 1 })
  await it.save(stop)
  const activate = () => admin.send('POST', '/api/policy/rollback', { body: { version: 2, reason: 'it was tried' } })
  const refused = await activate()
  expect([refused.status, refused.body]).toMatchObject([
    409,
    {
      code: 'revision_mismatch',
      version: 3,
      detail: expect.stringMatching(/^version 3 of the policy came into force since version 2 was put on trial beside version 1: save /),
    },
  ])
  expect(await admin.get('/api/policy')).toMatchObject({ version: 3, document: stop, shadow: { version: 2 } })
  const both = { ...LARGE, rules: [...LARGE.rules, ...stop.rules] }
  await it.save(both, { shadow: true })
  expect(await admin.get('/api/policy/shadow')).toMatchObject({ version: 4, basedOn: 3 })
  expect(await admin.post('/api/policy/rollback', { version: 4, reason: 'it was tried' })).toMatchObject({ version: 5, inUse: 'force' })
  expect(await admin.get('/api/policy')).toMatchObject({ document: both, shadow: null })
  // A version that is not on trial is what somebody goes back to, whatever came after it.
  expect((await activate()).body).toMatchObject({ version: 6, inUse: 'force' })
})

test('a pasted call, and the calls of the last days, are held against any version, and nothing happens', async () => {
  await using it = await start()
  const actions = [await it.propose('lead'), await it.propose('tin'), await it.propose('silver')]
  const before = await it.server.dump()
  const ask = (body: object) => it.server.admin.post('/api/policy/test', body)
  const call = { tool: 'keyed', arguments: { what: 'gold' } }
  expect(await ask({ call })).toMatchObject({ verdict: 'ask', rule: 'default', version: 1, rules: [{ rule: 'reads run', matches: false }] })
  expect(await ask({ call, document: LARGE })).toMatchObject({
    verdict: 'ask',
    rule: 'two for gold',
    version: null,
    risk: 'critical',
    requires: { quorum: 2 },
    rules: [{ matches: false }, { rule: 'two for gold', matches: true }, { rule: 'small change', matches: false }, { matches: false }],
  })
  const when = '"trainee" in requester.roles'
  const byRole = { rules: [{ name: 'not you', match: { when }, verdict: 'deny' }] }
  expect(await ask({ call: { ...call, requester: { roles: ['trainee'] } }, document: byRole })).toMatchObject({ verdict: 'deny' })
  expect(await ask({ call, document: byRole })).toMatchObject({ verdict: 'ask' })
  expect(await ask({ replay: { days: 1 }, document: LARGE })).toMatchObject({
    evaluated: 3,
    skipped: 0,
    truncated: false,
    was: { allow: 0, ask: 3, deny: 0 },
    wouldBe: { allow: 1, ask: 1, deny: 1 },
    changes: expect.arrayContaining([
      { was: 'ask', wouldBe: 'deny', count: 1, actionIds: [actions[0].id] },
      { was: 'ask', wouldBe: 'allow', count: 1, actionIds: [actions[1].id] },
    ]),
  })
  expect(await ask({ replay: { days: 1, limit: 2 } })).toMatchObject({ evaluated: 2, truncated: true, changes: [] })
  for (const [body, status] of [
    [{ call: { tool: 'nothing' } }, 404],
    [{ call: { tool: 'keyed', arguments: { whit: 1 } } }, 422],
    [{ call, version: 9 }, 404],
    [{ call, version: 1, document: LARGE }, 400],
    [{ call, document: 'rules: [' }, 400],
    [{ replay: { days: 0 } }, 400],
    [{}, 400],
  ] as const) {
    expect([body, (await it.server.admin.send('POST', '/api/policy/test', { body })).status]).toEqual([body, status])
  }
  expect(await it.server.dump()).toEqual(before)
})

test('a document that was not saved is checked: what keeps it from being used, likely mistakes, and dead rules, each with its place', async () => {
  await using it = await start()
  const before = await it.server.dump()
  const check = (document: unknown) => it.server.admin.post('/api/policy/check', { document })
  const rule = (when: string, more: object = {}) => ({ name: when, match: { tool: 'keyed', when }, verdict: 'ask', ...more })
  expect(await check(LARGE)).toMatchObject({ problems: [], rules: [{ rule: 'reads run' }, { never: null }, {}, {}] })
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
  await using it = await start()
  const names = await it.server.admin.get('/api/policy/names?tool=keyed')
  expect(names).toMatchObject({ tools: 1, arguments: [{ path: 'args.what', types: ['string'], values: [], tools: 1 }] })
  expect(names.variables).toContainEqual({ name: 'agent', type: 'map<string, string>', fields: ['name'] })
  expect(names.functions).toContainEqual(expect.objectContaining({ name: 'has', on: 'call', example: 'has(args.name)' }))
  expect(await it.server.admin.get('/api/policy/names?tool=nothing')).toMatchObject({ tools: 0, arguments: [] })
})

test('a replay and the report of a trial tell nobody about actions that they may not see', async () => {
  await using it = await start()
  const { server } = it
  await it.save({ rules: [{ name: 'pay', match: { tool: 'keyed' }, verdict: 'ask', requires: { roles: ['finance'] } }] })
  await it.save(LARGE, { shadow: true })
  const [fay, sal] = [
    await server.as({ name: 'Fay', kind: 'person', roles: ['finance'] }),
    await server.as({ name: 'Sal', kind: 'person', roles: ['sales'] }),
  ]
  const { id } = await it.propose('lead')
  expect((await sal.send('GET', `/api/actions/${id}`)).status).toBe(404)

  // A condition of their own choice would read the arguments of everybody, letter by letter.
  const guess = { rules: [{ name: 'guess', match: { when: 'args.what.startsWith("le")' }, verdict: 'deny' }] }
  const replay = (who: typeof server.admin) => who.post('/api/policy/test', { replay: { days: 1 }, document: guess })
  const change = { was: 'ask', wouldBe: 'deny', count: 1, actionIds: [id] }
  for (const who of [fay, server.admin]) expect(await replay(who)).toMatchObject({ evaluated: 1, changes: [change] })
  expect(await replay(sal)).toMatchObject({ evaluated: 0, skipped: 0, truncated: false, was: { ask: 0 }, changes: [] })

  const report = (who: typeof server.admin) => who.get('/api/policy/shadow')
  for (const who of [fay, server.admin]) expect(await report(who)).toMatchObject({ differences: 1, samples: [{ actionId: id }] })
  expect(await report(sal)).toMatchObject({ evaluated: 0, differences: 0, counts: [], samples: [] })
})

test('the report of a trial counts for each person the actions that they may see', async () => {
  await using it = await start()
  const { server } = it
  const rule = (name: string, what: string, role: string) => ({
    ...{ name, match: { when: `args.what == "${what}"` }, verdict: 'ask', requires: { roles: [role] } },
  })
  await it.save({ rules: [rule('pay', 'lead', 'finance'), rule('sell', 'tin', 'sales'), rule('store', 'silver', 'sales')] })
  await it.save(LARGE, { shadow: true })
  const people = [
    await server.as({ name: 'Fay', kind: 'person', roles: ['finance'] }),
    await server.as({ name: 'Sal', kind: 'person', roles: ['sales'] }),
    await server.as({ name: 'Vic', kind: 'person', roles: ['viewer'] }),
  ]
  for (const what of ['lead', 'tin', 'silver']) await it.propose(what)
  const [deny, allow] = (['deny', 'allow'] as const).map((wouldBe) => ({ was: 'ask', wouldBe, count: 1 }))
  const reports = await Promise.all(people.map((who) => who.get('/api/policy/shadow')))
  expect(reports).toMatchObject([
    { evaluated: 1, differences: 1, counts: [deny], samples: [{ wouldBe: 'deny' }] },
    { evaluated: 2, differences: 2, counts: [allow, { was: 'ask', wouldBe: 'ask', count: 1 }], samples: [{}, { wouldBe: 'allow' }] },
    { evaluated: 3, differences: 3 },
  ])
})

test('only an admin changes the policy, any person with a role reads it, programs do neither', async () => {
  await using it = await start()
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
  await it.save(LARGE, { shadow: true })
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
    expect((await who.send('POST', '/api/policy/check', { body: { document: LARGE } })).status).toBe(mayRead ? 200 : 403)
    expect((await it.save({}, {}, who)).status).toBe(403)
    expect((await who.send('POST', '/api/policy/rollback', { body: { version: 1, reason: 'x' } })).status).toBe(403)
    expect((await who.send('DELETE', '/api/policy/shadow')).status).toBe(403)
  }
  expect(await kept()).toEqual(before)
})
