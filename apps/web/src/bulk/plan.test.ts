import type { Action, Principal } from '@countersign/client'
import { expect, test } from 'vitest'
import { sampleAction } from '../../../../packages/react/src/testing/actions.ts'
import { MOST_AT_ONCE, planBulk } from './plan.ts'

const me: Principal = { id: 'prn_me', kind: 'person', name: 'Me', roles: ['approver'] }
const viewer = { me, standsFor: [] }
const risk = (level: Action['risk']['level']) => ({ level, reasons: [], setBy: 'policy' as const })
const reasonFor = (changed: Partial<Action>, verdict: 'approve' | 'decline' = 'approve') =>
  planBulk([sampleAction(changed)], verdict, viewer).left[0]?.why

test('what a person has to look at by itself is never decided with others, and each says why', () => {
  expect(reasonFor({})).toBeUndefined()
  for (const verdict of ['approve', 'decline'] as const) {
    expect(reasonFor({ risk: risk('high') }, verdict)).toBe('High risk is decided one by one.')
    expect(reasonFor({ risk: risk('critical') }, verdict)).toBe('Critical risk is decided one by one.')
    expect(reasonFor({ state: 'outcome_unknown' }, verdict)).toContain('outcome is unknown')
    expect(reasonFor({ state: 'declined' }, verdict)).toContain('does not wait any more')
    expect(reasonFor({ requires: { quorum: 1, declineQuorum: 1, roles: ['finance'], notRequester: false } }, verdict)).toContain('finance')
  }
  const long = { arguments: { text: 'x'.repeat(5_000) } }
  expect(reasonFor(long)).toContain('hidden')
  expect(reasonFor(long, 'decline')).toBeUndefined()
  expect(reasonFor({ executor: 'client' })).toContain('in a browser')
  const vote = { by: me, verdict: 'approve' as const, at: '2026-11-21T10:00:00.000Z' }
  expect(reasonFor({ votes: [vote], requires: { quorum: 2, declineQuorum: 1, roles: ['approver'], notRequester: false } })).toContain(
    'voted',
  )
})

test('nothing beyond what one can look through goes at once, and it is said', () => {
  const many = Array.from({ length: MOST_AT_ONCE + 1 }, (_, n) => sampleAction({ id: `act_${n}` }))
  const { going, left } = planBulk(many, 'approve', viewer)
  expect([going.length, left.map(({ why }) => why)]).toEqual([MOST_AT_ONCE, [`At most ${MOST_AT_ONCE} are decided at once.`]])
})
