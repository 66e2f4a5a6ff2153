import { expect, test } from 'vitest'
import { durationText, type Rule, ruleSentence } from './rule-words.ts'

const rule = (more: Partial<Rule>): Rule => ({ name: 'r', match: {}, verdict: 'ask', ...more })

test('each kind of rule is one plain sentence', () => {
  expect(ruleSentence(rule({ match: { effect: 'read' }, verdict: 'allow' }))).toBe('All calls that only read run without asking')
  expect(ruleSentence(rule({ match: { tool: 'shop.*', agent: 'desk' }, verdict: 'deny', reason: 'not here' }))).toBe(
    'Calls of shop.* by desk are denied: not here',
  )
  expect(ruleSentence(rule({ match: { tool: 'shop.refund', effect: 'write' } }))).toBe(
    'Calls of shop.refund that change something need approval by approver',
  )
})

test('who has to approve, and by when, is part of the sentence', () => {
  const requires = { quorum: 2, roles: ['finance', 'admin'], notRequester: true, grace: 'PT10S' }
  const asked = rule({ requires, escalate: { after: 'PT30M', roles: ['admin'] } })
  expect(ruleSentence(asked, 'P1D')).toBe(
    'All calls need 2 approvals by finance or admin, not by the person who asked, start 10 seconds after the approval, are open to admin as well after 30 minutes, expire after 1 day',
  )
  expect(ruleSentence({ ...asked, escalate: undefined, requires: undefined, expires: 'PT1H' }, 'P1D')).toBe(
    'All calls need approval by approver, expire after 1 hour',
  )
})

test('durations are read in words, and what is no duration stands as it is', () => {
  expect(['PT90S', 'PT1H30M', 'P2DT1M', 'PT2.25S', 'PT1M0.5S', 'P1W', 'soon'].map(durationText)).toEqual([
    '90 seconds',
    '1 hour 30 minutes',
    '2 days 1 minute',
    '2.25 seconds',
    '1 minute 0.5 seconds',
    'P1W',
    'soon',
  ])
})
