import { expect, test } from 'vitest'
import { FILE_POLICY, LARGE_POLICY, startPolicyDesk } from '../testing/policy-desk.ts'

test('a version that is tried decides nothing; what it would have said otherwise is counted', async () => {
  await using it = await startPolicyDesk()
  expect((await it.server.admin.send('GET', '/api/policy/shadow')).status).toBe(404)
  const tried = await it.save(LARGE_POLICY, { shadow: true })
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
  expect((await it.save(LARGE_POLICY)).body).toMatchObject({ version: 3, inUse: 'force' })
  expect(await it.server.admin.get('/api/policy')).toMatchObject({ version: 3, shadow: null })
  const [triedVersion, promoted] = await Promise.all([2, 3].map((version) => it.server.admin.get(`/api/policy/versions/${version}`)))
  expect(promoted.changes).toEqual(triedVersion.changes)
  expect(promoted.changes).not.toEqual([])
  expect(await it.propose('lead')).toMatchObject({ state: 'declined' })
  await it.save(FILE_POLICY, { shadow: true })
  expect((await it.server.admin.send('DELETE', '/api/policy/shadow')).status).toBe(200)
  expect((await it.server.admin.send('DELETE', '/api/policy/shadow')).status).toBe(404)
})

test('a trial is not put in force over a version that was saved since it began; what both say is saved on top of that one', async () => {
  await using it = await startPolicyDesk()
  const { admin } = it.server
  const stop = { default: 'ask', rules: [{ name: 'stop', match: { tool: 'keyed' }, verdict: 'deny' }] } as const
  await it.save(LARGE_POLICY, { shadow: true })
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
  const both = { ...LARGE_POLICY, rules: [...LARGE_POLICY.rules, ...stop.rules] }
  await it.save(both, { shadow: true })
  expect(await admin.get('/api/policy/shadow')).toMatchObject({ version: 4, basedOn: 3 })
  expect(await admin.post('/api/policy/rollback', { version: 4, reason: 'it was tried' })).toMatchObject({ version: 5, inUse: 'force' })
  expect(await admin.get('/api/policy')).toMatchObject({ document: both, shadow: null })
  // A version that is not on trial is what somebody goes back to, whatever came after it.
  expect((await activate()).body).toMatchObject({ version: 6, inUse: 'force' })
})

test('a pasted call, and the calls of the last days, are held against any version, and nothing happens', async () => {
  await using it = await startPolicyDesk()
  const actions = [await it.propose('lead'), await it.propose('tin'), await it.propose('silver')]
  const before = await it.server.dump()
  const ask = (body: object) => it.server.admin.post('/api/policy/test', body)
  const call = { tool: 'keyed', arguments: { what: 'gold' } }
  expect(await ask({ call })).toMatchObject({ verdict: 'ask', rule: 'default', version: 1, rules: [{ rule: 'reads run', matches: false }] })
  expect(await ask({ call, document: LARGE_POLICY })).toMatchObject({
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
  expect(await ask({ replay: { days: 1 }, document: LARGE_POLICY })).toMatchObject({
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
    [{ call, version: 1, document: LARGE_POLICY }, 400],
    [{ call, document: 'rules: [' }, 400],
    [{ replay: { days: 0 } }, 400],
    [{}, 400],
  ] as const) {
    expect([body, (await it.server.admin.send('POST', '/api/policy/test', { body })).status]).toEqual([body, status])
  }
  expect(await it.server.dump()).toEqual(before)
})

test('a replay and the report of a trial tell nobody about actions that they may not see', async () => {
  await using it = await startPolicyDesk()
  const { server } = it
  await it.save({ rules: [{ name: 'pay', match: { tool: 'keyed' }, verdict: 'ask', requires: { roles: ['finance'] } }] })
  await it.save(LARGE_POLICY, { shadow: true })
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
  await using it = await startPolicyDesk()
  const { server } = it
  const rule = (name: string, what: string, role: string) => ({
    ...{ name, match: { when: `args.what == "${what}"` }, verdict: 'ask', requires: { roles: [role] } },
  })
  await it.save({ rules: [rule('pay', 'lead', 'finance'), rule('sell', 'tin', 'sales'), rule('store', 'silver', 'sales')] })
  await it.save(LARGE_POLICY, { shadow: true })
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
