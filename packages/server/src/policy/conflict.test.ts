import { PolicyDocument, type PolicyRule } from '@countersign/core'
import { expect, test } from 'vitest'
import { openRelations } from './condition-relation.ts'
import { findConflict } from './conflict.ts'

type Given = Partial<Omit<PolicyRule, 'name' | 'requires'>> & { requires?: Partial<NonNullable<PolicyRule['requires']>> }

const relations = openRelations()
const rule = (name: string, given: Given): PolicyRule => {
  const document = PolicyDocument.parse({ rules: [{ name, match: {}, verdict: 'ask', ...given }] })
  return document.rules[0] as PolicyRule
}
const conflictOf = (earlier: Given, later: Given) => findConflict(rule('earlier', earlier), rule('later', later), relations)

test.each<[string, Given, Given]>([
  ['its quorum of 1 applies, not 2', {}, { requires: { quorum: 2 } }],
  ['it takes 2 declines to end the action, not 1', { requires: { declineQuorum: 2 } }, {}],
  [
    'people with the role approver or lead may vote, not only lead',
    { requires: { roles: ['approver', 'lead'] } },
    { requires: { roles: ['lead'] } },
  ],
  ['the person who asked may vote', {}, { requires: { notRequester: true } }],
  ['the action starts at once, not after PT10S', {}, { requires: { grace: 'PT10S' } }],
  ['the action starts after PT5S, not after PT10S', { requires: { grace: 'PT5S' } }, { requires: { grace: 'PT10S' } }],
  ['the risk is that of the tool, not critical', {}, { risk: 'critical' }],
  ['the risk is low, not high', { risk: 'low' }, { risk: 'high' }],
])('%s: said of the earlier rule, and nothing of two rules the other way round or alike', (less, weaker, stricter) => {
  expect(conflictOf(weaker, stricter)).toEqual({ isCertain: true, less: [less] })
  for (const [one, other] of [
    [stricter, weaker],
    [weaker, weaker],
    [stricter, stricter],
  ] as const) {
    expect(conflictOf(one, other)).toBeUndefined()
  }
})

const STRICTER: Given = { requires: { quorum: 2 } }

test('only rules that ask conflict', () => {
  for (const verdict of ['allow', 'deny'] as const) {
    expect(conflictOf({ verdict }, STRICTER)).toBeUndefined()
    expect(conflictOf({ requires: { declineQuorum: 2 } }, { verdict })).toBeUndefined()
  }
})

test.each<[string | undefined, string | undefined, boolean]>([
  ['desk', 'desk', true],
  ['desk-*', 'desk-1', true],
  ['desk-1', 'desk-*', true],
  ['*-night', 'desk-*', true],
  ['desk', 'billing', false],
  ['desk*', 'billing', false],
  ['billing', 'desk*', false],
  [undefined, 'desk', true],
  ['desk', undefined, true],
])('rules for the agents %s and %s meet at a call: %s', (agent, another, meets) => {
  const of = (name: string | undefined): PolicyRule['match'] => (name === undefined ? {} : { agent: name })
  expect(conflictOf({ match: of(agent) }, { match: of(another), ...STRICTER }) !== undefined).toBe(meets)
})

test.each<[string | undefined, string | undefined, boolean]>([
  ['args.amount > 5', 'args.amount > 9', true],
  ['args.amount > 5', 'args.amount < 3', false],
  [undefined, 'args.amount < 3', true],
  ['args.amount > 5', undefined, true],
])('rules whose conditions are %s and %s meet at a call: %s', (when, another, meets) => {
  const of = (condition: string | undefined): PolicyRule['match'] => (condition === undefined ? {} : { when: condition })
  expect(conflictOf({ match: of(when) }, { match: of(another), ...STRICTER }) !== undefined).toBe(meets)
})

test('where each of two rules is stricter in its way, only a certain conflict is told', () => {
  const [east, west] = [{ requires: { roles: ['east'] } }, { requires: { roles: ['west'] } }]
  expect(conflictOf(east, west)).toMatchObject({ isCertain: true })
  expect(conflictOf({ ...east, match: { when: 'args.a > 1' } }, { ...west, match: { when: 'args.b > 1' } })).toBeUndefined()
  expect(conflictOf({ match: { when: 'args.a > 1' } }, { match: { when: 'args.b > 1' }, ...STRICTER })).toMatchObject({ isCertain: false })
})
