import fc from 'fast-check'
import { expect, test } from 'vitest'
import { meetsRoles } from '../decision/tally.ts'
import type { RiskLevel } from '../wire/action.ts'
import type { PolicyResult, Requirements } from './evaluate.ts'
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
