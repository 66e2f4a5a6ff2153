import type { PolicyDocument, Principal } from '@countersign/core'
import { expect, test } from 'vitest'
import { compilePolicy } from './compile.ts'
import type { PolicyCall } from './facts.ts'

const ANA: Principal = { id: 'prn_ana', kind: 'person', name: 'Ana', roles: ['approver'] }
const TOOL: PolicyCall['tool'] = { name: 'refund', group: 'bank', effect: 'write', destination: 'https://bank.example' }

const call = (tool: Partial<PolicyCall['tool']> = {}, amount = 10): PolicyCall => ({
  ...{ tool: { ...TOOL, ...tool }, arguments: { amount }, agent: 'desk', session: null, requester: ANA, nowMs: 0 },
})
const rule = (verdict: 'allow' | 'ask' | 'deny', when?: string) => ({ name: verdict, match: when === undefined ? {} : { when }, verdict })
const compile = (...rules: PolicyDocument['rules']) => compilePolicy({ default: 'ask', rules }, 7)

const CAUTION = 'Its definition changed since people last looked at it'

test('an allowed call of a changed tool asks, and says so; what asks or is denied stays as it is', () => {
  const evaluate = (verdict: 'allow' | 'ask' | 'deny') => compile(rule(verdict)).evaluate(call({ caution: CAUTION }))
  expect(evaluate('allow')).toMatchObject({ verdict: 'ask', rule: 'changed tool', reason: CAUTION, version: 7 })
  expect(evaluate('ask')).toMatchObject({ verdict: 'ask', rule: 'ask', reason: CAUTION })
  expect(evaluate('deny')).toMatchObject({ verdict: 'deny', rule: 'deny', reason: 'Denied by the rule "deny"' })
  expect(compile(rule('allow')).evaluate(call())).toMatchObject({ verdict: 'allow', rule: 'allow' })
})

test('a call of a changed tool waits for as long as the document says', () => {
  const policy = compilePolicy({ default: 'ask', expires: 'P1D', extend: 'PT1H', rules: [rule('allow')] }, 7)
  expect(policy.evaluate(call({ caution: CAUTION }))).toMatchObject({ verdict: 'ask', expiresMs: 86_400_000, extend: 'PT1H' })
  expect(policy.evaluate(call())).not.toHaveProperty('expiresMs')
})

test('a rule for all tools does not allow one that an agent registered for itself', () => {
  const policy = compile(rule('allow'))
  expect(policy.evaluate(call()).verdict).toBe('allow')
  expect(policy.evaluate(call({ registered: { by: 'agent' } as never })).verdict).toBe('ask')
})

test('a stored condition that this version cannot read makes its rule no weaker, and is named', () => {
  const unreadable = (verdict: 'allow' | 'ask' | 'deny') => compile(rule(verdict, 'args.amount ==> 5')).evaluate(call())
  expect(unreadable('allow')).toMatchObject({
    verdict: 'ask',
    reason: expect.stringContaining('the condition of "allow" cannot be read here'),
  })
  expect(unreadable('deny')).toMatchObject({ verdict: 'deny' })
})

test('each rule is explained: whether it matches, and why its condition failed', () => {
  const policy = compile(rule('allow', 'args.amount < 50'), rule('ask', 'args.weight > 1'), rule('deny', 'args.amount > 500'))
  expect(policy.explain(call())).toEqual([
    { rule: 'allow', verdict: 'allow', matches: true },
    { rule: 'ask', verdict: 'ask', matches: true, failed: expect.stringContaining('No such key: weight') },
    { rule: 'deny', verdict: 'deny', matches: false },
  ])
})

test('equal documents have equal digests, whatever the order of their keys', () => {
  const digest = (document: PolicyDocument) => compilePolicy(document, 1).digest
  expect(digest({ default: 'ask', rules: [] })).toBe(digest({ rules: [], default: 'ask' }))
  expect(digest({ default: 'ask', rules: [] })).not.toBe(digest({ default: 'deny', rules: [] }))
})

test('a policy with hundreds of small conditions answers all of them: what one leaves of its steps is there for the next', () => {
  const small = Array.from({ length: 300 }, (_, at) => ({ ...rule('deny', `args.amount > 5${at}`), name: `rule ${at}` }))
  const policy = compile(...small)
  expect(policy.evaluate(call())).toMatchObject({ verdict: 'ask', rule: 'default' })
  expect(policy.explain(call()).filter(({ matches }) => matches)).toEqual([])
})

test('a requester without a person has the empty person, so that no condition about one fails', () => {
  const policy = compile(rule('allow', 'requester.person == ""'))
  const service: Principal = { id: 'prn_job', kind: 'service', name: 'job', roles: [] }
  expect(policy.evaluate({ ...call(), requester: service }).verdict).toBe('allow')
  expect(policy.evaluate(call()).verdict).toBe('ask')
})

test.each([{ tool: 'refund' }, { tool: 'bank.*' }, { effect: 'write' as const }, { agent: 'desk' }])(
  'a rule for %o is about the calls that it names, and about no others',
  (match) => {
    const policy = compilePolicy({ default: 'ask', rules: [{ name: 'r', match, verdict: 'deny' }] }, 1)
    expect(policy.evaluate(call()).rule).toBe('r')
    expect(policy.evaluate({ ...call({ name: 'pay', group: 'shop', effect: 'read' }), agent: 'other' }).rule).toBe('default')
  },
)
