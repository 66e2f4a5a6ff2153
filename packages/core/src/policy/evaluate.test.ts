import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DEFAULT_POLICY, PolicyDocument, type Verdict } from './document.ts'
import { evaluatePolicy, meansTool, overrules, type PolicySubject } from './evaluate.ts'

const subject: PolicySubject = { tool: 'updateOrderStatus', group: 'shop', effect: 'write', agent: 'desk' }
const verdicts: Verdict[] = ['allow', 'ask', 'deny']
const evaluate = (policy: PolicyDocument, of: PolicySubject = subject) => evaluatePolicy(policy, 1, of, () => false)
/** The parts of an answer that a rule without requirements leaves out. */
const decided = (policy: PolicyDocument, of?: PolicySubject) => {
  const { reason: _reason, version: _version, requires: _requires, ...said } = evaluate(policy, of)
  return said
}
const rule = (verdict: Verdict, name: string = verdict) => ({ name, match: {}, verdict })

describe('deny beats ask beats allow', () => {
  // Which of the three kinds of rule fit → the verdict; for every order in which they may stand.
  const TRUTH: [allow: boolean, ask: boolean, deny: boolean, verdict: Verdict][] = [
    [true, false, false, 'allow'],
    [false, true, false, 'ask'],
    [true, true, false, 'ask'],
    [false, false, true, 'deny'],
    [true, false, true, 'deny'],
    [false, true, true, 'deny'],
    [true, true, true, 'deny'],
  ]

  test.each(TRUTH)('allow %s, ask %s, deny %s: %s', (allow, ask, deny, verdict) => {
    const fitting = verdicts.filter((_, at) => [allow, ask, deny][at])
    fc.assert(
      fc.property(fc.shuffledSubarray(fitting, { minLength: fitting.length }), (order) => {
        expect(decided({ default: 'deny', rules: order.map((one) => rule(one)) })).toEqual({ verdict, rule: verdict })
      }),
    )
  })

  test.each(['ask', 'deny'] as const)('no rule fits: the default, %s', (verdict) => {
    const rules = [{ name: 'other', match: { tool: 'other' }, verdict: 'allow' as const }]
    expect(decided({ default: verdict, rules })).toEqual({ verdict, rule: 'default' })
  })

  test('the first rule of the winning verdict gives its name', () => {
    const rules = [rule('allow', 'a'), rule('deny', 'first'), rule('ask', 'b'), rule('deny', 'second')]
    expect(decided({ default: 'ask', rules })).toEqual({ verdict: 'deny', rule: 'first' })
  })

  test('the first rule of the winning verdict says how long people may take, whatever the others say', () => {
    const timed = (name: string, expires?: string, remind?: string) => ({ ...rule('ask', name), expires, remind })
    const rules = [rule('allow'), timed('first', 'PT1H', 'PT1M'), timed('second', 'PT1S', 'PT1S')]
    expect(decided({ default: 'ask', rules })).toEqual({
      verdict: 'ask',
      rule: 'first',
      expiresMs: 3_600_000,
      remindMs: 60_000,
    })
    const untimed = [timed('first'), timed('second', 'PT1S', 'PT1S')]
    expect(decided({ default: 'ask', rules: untimed })).toEqual({ verdict: 'ask', rule: 'first' })
    expect(decided({ default: 'ask', rules: [...rules, rule('deny')] })).toEqual({ verdict: 'deny', rule: 'deny' })
  })

  test('where two rules ask, the requirements of the first count, even if the second requires more', () => {
    const votes = (name: string, quorum: number) => ({ ...rule('ask', name), requires: { quorum } })
    expect(evaluate({ default: 'ask', rules: [votes('one', 1), votes('two', 2)] }).requires.quorum).toBe(1)
    expect(evaluate({ default: 'ask', rules: [votes('two', 2), votes('one', 1)] }).requires.quorum).toBe(2)
  })

  test('a rule that cannot change the answer is not evaluated: its condition costs nothing', () => {
    const checked: number[] = []
    const conditional = (name: string) => ({ name, match: { when: 'args.x' }, verdict: 'ask' as const })
    const policy = { default: 'ask' as const, rules: [conditional('first'), conditional('second')] }
    evaluatePolicy(policy, 1, subject, (_rule, at) => checked.push(at) > 0)
    expect(checked).toEqual([0])
  })

  test('the time for a decision, and by how much it is extended, come from the rule, else from the document', () => {
    const rules = [{ ...rule('ask'), extend: 'PT5M' }]
    expect(decided({ default: 'ask', rules })).toEqual({ verdict: 'ask', rule: 'ask', extend: 'PT5M' })
    const document = { default: 'ask' as const, expires: 'PT1M', extend: 'PT2M' }
    expect(decided({ ...document, rules })).toMatchObject({ expiresMs: 60_000, extend: 'PT5M' })
    expect(decided({ ...document, rules: [] })).toMatchObject({ expiresMs: 60_000, extend: 'PT2M' })
  })

  test('an answer has only the parts that its rule names', () => {
    const common = ['reason', 'requires', 'rule', 'verdict', 'version']
    const keysOf = (one: Partial<PolicyDocument['rules'][number]>) =>
      Object.keys(evaluate({ default: 'ask', rules: [{ ...rule('ask'), ...one }] })).sort()
    expect(keysOf({})).toEqual(common)
    expect(keysOf({ remind: 'PT1M' })).toEqual([...common, 'remindMs'].sort())
    expect(keysOf({ escalate: { after: 'PT1M', roles: ['cfo'] } })).toEqual([...common, 'escalateMs', 'escalateTo'].sort())
    expect(keysOf({ declineReasons: ['Too much'] })).toEqual([...common, 'declineReasons'].sort())
    expect(keysOf({ extend: 'PT5M' })).toEqual(['extend', ...common])
    // Nobody waits for what is denied.
    expect(keysOf({ verdict: 'deny', declineReasons: ['Too much'] })).toEqual(common)
    expect(decided({ default: 'ask', expires: 'PT1M', rules: [rule('deny')] })).toEqual({ verdict: 'deny', rule: 'deny' })
  })

  test('a rule without a risk leaves that of the tool', () => {
    expect('risk' in evaluate({ default: 'ask', rules: [rule('ask')] })).toBe(false)
    expect(evaluate({ default: 'ask', rules: [{ ...rule('ask'), risk: 'high' }] }).risk).toBe('high')
  })

  test('a further rule never makes the verdict weaker than the rules before it', () => {
    const strength = (verdict: Verdict): number => verdicts.indexOf(verdict)
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...verdicts), { minLength: 1 }), fc.constantFrom(...verdicts), (before, added) => {
        const rules = before.map((one) => rule(one))
        const old = evaluate({ default: 'ask', rules }).verdict
        const now = evaluate({ default: 'ask', rules: [...rules, rule(added)] }).verdict
        expect(strength(now)).toBeGreaterThanOrEqual(strength(old))
      }),
    )
  })
})

describe('what a rule matches', () => {
  const fits = (match: object, one: PolicySubject = subject): boolean =>
    decided({ default: 'deny', rules: [{ name: 'r', match, verdict: 'ask' }] }, one).rule === 'r'

  test('all its conditions, not any of them', () => {
    expect(fits({ tool: 'updateOrderStatus', effect: 'write', agent: 'desk' })).toBe(true)
    expect(fits({ tool: 'updateOrderStatus', effect: 'read' })).toBe(false)
    expect(fits({ tool: 'updateOrderStatus', agent: 'other' })).toBe(false)
    expect(fits({ tool: 'other', effect: 'write' })).toBe(false)
  })

  test('a tool by its name, with or without its group', () => {
    for (const tool of ['updateOrderStatus', 'shop.updateOrderStatus', 'shop.*', 'update*', '*']) expect(fits({ tool })).toBe(true)
    for (const tool of ['UpdateOrderStatus', 'updateOrder', 'crm.*', 'shop', 'shop.', ' updateOrderStatus'])
      expect(fits({ tool })).toBe(false)
  })

  test('a call without an agent fits no rule that names one', () => {
    expect(fits({ agent: 'desk' }, { ...subject, agent: undefined })).toBe(false)
  })

  test('an allowing rule is about a tool that an agent registered only if it names it, or the group of such tools', () => {
    const registered = { tool: 'refund', group: 'registered', effect: 'write' as const, isRegistered: true }
    const isAbout = (match: object, verdict: Verdict) => meansTool({ name: 'r', match, verdict }, registered)
    for (const match of [{ tool: 'refund' }, { tool: 'registered.refund' }, { tool: 'registered.*' }]) {
      expect(verdicts.map((verdict) => isAbout(match, verdict))).toEqual([true, true, true])
    }
    for (const match of [{}, { effect: 'write' }, { tool: '*' }, { tool: 'ref*' }, { tool: '*.refund' }]) {
      expect(verdicts.map((verdict) => isAbout(match, verdict))).toEqual([false, true, true])
    }
    expect(meansTool({ name: 'r', match: { tool: 'ref*' }, verdict: 'allow' }, { ...registered, isRegistered: false })).toBe(true)
  })

  test('without a policy reads run and everything else asks', () => {
    expect(decided(DEFAULT_POLICY, { ...subject, effect: 'read' })).toEqual({ verdict: 'allow', rule: 'reads run' })
    expect(decided(DEFAULT_POLICY)).toEqual({ verdict: 'ask', rule: 'default' })
  })
})

describe('a rule is overruled for good', () => {
  const named = (verdict: Verdict, match: object = {}) => ({ ...rule(verdict), match })

  test('by a stricter one anywhere, and by one as strict that stands before it', () => {
    for (const [stricter, weaker] of [
      ['deny', 'ask'],
      ['deny', 'allow'],
      ['ask', 'allow'],
    ] as const) {
      expect([overrules(rule(stricter), rule(weaker), true), overrules(rule(stricter), rule(weaker), false)]).toEqual([true, true])
      expect([overrules(rule(weaker), rule(stricter), true), overrules(rule(weaker), rule(stricter), false)]).toEqual([false, false])
    }
    for (const same of verdicts) {
      expect([overrules(rule(same), rule(same), true), overrules(rule(same), rule(same), false)]).toEqual([true, false])
    }
  })

  test('never by one with a condition, nor by one for another agent', () => {
    expect(overrules(named('deny', { when: 'args.x' }), rule('allow'), true)).toBe(false)
    expect(overrules(named('deny', { agent: 'desk' }), rule('allow'), true)).toBe(false)
    expect(overrules(named('deny', { agent: 'desk' }), named('allow', { agent: 'bot' }), true)).toBe(false)
    expect(overrules(named('deny', { agent: 'desk' }), named('allow', { agent: 'desk' }), true)).toBe(true)
  })

  test('an allowing condition may fail and ask then, so that only what asks before it, or denies, overrules it', () => {
    const allowing = named('allow', { when: 'args.x' })
    expect(overrules(rule('allow'), allowing, true)).toBe(false)
    expect(overrules(rule('ask'), allowing, false)).toBe(true)
  })
})

describe('a policy document', () => {
  test('may not allow by default', () => expect(PolicyDocument.safeParse({ default: 'allow' }).success).toBe(false))

  test.each([
    ['an unknown key', { rulez: [] }],
    ['an unknown key of a rule', { rules: [{ name: 'x', match: {}, verdict: 'ask', quorum: 2 }] }],
    ['an unknown condition', { rules: [{ name: 'x', match: { unless: 'args.amount > 500' }, verdict: 'ask' }] }],
    ['an unknown verdict', { rules: [{ name: 'x', match: {}, verdict: 'maybe' }] }],
    ['a rule without a name', { rules: [{ match: {}, verdict: 'ask' }] }],
    ['an empty tool', { rules: [{ name: 'x', match: { tool: '' }, verdict: 'ask' }] }],
    ['a time that is no duration', { rules: [{ ...rule('ask'), expires: '1 hour' }] }],
    ['a reminder that is no duration', { rules: [{ ...rule('ask'), remind: 300 }] }],
    ['a reason of a rule that denies nothing', { rules: [{ ...rule('ask'), reason: 'because' }] }],
    ['a time of the document that is no duration', { expires: '1 hour' }],
    ['a deadline for what nobody decides', { rules: [{ ...rule('allow'), expires: 'PT1H' }] }],
    ['a quorum for what nobody decides', { rules: [{ ...rule('allow'), requires: { quorum: 2 } }] }],
    ['roles for what nobody decides', { rules: [{ ...rule('deny'), requires: { roles: ['finance'] } }] }],
    ['an escalation of what nobody decides', { rules: [{ ...rule('allow'), escalate: { after: 'PT1H', roles: ['finance'] } }] }],
    ['a quorum of nobody', { rules: [{ ...rule('ask'), requires: { quorum: 0 } }] }],
    ['roles that nobody can have', { rules: [{ ...rule('ask'), requires: { roles: [] } }] }],
    ['an unknown requirement', { rules: [{ ...rule('ask'), requires: { votes: 2 } }] }],
    ['an unknown risk', { rules: [{ ...rule('ask'), risk: 'extreme' }] }],
    ['a reminder of what nobody decides', { rules: [{ ...rule('deny'), remind: 'PT1H' }] }],
  ])('%s is refused, never skipped', (_name, document) => expect(PolicyDocument.safeParse(document).success).toBe(false))

  test('says where it is wrong: each name once, and none of those that mean something else', () => {
    const placesOf = (document: object) => PolicyDocument.safeParse(document).error?.issues.map(({ code, path }) => [code, path.join('.')])
    const twice = [rule('ask', 'x'), rule('deny', 'y'), rule('ask', 'x')]
    expect(placesOf({ rules: twice })).toEqual([['custom', 'rules.2.name']])
    for (const taken of ['default', 'approve all']) expect(placesOf({ rules: [rule('ask', taken)] })).toEqual([['custom', 'rules.0.name']])
    expect(placesOf({ rules: [{ ...rule('ask'), reason: 'because' }] })).toEqual([['custom', 'rules.0.reason']])
    expect(placesOf({ rules: [{ ...rule('deny'), remind: 'PT1H' }] })).toEqual([['custom', 'rules.0.remind']])
  })

  test('an empty one asks for everything', () => expect(PolicyDocument.parse({})).toEqual({ default: 'ask', rules: [] }))
})

test('a condition has at most 2,000 characters', () => {
  const isAllowed = (when: string) => PolicyDocument.safeParse({ rules: [{ ...rule('ask'), match: { when } }] }).success
  expect([isAllowed('x'.repeat(2_000)), isAllowed('x'.repeat(2_001))]).toEqual([true, false])
})
