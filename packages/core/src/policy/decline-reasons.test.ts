import { expect, test } from 'vitest'
import { PolicyDocument, PolicyRule } from './document.ts'
import { evaluatePolicy } from './evaluate.ts'

const rule = (more: object) => ({ name: 'refunds', match: { tool: 'refund' }, verdict: 'ask', ...more })
const subject = { tool: 'refund', group: 'shop', effect: 'write', agent: undefined } as const

test('a rule that asks offers its reasons for a decline; the default has none', () => {
  const policy = PolicyDocument.parse({ rules: [rule({ declineReasons: [' Ask finance first ', 'Already refunded'] })] })
  expect(evaluatePolicy(policy, 1, subject, () => true).declineReasons).toEqual(['Ask finance first', 'Already refunded'])
  expect(evaluatePolicy(policy, 1, { ...subject, tool: 'other' }, () => true).declineReasons).toBeUndefined()
})

test.each([
  ['none', []],
  ['nine', Array.from({ length: 9 }, (_, at) => `reason ${at}`)],
  ['an empty one', ['']],
  ['a long one', ['x'.repeat(81)]],
  ['the same twice', ['Wrong', ' Wrong']],
])('a list with %s is refused', (_, declineReasons) => {
  expect(PolicyRule.safeParse(rule({ declineReasons })).success).toBe(false)
})

test('eight reasons of 80 characters are accepted, and only a rule that asks may have reasons', () => {
  const declineReasons = Array.from({ length: 8 }, (_, at) => `${at}`.padEnd(80, 'x'))
  expect(PolicyRule.safeParse(rule({ declineReasons })).success).toBe(true)
  expect(PolicyRule.safeParse({ ...rule({ declineReasons }), verdict: 'deny' }).success).toBe(false)
})
