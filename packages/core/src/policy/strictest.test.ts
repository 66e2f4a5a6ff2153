import fc from 'fast-check'
import { expect, test } from 'vitest'
import { meetsRoles } from '../decision/tally.ts'
import type { RiskLevel } from '../wire/action.ts'
import { DEFAULT_REQUIREMENTS, type PolicyResult, type Requirements } from './evaluate.ts'
import { higherRisk, strictestRequirements, strictestResult } from './strictest.ts'

const ROLES = ['approver', 'admin', 'finance', 'legal']
const RISKS: RiskLevel[] = ['low', 'medium', 'high', 'critical']
const someRoles = fc.subarray(ROLES, { minLength: 1 })
const requirements: fc.Arbitrary<Requirements> = fc.record({
  quorum: fc.integer({ min: 1, max: 3 }),
  declineQuorum: fc.integer({ min: 1, max: 3 }),
  roles: someRoles,
  notRequester: fc.boolean(),
})
const result: fc.Arbitrary<PolicyResult> = fc
  .record(
    {
      verdict: fc.constantFrom('allow' as const, 'ask' as const, 'deny' as const),
      rule: fc.constantFrom('a', 'b', 'default'),
      reason: fc.constantFrom('because', 'it says so'),
      version: fc.constant(1),
      requires: requirements,
      risk: fc.constantFrom(...RISKS),
      expiresMs: fc.integer({ min: 1, max: 9 }),
      remindMs: fc.integer({ min: 1, max: 9 }),
      escalation: fc.record({ escalateMs: fc.integer({ min: 1, max: 9 }), escalateTo: someRoles }),
    },
    { requiredKeys: ['verdict', 'rule', 'reason', 'version', 'requires'] },
  )
  .map(({ escalation, ...rest }) => ({ ...rest, ...escalation }))
const results = fc.array(result, { minLength: 1, maxLength: 4 })
const risk = fc.constantFrom(...RISKS)

const STRENGTH = { allow: 0, ask: 1, deny: 2 }

/** Everything that would be possible after `one` and not after `other`. */
function loosened(one: PolicyResult, other: PolicyResult, ownRisk: RiskLevel): string[] {
  const found: string[] = []
  if (STRENGTH[one.verdict] > STRENGTH[other.verdict]) found.push('verdict')
  const [before = ownRisk, after = ownRisk] = [one.risk, other.risk]
  if (higherRisk(before, after) !== after) found.push('risk')
  if (one.verdict !== other.verdict) return found
  if (other.requires.quorum < one.requires.quorum) found.push('quorum')
  if (other.requires.declineQuorum > one.requires.declineQuorum) found.push('declineQuorum')
  if (one.requires.notRequester && !other.requires.notRequester) found.push('notRequester')
  if ((other.expiresMs ?? Number.POSITIVE_INFINITY) > (one.expiresMs ?? Number.POSITIVE_INFINITY)) found.push('expires')
  for (const held of fc.sample(fc.subarray(ROLES), 16)) {
    if (meetsRoles(held, other.requires) && !meetsRoles(held, one.requires)) found.push(`roles ${held}`)
  }
  const added = (other.escalateTo ?? []).filter((role) => !(one.escalateTo ?? []).includes(role))
  if (added.length > 0) found.push(`escalation to ${added}`)
  return found
}

test('one more answer never makes what is said together looser', () => {
  fc.assert(
    fc.property(results, result, risk, (some, more, ownRisk) => {
      const before = strictestResult(some, ownRisk)
      const after = strictestResult([...some, more], ownRisk)
      expect(loosened(before, after, ownRisk)).toEqual([])
      expect(loosened(more, after, ownRisk)).toEqual([])
    }),
  )
})

test('the order of the answers changes nothing, and an answer that is given twice counts once', () => {
  fc.assert(
    fc.property(results, risk, (some, ownRisk) => {
      const shuffled = [...some].reverse()
      expect(strictestResult(shuffled, ownRisk)).toEqual(strictestResult(some, ownRisk))
      const rotated = [...some.slice(1), ...some.slice(0, 2)]
      expect(strictestResult(rotated, ownRisk)).toEqual(strictestResult(some, ownRisk))
    }),
  )
})

test('who satisfies joined requirements satisfies each of them, and who satisfies each satisfies them together', () => {
  fc.assert(
    fc.property(requirements, requirements, fc.subarray(ROLES), (one, other, held) => {
      const both = strictestRequirements(one, other)
      expect(meetsRoles(held, both)).toBe(meetsRoles(held, one) && meetsRoles(held, other))
      expect(meetsRoles(held, strictestRequirements(both, one))).toBe(meetsRoles(held, both))
    }),
  )
})

test('one answer is given back as it is', () => {
  fc.assert(
    fc.property(result, risk, (only, ownRisk) => {
      expect(strictestResult([only], ownRisk)).toBe(only)
    }),
  )
})

test('the time is extended only where every answer lets people, by the shortest of these times', () => {
  const answer = (rule: string, extend?: string): PolicyResult => ({
    ...{ verdict: 'ask', rule, reason: rule, version: 1, requires: DEFAULT_REQUIREMENTS },
    ...(extend !== undefined && { extend }),
  })
  const extended = (...times: (string | undefined)[]) =>
    strictestResult(
      times.map((extend, at) => answer(`r${at}`, extend)),
      'low',
    ).extend
  expect(extended('PT5M', 'PT1M', 'PT3M')).toBe('PT1M')
  expect(extended('PT1M', 'PT5M')).toBe('PT1M')
  expect(extended('PT60S', 'PT1M')).toBe('PT60S')
  expect(extended('PT5M', undefined)).toBeUndefined()
  expect(extended(undefined, 'PT5M')).toBeUndefined()
})

test('of two grace periods the longer one counts, and one is not lost', () => {
  const grace = (one?: string, other?: string) => {
    const [a, b] = [one, other].map((time) => ({ ...DEFAULT_REQUIREMENTS, ...(time !== undefined && { grace: time }) }))
    return strictestRequirements(a ?? DEFAULT_REQUIREMENTS, b ?? DEFAULT_REQUIREMENTS).grace
  }
  expect([grace('PT10S', 'PT1M'), grace('PT1M', 'PT10S')]).toEqual(['PT1M', 'PT1M'])
  expect([grace('PT10S'), grace(undefined, 'PT10S')]).toEqual(['PT10S', 'PT10S'])
  expect(grace()).toBeUndefined()
})

test('without an answer there is none to choose', () => {
  expect(() => strictestResult([], 'low')).toThrow('at least one answer')
})
