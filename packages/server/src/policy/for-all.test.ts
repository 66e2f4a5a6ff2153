import type { PolicyDocument, Principal, Verdict } from '@countersign/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compilePolicy } from './compile.ts'
import { type AskedCall, evaluateForAll, isTrueForAll } from './for-all.ts'

const STRENGTH = { allow: 0, ask: 1, deny: 2 }
const ROLES = ['lead', 'intern', 'finance']

const person = (id: string, roles: string[]): Principal => ({ id, kind: 'person', name: id, roles })
const requester = fc.record({ id: fc.constantFrom('a', 'b', 'c'), roles: fc.subarray(ROLES) }).map(({ id, roles }) => person(id, roles))
const requesters = fc.array(requester, { minLength: 1, maxLength: 4 })

const CONDITIONS = [
  '"lead" in requester.roles',
  '!("intern" in requester.roles)',
  'requester.id == "a"',
  'agent.name == "ci"',
  'agent.name != "ci"',
  'requester.roles[0] == "finance"',
]
const rule = fc.record({
  verdict: fc.constantFrom<Verdict>('allow', 'ask', 'deny'),
  when: fc.constantFrom(undefined, ...CONDITIONS),
  agent: fc.constantFrom(undefined, 'ci', 'c*', 'desk'),
  quorum: fc.integer({ min: 1, max: 3 }),
})
const document: fc.Arbitrary<PolicyDocument> = fc
  .tuple(fc.array(rule, { maxLength: 5 }), fc.constantFrom('ask' as const, 'deny' as const))
  .map(([rules, otherwise]) => ({
    default: otherwise,
    rules: rules.map(({ verdict, when, agent, quorum }, at) => ({
      name: `r${at}`,
      match: { ...(when !== undefined && { when }), ...(agent !== undefined && { agent }) },
      verdict,
      ...(verdict === 'ask' && { requires: { quorum } }),
    })),
  }))

const callOf = (asked: AskedCall['requesters'], names: Pick<AskedCall, 'agent' | 'claimedAgent'>): AskedCall => ({
  tool: { name: 'refund', group: 'shop', effect: 'write', destination: 'shop' },
  arguments: {},
  session: null,
  requesters: asked,
  nowMs: 0,
  ...names,
})
const NONE = { agent: undefined, claimedAgent: undefined }

test('what a policy says of a call gets no looser when one who asked for it is disabled, and being somebody allows them nothing then', () => {
  fc.assert(
    fc.property(document, requesters, requester, (written, asked, leaver) => {
      const policy = compilePolicy(written, 1)
      const before = evaluateForAll(policy, callOf([...asked, leaver], NONE))
      const after = evaluateForAll(policy, callOf([...asked, { ...leaver, isDisabled: true }], NONE))
      expect(STRENGTH[after.verdict]).toBeGreaterThanOrEqual(STRENGTH[before.verdict])
      const nobody = evaluateForAll(policy, callOf([person('', [])], NONE))
      expect(STRENGTH[after.verdict]).toBeGreaterThanOrEqual(STRENGTH[nobody.verdict])
    }),
  )
})

test('one more requester never makes a policy looser, and the order of the requesters changes nothing', () => {
  fc.assert(
    fc.property(document, requesters, requester, (written, asked, more) => {
      const policy = compilePolicy(written, 1)
      const before = evaluateForAll(policy, callOf(asked, NONE))
      const after = evaluateForAll(policy, callOf([...asked, more], NONE))
      expect(STRENGTH[after.verdict]).toBeGreaterThanOrEqual(STRENGTH[before.verdict])
      if (after.verdict === before.verdict) expect(after.requires.quorum).toBeGreaterThanOrEqual(before.requires.quorum)
      expect(evaluateForAll(policy, callOf([more, ...asked.toReversed()], NONE))).toEqual(after)
    }),
  )
})

test('a name that nothing proves never makes a policy looser than no name, and never looser than the name itself', () => {
  fc.assert(
    fc.property(document, requesters, fc.constantFrom('ci', 'desk', 'other'), (written, asked, name) => {
      const policy = compilePolicy(written, 1)
      const claimed = STRENGTH[evaluateForAll(policy, callOf(asked, { agent: undefined, claimedAgent: name })).verdict]
      expect(claimed).toBeGreaterThanOrEqual(STRENGTH[evaluateForAll(policy, callOf(asked, NONE)).verdict])
      expect(claimed).toBeGreaterThanOrEqual(
        STRENGTH[evaluateForAll(policy, callOf(asked, { agent: name, claimedAgent: undefined })).verdict],
      )
    }),
  )
})

test('a condition of a grant has to be true of each who asked', () => {
  fc.assert(
    fc.property(fc.constantFrom(...CONDITIONS), requesters, (condition, asked) => {
      const each = asked.map((one) => isTrueForAll(condition, callOf([one], NONE)))
      expect(isTrueForAll(condition, callOf(asked, NONE))).toBe(each.every(Boolean))
    }),
  )
})

test('nobody is asked about a call that nobody asked for', () => {
  const policy = compilePolicy({ default: 'ask', rules: [] }, 1)
  expect(() => evaluateForAll(policy, callOf([], NONE))).toThrow('a call needs at least one requester')
})

test('where a rule names a risk for one requester only, the risk of the tool counts for the others: the higher one is shown', () => {
  const written: PolicyDocument = {
    default: 'ask',
    rules: [{ name: 'r', match: { when: 'requester.id == "a"' }, verdict: 'ask', risk: 'medium' }],
  }
  const riskOf = (tool: Pick<AskedCall['tool'], 'effect' | 'risk'>) => {
    const call = callOf([person('a', []), person('b', [])], NONE)
    return evaluateForAll(compilePolicy(written, 1), { ...call, tool: { ...call.tool, ...tool } }).risk
  }
  // Undefined: the risk is the tool's own.
  expect(riskOf({ effect: 'read' })).toBe('medium')
  expect(riskOf({ effect: 'write' })).toBeUndefined()
  expect(riskOf({ effect: 'write', risk: { level: 'low', reason: 'small' } })).toBe('medium')
  expect(riskOf({ effect: 'read', risk: { level: 'high', reason: 'large' } })).toBeUndefined()
  for (const rule of written.rules) rule.risk = 'low'
  expect(riskOf({ effect: 'read' })).toBeUndefined()
})

test('a rule for an agent counts for the one that proves its name, and for one that only claims it where it is stricter', () => {
  const verdictOf = (verdict: Verdict, names: Pick<AskedCall, 'agent' | 'claimedAgent'>) => {
    const written: PolicyDocument = { default: 'ask', rules: [{ name: 'r', match: { agent: 'ci' }, verdict }] }
    return evaluateForAll(compilePolicy(written, 1), callOf([person('a', [])], names)).verdict
  }
  const [proven, claimed] = [
    { agent: 'ci', claimedAgent: undefined },
    { agent: undefined, claimedAgent: 'ci' },
  ]
  expect([verdictOf('allow', proven), verdictOf('allow', claimed), verdictOf('allow', NONE)]).toEqual(['allow', 'ask', 'ask'])
  expect([verdictOf('deny', proven), verdictOf('deny', claimed), verdictOf('deny', NONE)]).toEqual(['deny', 'deny', 'ask'])
})

test('one who is disabled counts as themselves and as somebody without id, name and roles', () => {
  const nobody = 'requester.id == "" && requester.name == "" && size(requester.roles) == 0'
  const written: PolicyDocument = {
    default: 'ask',
    rules: [
      { name: 'themselves', match: { when: 'requester.id == "a" && "lead" in requester.roles' }, verdict: 'allow' },
      { name: 'nobody', match: { when: nobody }, verdict: 'allow' },
    ],
  }
  const leaver = { ...person('a', ['lead']), isDisabled: true }
  expect(evaluateForAll(compilePolicy(written, 1), callOf([leaver], NONE)).verdict).toBe('allow')
  const [themselves] = written.rules
  const alone: PolicyDocument = { default: 'ask', rules: themselves ? [themselves] : [] }
  expect(evaluateForAll(compilePolicy(alone, 1), callOf([leaver], NONE)).verdict).toBe('ask')
})

test('a condition that cannot be parsed, or that fails, is true of nobody', () => {
  const asked = callOf([person('a', [])], NONE)
  for (const condition of ['requester.id ==', 'args.missing > 1', '"text"']) {
    expect([isTrueForAll(condition, asked), isTrueForAll(condition, asked)], condition).toEqual([false, false])
  }
  expect(isTrueForAll('requester.id == "a"', asked)).toBe(true)
})
