import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import {
  type Action,
  type Grant,
  type GrantBody,
  isCountersignError,
  type PolicyDocument,
  type Principal,
  type Remember,
  ToolError,
} from '@countersign/core'
import { type CodedTool, defineTool } from '@countersign/toolkit'
import { expect, test } from 'vitest'
import { openBareGate, rowOf } from '../../../../../verification/testing/bare-gate.ts'
import { hurriedClock } from '../../../../../verification/testing/open-gate.ts'
import { openTempSqlite } from '../../../../../verification/testing/temp-store.ts'
import { compilePolicy, fixedPolicies, type Policies } from '../../policy/index.ts'
import { type GrantRow, grants, principals } from '../../store/index.ts'

const person = (name: string, ...roles: string[]): Principal => ({ id: `prn_${name}`, kind: 'person', name, roles })
const ana = person('ana', 'approver')
const cy = person('cy', 'admin')
const fay = person('fay', 'finance')
const bot: Principal = { id: 'prn_bot', kind: 'agent', name: 'bot', roles: ['agent'] }
const anasBot: Principal = { id: 'prn_anas', kind: 'agent', name: 'anas', roles: ['agent'], personId: ana.id }
const DAY_MS = 86_400_000

const tool = (name: string, description = name, credentials: Record<string, string> = {}): CodedTool =>
  defineTool({ name, description, effect: 'write', input: { type: 'object' }, execute: () => null, credentials })

const RULES: PolicyDocument['rules'] = [
  { name: 'big', match: { tool: 'own.wire' }, verdict: 'ask', risk: 'high' },
  { name: 'two', match: { tool: 'own.two' }, verdict: 'ask', requires: { quorum: 2 } },
  { name: 'not yourself', match: { tool: 'own.hire' }, verdict: 'ask', requires: { notRequester: true } },
  { name: 'finance', match: { tool: 'own.credit' }, verdict: 'ask', requires: { roles: ['finance'] } },
]

async function open(tools = ['send', 'ship', 'wire', 'two', 'hire', 'credit'].map((name) => tool(name))) {
  const temp = await openTempSqlite()
  let nowMs = Date.UTC(2026, 0, 1)
  const policyOf = (rules: PolicyDocument['rules']) => fixedPolicies(compilePolicy({ default: 'ask', rules }, 1))
  let now = policyOf(RULES)
  const policies: Policies = {
    get current() {
      return now.current
    },
    get shadow() {
      return now.shadow
    },
    inForce: () => now.inForce(),
  }
  const clock = { ...hurriedClock, nowMs: () => nowMs }
  const gateOver = (own: readonly CodedTool[]) => openBareGate(temp.store, own, 'prc_1', { ...clock, policies })
  const gate = gateOver(tools)
  await temp.store.transact(function* () {
    for (const one of [ana, cy, fay, bot, anasBot]) yield* principals.savePrincipal(one, 1)
  })
  const propose = (name: string, args: Record<string, unknown> = {}, by = bot, agent?: string): Promise<Action> =>
    gate.propose({ tool: `own.${name}`, arguments: args as never, ...(agent !== undefined && { agent }) }, { principal: by })
  const grant = (actionId: string, terms: Partial<Remember> = {}, by = ana): Promise<Grant> =>
    gate.createGrant(
      { actionId, scope: 'agent', expiresIn: 'P1D', ...(terms.when === undefined && { exact: true }), ...terms },
      { principal: by },
    )
  return {
    ...temp,
    gate,
    gateOver,
    propose,
    grant,
    pass: (ms: number) => {
      nowMs += ms
    },
    setRules: (next: PolicyDocument['rules']) => {
      now = policyOf(next)
    },
    save: (one: Principal) => temp.store.transact(() => principals.savePrincipal(one, 1)),
    [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose](),
  }
}

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: unknown) => (isCountersignError(error) ? error.code : String(error)),
  )

test('what is remembered with an approval is not asked again: exactly these arguments, and says by which grant', async () => {
  await using desk = await open()
  const first = await desk.propose('send', { to: 'acme', cents: 5 })
  await desk.gate.decide(first.id, { verdict: 'approve', remember: { scope: 'agent', expiresIn: 'P1D', exact: true } }, { principal: ana })
  const again = await desk.propose('send', { cents: 5, to: 'acme' })
  expect(again).toMatchObject({ state: 'approved', policy: { verdict: 'allow', rule: expect.stringMatching(/^grant gra_/) } })
  expect(again.policy.reason).toContain('ana')
  expect((await desk.propose('send', { to: 'acme', cents: 6 })).state).toBe('proposed')
  expect((await desk.propose('send', { to: 'acme', cents: 5, urgent: true })).state).toBe('proposed')
  expect((await desk.propose('ship', { to: 'acme', cents: 5 })).state).toBe('proposed')
  const row = await desk.store.read(() => grants.findGrant.first({ id: again.policy.rule.slice('grant '.length) }))
  expect(row).toMatchObject({ used: 1, last_used_at: Date.UTC(2026, 0, 1), made_by: ana.id })
})

test('a condition allows what it is true of, and asks where it is false, fails, or gives no answer', async () => {
  await using desk = await open()
  const first = await desk.propose('send', { cents: 5 })
  await desk.grant(first.id, { when: 'args.cents <= 100' })
  expect((await desk.propose('send', { cents: 100 })).state).toBe('approved')
  expect((await desk.propose('send', { cents: 101 })).state).toBe('proposed')
  expect((await desk.propose('send', { cents: 'many' })).state).toBe('proposed')
  expect((await desk.propose('send', {})).state).toBe('proposed')
  expect(await codeOf(desk.grant(first.id, { when: 'args.cents <=' }))).toBe('bad_request')
  expect(await codeOf(desk.grant(first.id, { when: 'args.cents.matches("(a+)+$")' }))).toBe('bad_request')
})

test('a grant ends: by its time, by its uses, by its revocation, with its tool', async () => {
  await using desk = await open()
  const first = await desk.propose('send')
  const short = await desk.grant(first.id, { expiresIn: 'PT1H', uses: 2 })
  expect([(await desk.propose('send')).state, (await desk.propose('send')).state]).toEqual(['approved', 'approved'])
  expect((await desk.propose('send')).state, 'used up').toBe('proposed')
  const timed = await desk.grant(first.id, { expiresIn: 'PT1H' })
  desk.pass(3_600_000)
  expect((await desk.propose('send')).state, 'over').toBe('proposed')
  const revoked = await desk.grant(first.id)
  expect((await desk.propose('send')).state).toBe('approved')
  expect(await desk.gate.revokeGrant(revoked.id, { principal: cy })).toMatchObject({ state: 'revoked', revokedBy: { id: cy.id } })
  expect((await desk.propose('send')).state, 'revoked').toBe('proposed')
  await desk.grant(first.id)
  const changed = desk.gateOver([tool('send', 'pays somebody else')])
  expect((await changed.propose({ tool: 'own.send', arguments: {} }, { principal: bot })).state, 'another tool').toBe('proposed')
  expect((await desk.propose('send')).state).toBe('approved')
  expect(new Set([short.id, timed.id, revoked.id]).size).toBe(3)
})

test('a grant is for the rights with which its tool acts: with another credential, its calls need approval', async () => {
  const send = (token: string) => tool('send', 'send', { token })
  await using desk = await open([send('token of the first account')])
  const made = await desk.grant((await desk.propose('send')).id)
  expect((await desk.propose('send')).state).toBe('approved')
  const other = desk.gateOver([send('token of another account')])
  expect((await other.propose({ tool: 'own.send', arguments: {} }, { principal: bot })).state).toBe('proposed')
  expect((await desk.propose('send')).state).toBe('approved')

  // A grant of an earlier version remembers the definition alone, and holds until it ends.
  await desk.gate.revokeGrant(made.id, { principal: ana })
  const row = await desk.store.read(() => grants.findGrant.first({ id: made.id }))
  const [definition] = Object.values(JSON.parse(row?.definitions ?? '{}')).map((text) => String(text).split(' ')[0])
  const earlier = { ...row, id: 'gra_earlier', revoked_at: null, revoked_by: null, definitions: JSON.stringify({ 'own.send': definition }) }
  await desk.store.transact(() => grants.insertGrant.run(earlier as GrantRow))
  expect((await desk.propose('send')).policy.rule).toBe('grant gra_earlier')
})

test('nobody allows calls like an action that they have not seen as it is: a grant names its revision', async () => {
  await using desk = await open()
  const shown = await desk.propose('send', { cents: 5 })
  const edited = await desk.gate.decide(shown.id, { verdict: 'approve', arguments: { cents: 500 } }, { principal: cy })
  expect(edited.revision).toBe(2)
  const seen = ({ revision, digest }: Action) => ({
    actionId: shown.id,
    scope: 'agent' as const,
    expiresIn: 'P1D',
    exact: true as const,
    revision,
    digest,
  })
  const grant = (body: GrantBody) => codeOf(desk.gate.createGrant(body, { principal: ana }))
  expect(await grant(seen(shown))).toBe('revision_mismatch')
  expect(await grant({ ...seen(edited), digest: shown.digest })).toBe('revision_mismatch')
  const { revision: _revision, digest: _digest, ...unnamed } = seen(edited)
  expect(await grant(unnamed)).toBe('revision_mismatch')
  expect((await desk.propose('send', { cents: 500 })).state).toBe('proposed')
  expect(await grant(seen(edited))).toBe('done')
  expect((await desk.propose('send', { cents: 500 })).state).toBe('approved')
})

test('nothing is granted for a high risk, for what takes two, beyond 30 days, by who may not decide it alone', async () => {
  await using desk = await open()
  const [pay, wire, two, hire, refund, own] = [
    await desk.propose('send'),
    await desk.propose('wire'),
    await desk.propose('two'),
    await desk.propose('hire', {}, anasBot),
    await desk.propose('credit'),
    await desk.propose('send', { x: 1 }, anasBot),
  ]
  expect(await codeOf(desk.grant(wire.id))).toBe('illegal_transition')
  expect(await codeOf(desk.grant(two.id))).toBe('illegal_transition')
  expect(await codeOf(desk.grant(hire.id)), 'her own agent asked').toBe('forbidden')
  expect(await codeOf(desk.grant(refund.id)), 'no finance').toBe('not_found')
  expect(await codeOf(desk.grant(refund.id, {}, cy)), 'an admin is no finance').toBe('forbidden')
  expect(await codeOf(desk.grant(pay.id, {}, bot)), 'an agent').toBe('forbidden')
  expect(await codeOf(desk.grant(pay.id, { scope: 'session' }))).toBe('bad_request')
  expect(
    await codeOf(
      desk.gate.decide(wire.id, { verdict: 'approve', remember: { scope: 'agent', expiresIn: 'P1D', exact: true } }, { principal: ana }),
    ),
  ).toBe('illegal_transition')
  expect((await rowOf(desk.store, wire.id)).state, 'a refused grant takes the approval with it').toBe('proposed')
  expect(await codeOf(desk.grant(own.id)), 'her own agent, where that is allowed').toBe('done')
})

test('a grant answers in place of people only: what policy denies stays denied', async () => {
  await using desk = await open()
  const first = await desk.propose('send')
  await desk.grant(first.id)
  expect((await desk.propose('send')).state).toBe('approved')
  desk.setRules([{ name: 'never', match: { tool: 'own.send' }, verdict: 'deny' }])
  expect(await desk.propose('send')).toMatchObject({ state: 'declined', policy: { verdict: 'deny', rule: 'never' } })
})

test('a grant never does what its maker could not do alone now', async () => {
  await using desk = await open()
  await desk.grant((await desk.propose('send')).id)
  await desk.save({ ...ana, roles: ['viewer'] })
  expect((await desk.propose('send')).state, 'its maker lost the role').toBe('proposed')
  await desk.save(ana)
  expect((await desk.propose('send')).state).toBe('approved')

  await desk.grant((await desk.propose('hire', {}, bot)).id)
  expect((await desk.propose('hire', {}, bot)).state).toBe('approved')
  await desk.grant((await desk.propose('ship', {}, anasBot)).id)
  expect((await desk.propose('ship', {}, anasBot)).state).toBe('approved')
  desk.setRules([{ name: 'not yourself', match: { tool: 'own.ship' }, verdict: 'ask', requires: { notRequester: true } }])
  expect((await desk.propose('ship', {}, anasBot)).state, 'who made it is behind the agent that asks').toBe('proposed')
  desk.setRules([{ name: 'raised', match: { tool: 'own.send' }, verdict: 'ask', risk: 'critical' }])
  expect((await desk.propose('send')).state, 'its risk is critical now').toBe('proposed')
  desk.setRules([{ name: 'more', match: { tool: 'own.send' }, verdict: 'ask', requires: { quorum: 2 } }])
  expect((await desk.propose('send')).state, 'it takes two now').toBe('proposed')
  desk.setRules([{ name: 'others', match: { tool: 'own.send' }, verdict: 'ask', requires: { roles: ['finance'] } }])
  expect((await desk.propose('send')).state, 'others decide it now').toBe('proposed')
  desk.setRules([{ name: 'never', match: { tool: 'own.send' }, verdict: 'deny' }])
  expect((await desk.propose('send')).state, 'policy denies it now').toBe('declined')
})

test('who votes in the place of another, or with an embed token, allows nothing beyond that vote', async () => {
  await using desk = await open()
  await desk.gate.createDelegation({ to: ana.id, expiresIn: 'P1D' }, { principal: fay })
  const credit = await desk.propose('credit')
  await expect(desk.grant(credit.id)).rejects.toMatchObject({
    code: 'forbidden',
    message: expect.stringContaining('in the place of another'),
  })
  const remember = { scope: 'agent', expiresIn: 'P1D', exact: true } as const
  expect(await codeOf(desk.gate.decide(credit.id, { verdict: 'approve', remember }, { principal: ana }))).toBe('forbidden')
  expect(await desk.gate.decide(credit.id, { verdict: 'approve' }, { principal: ana })).toMatchObject({ state: 'approved' })

  const embedded: Principal = { ...cy, host: 'https://host.example' }
  const sent = await desk.propose('send')
  await expect(desk.grant(sent.id, {}, embedded)).rejects.toMatchObject({ message: expect.stringContaining('an embed token may not') })
  expect(await codeOf(desk.gate.decide(sent.id, { verdict: 'approve', remember }, { principal: embedded }))).toBe('forbidden')
  expect((await desk.propose('send', { again: true })).state).toBe('proposed')
})

test('a grant for an outside agent is for its key: the name that another gives itself does not matter', async () => {
  await using desk = await open()
  await desk.grant((await desk.propose('send', {}, bot, 'desk')).id)
  expect((await desk.propose('send', {}, bot, 'desk')).state).toBe('approved')
  expect((await desk.propose('send', {}, anasBot, 'desk')).state).toBe('proposed')
  expect((await desk.propose('send', {}, bot, 'other')).state).toBe('proposed')
})

test('what a grant approved and has not started is asked again when the grant does not hold any more', async () => {
  await using desk = await open()
  const made = await desk.grant((await desk.propose('send')).id)
  const cases: [string, () => Promise<unknown>, () => Promise<unknown>][] = [
    ['its maker lost the role', () => desk.save({ ...ana, roles: [] }), () => desk.save(ana)],
    ['it is revoked', () => desk.gate.revokeGrant(made.id, { principal: ana }), async () => undefined],
  ]
  for (const [what, end, restore] of cases) {
    const approved = await desk.propose('send')
    expect(approved.state).toBe('approved')
    await end()
    await desk.gate.execute(approved.id)
    expect(await rowOf(desk.store, approved.id), what).toMatchObject({ state: 'proposed', revision: 2, attempt: 0, grant_id: null })
    await restore()
  }
  const other = await desk.grant((await desk.propose('ship')).id)
  const approved = await desk.propose('ship')
  await desk.gate.execute(approved.id)
  expect((await rowOf(desk.store, approved.id)).state, 'one that holds is carried out').toBe('succeeded')
  desk.pass(31 * DAY_MS)
  expect((await desk.gate.revokeGrant(other.id, { principal: ana })).state).toBe('revoked')
})

test('a grant that is revoked while its action is retried: people are asked, and nobody has to press a button twice', async () => {
  const pay = defineTool({
    name: 'send',
    description: 'send',
    effect: 'write',
    input: { type: 'object' },
    execute: () => {
      throw new ToolError('refused', 'no such account')
    },
  })
  await using desk = await open([pay])
  const made = await desk.grant((await desk.propose('send')).id)
  const { id } = await desk.propose('send')
  await desk.gate.execute(id)
  expect((await rowOf(desk.store, id)).state).toBe('failed')
  // Committed right before the retry is stored, in the same batch.
  let revoked: Promise<unknown> | undefined
  const onPoint = (point: unknown) => {
    if (point !== 'retry.before_store') return
    revoked ??= desk.store.transact(() => grants.revokeGrant.run({ id: made.id, revoked_by: ana.id, now: 1 }))
  }
  subscribe('countersign.checkpoint', onPoint)
  expect(await codeOf(desk.gate.retry(id, { principal: cy }))).toBe('stale_preview')
  unsubscribe('countersign.checkpoint', onPoint)
  expect(revoked).toBeDefined()
  expect(await rowOf(desk.store, id)).toMatchObject({ state: 'proposed', revision: 2, attempt: 1 })
})

test('a rule is suggested that fits what people approved, and nothing that they declined', async () => {
  await using desk = await open()
  for (const [n, status] of ['shipped', 'shipped', 'cancelled', 'shipped'].entries()) {
    const { id } = await desk.propose('ship', { order: `ORD-00${n}`, status })
    // Later calls have later ids.
    desk.pass(1)
    await desk.gate.decide(id, { verdict: status === 'cancelled' ? 'decline' : 'approve' }, { principal: ana })
  }
  const waiting = await desk.propose('ship', { order: 'ORD-009', status: 'shipped' })
  const suggested = await desk.gate.suggestGrant(waiting.id, { principal: ana })
  expect(suggested).toMatchObject({ refusal: null, exact: { matched: 0, of: 4 }, rule: { matched: 3, of: 4 } })
  const when = suggested.rule?.when ?? ''
  await desk.grant(waiting.id, { when })
  expect((await desk.propose('ship', { order: 'ORD-007', status: 'shipped' })).state).toBe('approved')
  for (const args of [
    { order: 'ORD-007', status: 'cancelled' },
    { order: 'XYZ-007', status: 'shipped' },
    { order: 'ORD-007; rm -rf', status: 'shipped' },
    { order: 'ORD-007', status: 'shipped', force: true },
    { order: 'ORD-007' },
  ]) {
    expect((await desk.propose('ship', args)).state, JSON.stringify(args)).toBe('proposed')
  }
  const wire = await desk.propose('wire')
  expect(await desk.gate.suggestGrant(wire.id, { principal: ana })).toMatchObject({ refusal: expect.stringContaining('high'), rule: null })
})

test('no grant is suggested to somebody who may make none: a delegate, or a key that leaves out a role of its person', async () => {
  await using desk = await open()
  const credit = await desk.propose('credit')
  const refusal = async (principal: Principal) => (await desk.gate.suggestGrant(credit.id, { principal })).refusal
  await desk.gate.createDelegation({ to: cy.id, expiresIn: 'P1D' }, { principal: fay })
  expect(await refusal(cy)).toContain('in the place of another')
  expect(await refusal(fay)).toBeNull()
  const { id } = await desk.propose('send')
  await desk.store.transact(() => principals.savePrincipal({ ...ana, roles: ['approver', 'finance'] }, 1))
  expect((await desk.gate.suggestGrant(id, { principal: ana })).refusal).toContain('leaves out finance')
})

test('a suggested rule tells nobody the arguments of calls that they may not see', async () => {
  await using desk = await open()
  const dear = { tool: 'own.ship', when: 'args.cents > 100' }
  desk.setRules([{ name: 'dear', match: dear, verdict: 'ask', requires: { roles: ['finance'] } }])
  const decided = async (cents: number, by: Principal) => {
    const { id } = await desk.propose('ship', { cents })
    // Later calls have later ids.
    desk.pass(1)
    await desk.gate.decide(id, { verdict: 'approve' }, { principal: by })
  }
  await decided(7_654_321, fay)
  await decided(5, ana)
  const waiting = await desk.propose('ship', { cents: 7 })
  const suggested = async (principal: Principal) => await desk.gate.suggestGrant(waiting.id, { principal })
  expect((await suggested(ana)).rule).toEqual({ when: expect.stringContaining('args.cents <= 7'), matched: 1, of: 1 })
  expect(JSON.stringify(await suggested(ana))).not.toContain('7654321')
  expect((await suggested({ ...cy, roles: ['admin', 'approver'] })).exact.of).toBe(2)
})

test('of any number of grants for exactly these arguments of a tool, each one counts', async () => {
  await using desk = await open()
  const MANY = 201
  for (let i = 0; i < MANY; i++) {
    const { id } = await desk.propose('send', { i })
    await desk.grant(id)
    await desk.gate.decide(id, { verdict: 'decline' }, { principal: ana })
  }
  for (const i of [0, MANY - 1]) expect(await desk.propose('send', { i })).toMatchObject({ state: 'approved' })
  expect(await desk.propose('send', { i: MANY })).toMatchObject({ state: 'proposed' })
})
