import type { Action, Principal } from '@countersign/core'
import { expect, test } from 'vitest'
import { createCallWriter } from './call-writer.ts'
import type { Chunk } from './chunks.ts'

const by: Principal = { id: 'prn_ana', kind: 'person', name: 'Ana', roles: [] }

test('an approval is answered with the words of those whose votes decided it, and of nobody else', () => {
  for (const [state, approved, reason] of [
    ['succeeded', true, 'agreed by phone'],
    ['declined', false, 'too much / wrong order'],
  ] as const) {
    const sent: Chunk[] = []
    const writer = createCallWriter({ send: (chunk) => sent.push(chunk), client: undefined })
    const votes: Action['votes'] = [
      { by, verdict: 'approve', at: '', reason: 'agreed by phone' },
      { by, verdict: 'decline', at: '' },
      { by, verdict: 'decline', at: '', reason: 'too much' },
      { by, verdict: 'decline', at: '', reason: 'wrong order' },
      { by, verdict: state === 'declined' ? 'decline' : 'approve', at: '', reason: 'without a right', counts: false },
    ]
    const waiting = { id: 'act_1', revision: 1, state: 'proposed', votes: [], policy: { reason: '' }, requires: {} } as unknown as Action
    writer.add('call_1', 'pay', {})
    writer.show('call_1', waiting, undefined)
    writer.show('call_1', { ...waiting, state, decidedAt: 'then', votes } as Action, waiting)
    expect(sent.filter(({ type }) => type === 'tool-approval-response')).toMatchObject([{ approved, reason }])
  }
})
