import type { Action } from '@countersign/core'
import { expect, test } from 'vitest'
import { answerAbout } from './answers.ts'

test('a client is told the reasons of all votes that declined the action, and not of one that does not count', () => {
  const by = { id: 'prn_ana', kind: 'person', name: 'Ana', roles: [] } as const
  const action = {
    ...{ id: 'act_1', state: 'declined', policy: { verdict: 'ask' }, decidedAt: 'then', outcome: { status: 'declined', text: '' } },
    votes: [
      { by, verdict: 'decline', at: '', reason: 'without a right', counts: false },
      { by, verdict: 'decline', at: '' },
      { by, verdict: 'decline', at: '', reason: 'too much' },
      { by, verdict: 'decline', at: '', reason: 'wrong order' },
    ],
  } as unknown as Action
  expect(answerAbout(action, { url: '', isRepeated: false }).structuredContent).toMatchObject({ reason: 'too much / wrong order' })
})
