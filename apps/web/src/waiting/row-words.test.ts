import type { Action, Principal } from '@countersign/client'
import { expect, test } from 'vitest'
import { ageText, askedText, standingText } from './row-words.ts'

const nowMs = Date.parse('2026-11-21T12:00:00.000Z')
const person: Principal = { id: 'mia', kind: 'person', name: 'Mia', roles: [] }
const action = (more: object): Action =>
  ({
    state: 'proposed',
    overdue: false,
    createdAt: '2026-11-21T11:50:00.000Z',
    updatedAt: '2026-11-21T11:58:00.000Z',
    expiresAt: null,
    requires: { quorum: 1 },
    votes: [],
    ...more,
  }) as unknown as Action
const standing = (more: object) => standingText(action(more), nowMs)

test('the end of a row says votes, deadline or delay, and marks what needs attention first', () => {
  const vote = { by: person, verdict: 'approve', at: '' }
  expect(standing({})).toEqual({ text: '', isAlarm: false })
  expect(standing({ expiresAt: '2026-11-21T15:30:00.000Z' })).toEqual({ text: '3 h left', isAlarm: false })
  expect(standing({ expiresAt: '2026-11-21T12:12:00.000Z' })).toEqual({ text: '12 min left', isAlarm: true })
  expect(standing({ expiresAt: '2026-11-21T11:59:59.000Z' })).toEqual({ text: 'expires now', isAlarm: true })
  expect(standing({ requires: { quorum: 2 }, votes: [vote] })).toEqual({ text: '1 of 2 votes', isAlarm: false })
  expect(standing({ requires: { quorum: 2 }, overdue: true })).toEqual({ text: '0 of 2 votes · Overdue 10 min', isAlarm: true })
  expect(standing({ state: 'outcome_unknown' })).toEqual({ text: 'Outcome unknown', isAlarm: true })
  expect(standing({ state: 'declined', overdue: true })).toEqual({ text: 'Declined', isAlarm: false })
})

test('the age of a row counts from the question while it waits, then from its last change', () => {
  expect(ageText(action({}), nowMs)).toBe('10 min')
  expect(ageText(action({ state: 'declined' }), nowMs)).toBe('2 min')
})

test('who asked is told as far as it is known, and nothing in a name is hidden', () => {
  const ben = { ...person, id: 'ben', name: 'B\u202en' }
  expect(askedText({ agent: null, agentVerified: false, requesters: [person] })).toBe('Mia')
  expect(askedText({ agent: 'desk', agentVerified: true, requesters: [person, ben] })).toBe('desk for Mia and B⟦U+202E⟧n')
  expect(askedText({ agent: 'desk', agentVerified: false, requesters: [person] })).toBe('desk (not verified) for Mia')
  const desk: Principal = { id: 'desk', kind: 'agent', name: 'desk', roles: [] }
  expect(askedText({ agent: 'desk', agentVerified: true, requesters: [desk] })).toBe('desk')
  expect(askedText({ agent: 'desk', agentVerified: true, requesters: [desk, person] })).toBe('desk for Mia')
  expect(askedText({ agent: 'desk', agentVerified: false, requesters: [desk] })).toBe('desk (not verified) for desk')
})
