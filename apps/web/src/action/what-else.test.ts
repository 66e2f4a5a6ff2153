import type { Action, Principal } from '@countersign/client'
import { expect, test } from 'vitest'
import { looksAgain, withdraws } from './what-else.ts'

const person = (name: string, ...roles: string[]): Principal => ({ id: `prn_${name}`, kind: 'person', name, roles })
const [ada, ben, fay] = [person('ada', 'admin'), person('ben', 'approver'), person('fay', 'finance')]
const bot: Principal = { id: 'prn_bot', kind: 'agent', name: 'bot', roles: ['agent', 'admin'], personId: ben.id }
const action = {
  ...{ state: 'proposed', executor: 'client', votes: [], requestedBy: bot, requesters: [bot] },
  requires: { roles: ['finance'], quorum: 1, declineQuorum: 1, notRequester: false },
  policy: { verdict: 'ask' },
} as unknown as Action

test('an admin is offered to look again at what others decide about, and nobody else is', () => {
  const offered = (me: Principal, more: Partial<Action> = {}) => looksAgain({ ...action, ...more }, me, [])
  expect([ada, ben, fay, bot].map((me) => offered(me))).toEqual([true, false, false, false])
  expect(offered({ ...ada, scopes: ['manage'] })).toBe(false)
  // Where they decide, the card has the button.
  expect(offered({ ...ada, roles: ['admin', 'finance'] })).toBe(false)
  expect(offered(ada, { state: 'approved' })).toBe(false)
})

test('an admin, and who asked for it, is offered to withdraw what was allowed to a client, and nothing else', () => {
  const policy = { ...action.policy, verdict: 'allow' } as const
  const offered = (me: Principal, more: Partial<Action> = {}) => withdraws({ ...action, state: 'approved', policy, ...more }, me)
  expect([ada, ben, fay, bot].map((me) => offered(me))).toEqual([true, true, false, false])
  expect(
    [
      { ...ada, scopes: ['decide' as const] },
      { ...ben, scopes: ['decide' as const] },
    ].map((me) => offered(me)),
  ).toEqual([false, false])
  expect(offered(ada, { policy: action.policy })).toBe(false)
  expect(offered(ada, { executor: 'server' })).toBe(false)
  expect(offered(ada, { state: 'executing' })).toBe(false)
})
