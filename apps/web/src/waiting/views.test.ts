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
const viewsOf = (one: Action, me = mia, standsFor: Principal[] = []) =>
  (['mine', 'waiting', 'overdue', 'unknown'] as const).filter((view) => isIn(view, one, { me, standsFor }))

test('each action stands in the views that it belongs to', () => {
  expect(viewsOf(action({}))).toEqual(['mine', 'waiting'])
  expect(viewsOf(action({ overdue: true }))).toEqual(['mine', 'waiting', 'overdue'])
  expect(viewsOf(action({ state: 'outcome_unknown' }))).toEqual(['mine', 'waiting', 'unknown'])
  expect(viewsOf(action({}), fay)).toEqual(['waiting'])
  expect(viewsOf(action({}), fay, [mia])).toEqual(['mine', 'waiting'])
  expect(viewsOf(action({ votes: [{ by: mia, verdict: 'approve', at: '' }] }))).toEqual(['waiting'])
  expect(viewsOf(action({ votes: [{ by: fay, verdict: 'approve', at: '' }] }))).toEqual(['mine', 'waiting'])
})

test('what was just decided stays in its view, and counts nowhere', () => {
  const declined = action({ state: 'declined', votes: [{ by: mia, verdict: 'decline', at: '' }] })
  const settled = action({ state: 'succeeded', resolution: { by: mia, outcome: 'succeeded', note: 'seen', at: '' } })
  expect(viewsOf(declined)).toEqual(['mine', 'waiting'])
  expect(viewsOf(settled)).toEqual(['mine', 'waiting', 'unknown'])
  const open = [action({}), action({ overdue: true }), action({ state: 'outcome_unknown' })]
  expect(countViews([declined, settled, ...open], { me: mia, standsFor: [] })).toEqual({ mine: 3, waiting: 3, overdue: 1, unknown: 1 })
  expect(countViews(open, { me: fay, standsFor: [] })).toEqual({ mine: 0, waiting: 3, overdue: 1, unknown: 1 })
})

test('an address names a view or none', () => {
  expect(VIEWS.every(({ view }) => isView(view))).toBe(true)
  expect([null, '', 'toString', 'Mine'].some(isView)).toBe(false)
})
