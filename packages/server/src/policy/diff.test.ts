import { canonicalJson, PolicyDocument } from '@countersign/core'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { diffPolicies } from './diff.ts'
import { orderPolicy } from './order.ts'
import { lineOf } from './text.ts'

const TWO = {
  name: 'two for gold',
  match: { tool: 'keyed', effect: 'write', when: 'args.what.contains("gold")' },
  verdict: 'ask',
  requires: { quorum: 2, declineQuorum: 1, roles: ['finance'], notRequester: true },
  expires: 'PT1H',
  escalate: { after: 'PT10M', roles: ['cfo'] },
  risk: 'critical',
} as const
const policy = (...rules: object[]): PolicyDocument => PolicyDocument.parse({ rules })

test('a stored document comes back with its keys as people write them', () => {
  const stored: PolicyDocument = JSON.parse(canonicalJson(policy(TWO)))
  expect(JSON.stringify(stored)).not.toBe(JSON.stringify({ default: 'ask', rules: [TWO] }))
  expect(JSON.stringify(orderPolicy(stored))).toBe(JSON.stringify({ default: 'ask', rules: [TWO] }))
})

test('a change is told as the part of the document that it is, never cut', () => {
  const when = `args.what in ["${'x'.repeat(900)}"]`
  const texts = (before: PolicyDocument, after: PolicyDocument) => diffPolicies(before, after).map(({ text }) => text)
  expect(texts(policy(), policy(TWO))).toEqual([
    'added "two for gold": { match: { tool: keyed, effect: write, when: args.what.contains("gold") }, verdict: ask, ' +
      'requires: { quorum: 2, declineQuorum: 1, roles: [ finance ], notRequester: true }, expires: PT1H, ' +
      'escalate: { after: PT10M, roles: [ cfo ] }, risk: critical }',
  ])
  const { risk: _risk, ...rest } = TWO
  const changed = { ...rest, match: { tool: 'keyed', when }, requires: { ...TWO.requires, quorum: 3 } }
  expect(texts(policy(TWO), policy(changed))).toEqual([
    '"two for gold" match.effect: write → nothing',
    `"two for gold" match.when: args.what.contains("gold") → ${lineOf(when)}`,
    '"two for gold" requires.quorum: 2 → 3',
    '"two for gold" risk: critical → nothing',
  ])
  expect(lineOf(when)).toContain('x'.repeat(900))
})

test('what holds for the whole policy is told when it changes, and only then', () => {
  const whole = (given: object) => PolicyDocument.parse({ rules: [], ...given })
  const before = whole({ default: 'deny', expires: 'PT1H', limits: { waitingPerAgent: 5 } })
  expect(diffPolicies(before, whole({ extend: 'PT2H', limits: { waitingPerAgent: 6, waitingPerSession: 3 } }))).toEqual([
    { kind: 'changed', text: 'default: deny → ask' },
    { kind: 'changed', text: 'expires: PT1H → nothing' },
    { kind: 'changed', text: 'extend: nothing → PT2H' },
    { kind: 'changed', text: 'limits.waitingPerAgent: 5 → 6' },
    { kind: 'changed', text: 'limits.waitingPerSession: usual → 3' },
  ])
  expect(diffPolicies(before, before)).toEqual([])
})

test('rules that are added, changed, removed and moved are told by their names', () => {
  const rule = (name: string, verdict = 'ask') => ({ name, match: { tool: name }, verdict })
  const before = policy(rule('a'), rule('b'), rule('c'), rule('gone'))
  expect(diffPolicies(before, policy(rule('new'), rule('c'), rule('b', 'deny'), rule('a')))).toEqual([
    { kind: 'added', rule: 'new', text: 'added "new": { match: { tool: new }, verdict: ask }' },
    { kind: 'changed', rule: 'b', text: '"b" verdict: ask → deny' },
    { kind: 'removed', rule: 'gone', text: 'removed "gone": { match: { tool: gone }, verdict: ask }' },
    { kind: 'moved', rule: 'c', text: '"c" stands elsewhere: of two rules that ask, the first names the requirements' },
  ])
  // The rules that stay are in their order, although others came before them and between them.
  expect(diffPolicies(before, policy(rule('new'), rule('a'), rule('b'), rule('other'), rule('c'), rule('gone')))).toMatchObject([
    { kind: 'added', rule: 'new' },
    { kind: 'added', rule: 'other' },
  ])
})

test('any text stands in one line that means the same', () => {
  for (const text of ['a\nb', `${'long '.repeat(60)}\n\tend`, '{ not: this }', '# no comment', '', 'yes', '12', '\u202e'])
    expect([lineOf({ when: text }).includes('\n'), parse(lineOf({ when: text }))], text).toEqual([false, { when: text }])
})
