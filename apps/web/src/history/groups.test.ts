import type { Action, Principal } from '@countersign/client'
import { decidingReason } from '@countersign/core/text'
import { expect, test } from 'vitest'
import { sampleAction } from '../../../../packages/client/src/testing/log-server.ts'
import { deciderText } from './decider.ts'
import { type Grouping, groupsOf } from './groups.ts'

const ben: Principal = { id: 'prn_ben', kind: 'person', name: 'Ben "B"', roles: [] }
const vote: Action['votes'][number] = { by: ben, verdict: 'decline', at: '2026-11-26T10:00:00.000Z' }
const made = (id: string, more: Partial<Action>): Action =>
  sampleAction({ id, settledAt: '2026-11-26T10:00:00.000Z', state: 'declined', votes: [vote], ...more })

const ACTIONS = [
  made('act_1', { tool: 'pay', agent: 'night', agentVerified: true }),
  made('act_2', { tool: 'mail', agent: null, votes: [], state: 'expired' }),
  made('act_3', { tool: 'pay', agent: 'night', agentVerified: false, settledAt: '2026-11-25T10:00:00.000Z' }),
]

const groups = (by: Grouping, search = '') =>
  groupsOf(ACTIONS, by, search).map(({ title, href, actions }) => [title, actions.map(({ id }) => id), href])

test('without groups all actions are one, without a heading', () => {
  expect(groupsOf(ACTIONS, undefined, '')).toEqual([{ key: '', title: undefined, href: undefined, actions: ACTIONS }])
})

test('groups stand in the order of their first actions, and each leads to all of its kind under the same filters', () => {
  expect(groups('tool', 'state=declined&group=tool&order=waited')).toEqual([
    ['pay', ['act_1', 'act_3'], '?state=declined&order=waited&q=tool%3A%22pay%22'],
    ['mail', ['act_2'], '?state=declined&order=waited&q=tool%3A%22mail%22'],
  ])
  expect(groups('tool', 'q=risk%3Ahigh')[0]?.[2]).toBe('?q=risk%3Ahigh+tool%3A%22pay%22')
  expect(groups('result')).toEqual([
    ['Declined', ['act_1', 'act_3'], '?state=declined'],
    ['Expired', ['act_2'], '?state=expired'],
  ])
  expect(groups('decider')).toEqual([
    ['Ben "B"', ['act_1', 'act_3'], '?decider=Ben+%22B%22'],
    ['Nobody in time', ['act_2'], undefined],
  ])
})

test('what was decided is told of those whose votes decided it, with their reason', () => {
  const ana: Principal = { ...ben, id: 'prn_ana', name: 'Ana' }
  const votes: Action['votes'] = [
    { ...vote, reason: 'too much' },
    { ...vote, by: ana, verdict: 'approve', reason: 'agreed by phone' },
    { ...vote, by: ben, for: ana, verdict: 'approve', counts: false },
  ]
  const told = (more: Partial<Action>) => {
    const action = made('act_1', { votes, decidedAt: vote.at, ...more })
    return [deciderText(action), decidingReason(action), groupsOf([action], 'decider', '')[0]?.href]
  }
  expect(told({ state: 'succeeded' })).toEqual(['Ana', 'agreed by phone', undefined])
  expect(told({ state: 'declined' })).toEqual(['Ben "B"', 'too much', undefined])
  expect(told({ state: 'expired' }), 'approved, and not claimed in time').toEqual(['Ana', 'agreed by phone', undefined])
  expect(told({ state: 'declined', votes: [vote, ...votes, { ...vote, by: ana, reason: 'wrong order' }] })[1]).toBe(
    'too much / wrong order',
  )
  expect(told({ state: 'expired', decidedAt: null })).toEqual(['Nobody in time', undefined, undefined])
  expect(told({ state: 'cancelled', decidedAt: null, votes: [vote] }), 'withdrawn after one vote of two').toEqual([
    '–',
    undefined,
    undefined,
  ])
})

test('an agent whose name is not verified is another group than the one with that name', () => {
  expect(groups('agent').map(([title]) => title)).toEqual(['night', 'No agent', 'night (not verified)'])
})

test('a day is that of the reader, and leads to its actions', () => {
  expect(groups('day').map(([, ids, href]) => [ids, href])).toEqual([
    [['act_1', 'act_2'], '?since=2026-11-26&until=2026-11-26'],
    [['act_3'], '?since=2026-11-25&until=2026-11-25'],
  ])
})
