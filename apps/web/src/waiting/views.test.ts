import type { Action, Principal } from '@countersign/client'
import { expect, test } from 'vitest'
import { countViews, isIn, isView, VIEWS } from './views.ts'

const person = (id: string, roles: string[]): Principal => ({ id, kind: 'person', name: id, roles })
const mia = person('mia', ['approver'])
const fay = person('fay', ['finance'])

const action = (more: object): Action =>
  ({
    state: 'proposed',
    overdue: false,
    resolution: null,
    votes: [],
    requires: { quorum: 1, declineQuorum: 1, roles: ['approver'], notRequester: false },
    requestedBy: { id: 'agent', kind: 'agent', name: 'agent', roles: [] },
    ...more,
  }) as unknown as Action
const viewsOf = (one: Action, me = mia, standsFor: Principal[] = [], snoozes: ReadonlyMap<string, string> = new Map()) =>
  (['mine', 'waiting', 'overdue', 'unknown', 'snoozed'] as const).filter((view) => isIn(view, one, { me, standsFor, snoozes }))

test('each action stands in the views that it belongs to', () => {
  expect(viewsOf(action({}))).toEqual(['mine', 'waiting'])
  expect(viewsOf(action({ overdue: true }))).toEqual(['mine', 'waiting', 'overdue'])
  expect(viewsOf(action({ state: 'outcome_unknown' }))).toEqual(['mine', 'waiting', 'unknown'])
  expect(viewsOf(action({}), fay)).toEqual(['waiting'])
  expect(viewsOf(action({}), fay, [mia])).toEqual(['mine', 'waiting'])
  expect(viewsOf(action({ votes: [{ by: mia, verdict: 'approve', at: '' }] }))).toEqual(['waiting'])
  expect(viewsOf(action({ votes: [{ by: fay, verdict: 'approve', at: '' }] }))).toEqual(['mine', 'waiting'])
})

test('what the server would refuse is not theirs to decide, and what it would take is', () => {
  const requires = { quorum: 2, declineQuorum: 1, roles: ['approver'], notRequester: true }
  const vote = { by: mia, verdict: 'approve', at: '' }
  expect(viewsOf(action({ requires, requesters: [mia] }), fay, [mia]), 'in whose place they are asked for it').toEqual(['waiting'])
  expect(viewsOf(action({ requires, votes: [vote] }), fay, [mia]), 'in whose place they are has voted').toEqual(['waiting'])
  expect(viewsOf(action({ state: 'outcome_unknown' }), fay, [mia]), 'an outcome is told by who has the role').toEqual([
    'waiting',
    'unknown',
  ])
  const lapsed = { by: fay, for: mia, verdict: 'approve', at: '', counts: false }
  expect(viewsOf(action({ requires, votes: [lapsed] }), fay, [mia]), 'their vote does not count').toEqual(['mine', 'waiting'])
})

test('a snoozed action is not for its person until it returns, and stays where everybody looks', () => {
  const snoozes = new Map([['act_1', '2026-11-24T12:00:00.000Z']])
  expect(viewsOf(action({ id: 'act_1', overdue: true }), mia, [], snoozes)).toEqual(['waiting', 'overdue', 'snoozed'])
  expect(viewsOf(action({ id: 'act_2' }), mia, [], snoozes)).toEqual(['mine', 'waiting'])
})

test('what was just decided stays in its view, and counts nowhere', () => {
  const declined = action({ state: 'declined', votes: [{ by: mia, verdict: 'decline', at: '' }] })
  const settled = action({ state: 'succeeded', resolution: { by: mia, outcome: 'succeeded', note: 'seen', at: '' } })
  expect(viewsOf(declined)).toEqual(['mine', 'waiting'])
  expect(viewsOf(settled)).toEqual(['mine', 'waiting', 'unknown'])
  const open = [action({}), action({ overdue: true }), action({ state: 'outcome_unknown' })]
  expect(countViews([declined, settled, ...open], { me: mia, standsFor: [], snoozes: new Map() })).toEqual({
    mine: 3,
    waiting: 3,
    overdue: 1,
    unknown: 1,
    snoozed: 0,
  })
  expect(countViews(open, { me: fay, standsFor: [], snoozes: new Map() })).toEqual({
    mine: 0,
    waiting: 3,
    overdue: 1,
    unknown: 1,
    snoozed: 0,
  })
})

test('an address names a view or none', () => {
  expect(VIEWS.every(({ view }) => isView(view))).toBe(true)
  expect([null, '', 'toString', 'Mine'].some(isView)).toBe(false)
})
