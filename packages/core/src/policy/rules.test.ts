import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { durationMs } from '../wire/duration.ts'
import type { PolicyDocument, PolicyRule, Verdict } from './document.ts'
import { type ConditionFailure, evaluatePolicy, explainPolicy, type PolicyResult, type PolicySubject } from './evaluate.ts'

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
      requires: fc.record({
        quorum: fc.integer({ min: 1, max: 5 }),
        declineQuorum: fc.integer({ min: 1, max: 3 }),
        roles: fc.constantFrom<string[]>(['approver'], ['finance'], ['finance', 'legal']),
        notRequester: fc.boolean(),
        grace: fc.constantFrom('PT1S', 'PT1M'),
      }),
      risk: fc.constantFrom(undefined, 'low' as const, 'high' as const),
      expires: fc.constantFrom(undefined, 'PT1H', 'P1D'),
    })
    .map(({ verdict, match, requires, risk, expires }) => ({
      verdict,
      match: Object.fromEntries(Object.entries(match).filter(([, value]) => value !== undefined)),
      ...(risk && { risk }),
      ...(verdict === 'ask' && { requires, ...(expires && { expires }) }),
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
  const asking = matching.filter(({ rule }) => rule.verdict === 'ask')
  // Those that may be the first one that matches: the first without a failure, and what failed before it.
  const certain = asking.findIndex((one) => !isFailed(one))
  const possible = certain < 0 ? asking : asking.slice(0, certain + 1)
  const most = possible.toSorted((one, other) => compareAsked(other.rule, one.rule))[0]
  const winner = matching.find(({ rule }) => rule.verdict === 'deny') ?? most ?? matching.find((one) => isFailed(one)) ?? matching[0]
  if (!winner) return { verdict: otherwise, rule: 'default', quorum: 1, risk: undefined }
  const { rule } = winner
  const verdict = rule.verdict === 'allow' && isFailed(winner) ? 'ask' : rule.verdict
  const risks = possible.map((one) => one.rule.risk)
  // The tool is a write, whose own risk is medium: between the two that rules set here.
  const highest = risks.includes('high') ? 'high' : risks.includes(undefined) ? undefined : 'low'
  return { verdict, rule: rule.name, quorum: rule.requires?.quorum ?? 1, risk: winner === most ? highest : rule.risk }
}

const RISKS = ['low', undefined, 'high']

/** Compares what two rules ask for: votes, then whether the requester has one, then the time until the start, then the risk. */
function compareAsked(one: PolicyRule, other: PolicyRule): number {
  const [its, wanted] = [one, other].map(({ requires, risk }) => [
    requires?.quorum ?? 1,
    Number(requires?.notRequester),
    requires?.grace === 'PT1M' ? 60 : 1,
    RISKS.indexOf(risk),
  ])
  const [place] = [0, 1, 2, 3].filter((each) => its?.[each] !== wanted?.[each])
  return place === undefined ? 0 : (its?.[place] ?? 0) - (wanted?.[place] ?? 0)
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

/** Returns each way in which `one` requires less than `other`. */
function loosened(one: PolicyResult, other: PolicyResult): string[] {
  const strength = { allow: 0, ask: 1, deny: 2 }
  if (one.verdict !== other.verdict) return strength[one.verdict] > strength[other.verdict] ? ['verdict'] : []
  const msOf = ({ requires: { grace = '' } }: PolicyResult) => durationMs(grace) ?? 0
  const expiryOf = ({ expiresMs = Number.POSITIVE_INFINITY }: PolicyResult) => expiresMs
  return [
    ...(other.requires.quorum < one.requires.quorum ? ['quorum'] : []),
    ...(other.requires.declineQuorum > one.requires.declineQuorum ? ['declineQuorum'] : []),
    ...(one.requires.notRequester && !other.requires.notRequester ? ['notRequester'] : []),
    ...(msOf(other) < msOf(one) ? ['grace'] : []),
    ...(expiryOf(other) > expiryOf(one) ? ['expires'] : []),
    ...(RISKS.indexOf(other.risk) < RISKS.indexOf(one.risk) ? ['risk'] : []),
  ]
}

test('a condition that fails never makes the answer weaker than one that is true, nor than one that is false', () => {
  fc.assert(
    fc.property(fc.array(drawnRule, { minLength: 1, maxLength: 6 }), (rules) => {
      const named = rules.map(({ rule }, index) => ({ ...rule, name: `r${index}` }))
      const policy: PolicyDocument = { default: 'ask', rules: named }
      const answers = rules.map(({ answer }) => answer)
      const said = (answer: (index: number) => Answer) => evaluatePolicy(policy, 1, SUBJECT, (_, index) => answer(index))
      for (const failing of rules.keys()) {
        const other = (instead: Answer) => said((index) => (index === failing ? instead : (answers[index] ?? false)))
        const failed = other({ failed: 'it broke' })
        for (const instead of [other(true), other(false)]) {
          // Where no rule asks, an allowing one asks with the requirements of the default, whatever it is about.
          const isAsked = [failed, instead].every(({ rule }) => named.find(({ name }) => name === rule)?.verdict === 'ask')
          const found = loosened(instead, failed)
          expect(isAsked ? found : found.filter((each) => each === 'verdict')).toEqual([])
        }
      }
    }),
    { numRuns: 3_000 },
  )
})

test('somebody may decide whatever failed: the roles are those of one rule, never of several at once', () => {
  fc.assert(
    fc.property(fc.array(drawnRule, { minLength: 1, maxLength: 6 }), (rules) => {
      const named = rules.map(({ rule }, index) => ({ ...rule, name: `r${index}` }))
      const { verdict, rule, requires } = evaluatePolicy(
        { default: 'ask', rules: named },
        1,
        SUBJECT,
        (_, index) => rules[index]?.answer ?? false,
      )
      if (verdict !== 'ask') return
      expect(requires.alsoRoles).toBeUndefined()
      expect(requires.roles).toEqual(named.find(({ name }) => name === rule)?.requires?.roles ?? ['approver'])
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

  test('of an asking rule does not hide a later one that asks for more', () => {
    const small = rule('small', 'ask', { match: { when: 'args.amount <= 500' }, requires: { roles: ['approver'], grace: 'PT1M' } })
    const large = { ...rule('large', 'ask'), match: {}, requires: { quorum: 2, roles: ['finance'] } }
    const later = { ...rule('later', 'ask'), match: {}, requires: { quorum: 5 } }
    expect(ask(small, large, later)).toMatchObject({
      verdict: 'ask',
      rule: 'large',
      reason:
        'The rule "large" asks a person; A person decides because of the rule "small": its condition could not be evaluated (No such key: amount)',
      requires: { quorum: 2, declineQuorum: 1, roles: ['finance'], notRequester: false, grace: 'PT1M' },
    })
    // Nor does it hide one that asks for less in everything but one thing.
    const first = { ...small, requires: { quorum: 2, roles: ['finance'] }, expires: 'P1D' }
    const second = { ...large, requires: { notRequester: true }, expires: 'PT1H', risk: 'high' as const }
    expect(ask(first, second)).toMatchObject({
      rule: 'small',
      reason: 'A person decides because of the rule "small": its condition could not be evaluated (No such key: amount)',
      requires: { quorum: 2, roles: ['finance'], notRequester: true },
      expiresMs: 3_600_000,
      risk: 'high',
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
