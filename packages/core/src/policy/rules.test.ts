import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { PolicyDocument, PolicyRule, Verdict } from './document.ts'
import { type ConditionFailure, evaluatePolicy, explainPolicy, type PolicySubject } from './evaluate.ts'

const SUBJECT: PolicySubject = { tool: 'refund', group: 'shop', effect: 'write', agent: 'desk' }
type Answer = boolean | ConditionFailure

/** A rule, and what its condition answers where it has one. */
interface Drawn {
  rule: PolicyRule
  answer: Answer
}

const failure = fc.constantFrom<Answer>(true, false, { failed: 'it broke' })
const drawnRule: fc.Arbitrary<Omit<Drawn, 'rule'> & { rule: Omit<PolicyRule, 'name'> }> = fc.record({
  answer: failure,
  rule: fc
    .record({
      verdict: fc.constantFrom<Verdict>('allow', 'ask', 'deny'),
      match: fc.record({
        tool: fc.constantFrom(undefined, 'refund', 'shop.*', 'other', 'crm.*'),
        effect: fc.constantFrom(undefined, 'read' as const, 'write' as const),
        agent: fc.constantFrom(undefined, 'desk', 'd*', 'ops'),
        when: fc.constantFrom(undefined, 'c'),
      }),
      quorum: fc.integer({ min: 1, max: 5 }),
      risk: fc.constantFrom(undefined, 'low' as const, 'high' as const),
    })
    .map(({ verdict, match, quorum, risk }) => ({
      verdict,
      match: Object.fromEntries(Object.entries(match).filter(([, value]) => value !== undefined)),
      ...(risk && { risk }),
      ...(verdict === 'ask' && { requires: { quorum } }),
    })),
})

/** Says the same another way: all matching rules first, then who wins. */
function naive(drawn: readonly Drawn[], otherwise: 'ask' | 'deny') {
  const fitting = drawn.filter(({ rule: { match } }) => {
    const tools = ['refund', 'shop.*', undefined]
    return tools.includes(match.tool) && match.effect !== 'read' && match.agent !== 'ops'
  })
  const matching = fitting.filter(({ rule, answer }) => rule.match.when === undefined || answer !== false)
  const isFailed = ({ rule, answer }: Drawn) => rule.match.when !== undefined && typeof answer === 'object'
  const winner =
    matching.find(({ rule }) => rule.verdict === 'deny') ??
    matching.find(({ rule }) => rule.verdict === 'ask') ??
    matching.find((one) => isFailed(one)) ??
    matching[0]
  if (!winner) return { verdict: otherwise, rule: 'default', quorum: 1, risk: undefined }
  const { rule } = winner
  const verdict = rule.verdict === 'allow' && isFailed(winner) ? 'ask' : rule.verdict
  return { verdict, rule: rule.name, quorum: rule.requires?.quorum ?? 1, risk: rule.risk }
}

test('every policy says what an independent reading of its rules says', () => {
  fc.assert(
    fc.property(fc.array(drawnRule, { maxLength: 8 }), fc.constantFrom('ask' as const, 'deny' as const), (rules, otherwise) => {
      const drawn = rules.map(({ rule, answer }, index): Drawn => ({ rule: { ...rule, name: `r${index}` }, answer }))
      const policy: PolicyDocument = { default: otherwise, rules: drawn.map(({ rule }) => rule) }
      const { verdict, rule, requires, risk } = evaluatePolicy(policy, 1, SUBJECT, (_, index) => drawn[index]?.answer ?? false)
      expect({ verdict, rule, quorum: requires.quorum, risk }).toEqual(naive(drawn, otherwise))
    }),
    { numRuns: 10_000 },
  )
})

test('a condition that fails never makes the answer weaker than one that is true, nor than one that is false', () => {
  const strength = { allow: 0, ask: 1, deny: 2 }
  fc.assert(
    fc.property(fc.array(drawnRule, { minLength: 1, maxLength: 6 }), (rules) => {
      const named = rules.map(({ rule }, index) => ({ ...rule, name: `r${index}` }))
      const policy: PolicyDocument = { default: 'ask', rules: named }
      const answers = rules.map(({ answer }) => answer)
      const said = (answer: (index: number) => Answer) => strength[evaluatePolicy(policy, 1, SUBJECT, (_, index) => answer(index)).verdict]
      for (const failing of rules.keys()) {
        const other = (instead: Answer) => said((index) => (index === failing ? instead : (answers[index] ?? false)))
        // Against `false` only where that is no stricter: an allowing rule that does not match leaves the default, which asks.
        expect(other({ failed: 'it broke' })).toBeGreaterThanOrEqual(other(true))
        expect(other({ failed: 'it broke' })).toBeGreaterThanOrEqual(other(false))
      }
    }),
    { numRuns: 3_000 },
  )
})

describe('a condition that fails', () => {
  const rule = (name: string, verdict: Verdict, more: Partial<PolicyRule> = {}): PolicyRule => ({
    name,
    match: { when: 'c' },
    verdict,
    ...more,
  })
  const ask = (...rules: PolicyRule[]) => evaluatePolicy({ default: 'deny', rules }, 4, SUBJECT, () => ({ failed: 'No such key: amount' }))

  test('of an allowing rule asks, and names the rule and what it met', () => {
    expect(ask(rule('small', 'allow'))).toMatchObject({
      verdict: 'ask',
      rule: 'small',
      version: 4,
      reason: 'A person decides because of the rule "small": its condition could not be evaluated (No such key: amount)',
      requires: { quorum: 1, roles: ['approver'] },
    })
  })

  test('leaves the requirements to a rule that does ask', () => {
    const two = { ...rule('two', 'ask'), match: {}, requires: { quorum: 2 } }
    expect(ask(rule('small', 'allow'), two)).toMatchObject({ verdict: 'ask', rule: 'two', requires: { quorum: 2 } })
  })

  test('of an asking or denying rule counts as true', () => {
    expect(ask(rule('two', 'ask', { requires: { quorum: 2 } }))).toMatchObject({ verdict: 'ask', rule: 'two', requires: { quorum: 2 } })
    expect(ask(rule('never', 'deny'))).toMatchObject({
      verdict: 'deny',
      rule: 'never',
      reason: expect.stringContaining('No such key: amount'),
    })
  })

  test('is told of for each rule by itself', () => {
    const rules = [rule('a', 'allow'), { ...rule('b', 'ask'), match: { tool: 'other' } }, { ...rule('c', 'deny'), match: {} }]
    expect(explainPolicy({ default: 'ask', rules }, SUBJECT, () => ({ failed: 'why' }))).toEqual([
      { rule: 'a', verdict: 'allow', matches: true, failed: 'why' },
      { rule: 'b', verdict: 'ask', matches: false },
      { rule: 'c', verdict: 'deny', matches: true },
    ])
  })
})

test('requirements, times, escalation and risk are those of the first rule of the winning verdict', () => {
  const rules: PolicyRule[] = [
    { name: 'allow', match: {}, verdict: 'allow', risk: 'low' },
    {
      name: 'first',
      match: {},
      verdict: 'ask',
      requires: { quorum: 2, declineQuorum: 2, roles: ['finance'], notRequester: true },
      expires: 'PT1H',
      remind: 'PT5M',
      escalate: { after: 'PT30M', roles: ['cfo'] },
      risk: 'high',
    },
    { name: 'second', match: {}, verdict: 'ask', requires: { quorum: 5 }, risk: 'critical' },
  ]
  expect(evaluatePolicy({ default: 'ask', rules }, 7, SUBJECT, () => true)).toEqual({
    verdict: 'ask',
    rule: 'first',
    reason: 'The rule "first" asks a person',
    version: 7,
    requires: { quorum: 2, declineQuorum: 2, roles: ['finance'], notRequester: true },
    risk: 'high',
    expiresMs: 3_600_000,
    remindMs: 300_000,
    escalateMs: 1_800_000,
    escalateTo: ['cfo'],
  })
})
