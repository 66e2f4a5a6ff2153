import type { Principal, Vote } from '@countersign/client'
import { expect, test } from 'vitest'
import { whyVoid } from './why-void.ts'

test('a vote that does not count says why, in words', () => {
  const person = (name: string): Principal => ({ id: `prn_${name}`, kind: 'person', name, roles: [] })
  const [ada, fay, gus] = [person('Ada'), person('Fay'), person('Gus')]
  const bot: Principal = { ...person('bot'), kind: 'agent', personId: ada.id }
  const own: Vote = { by: ada, verdict: 'approve', at: '1', counts: false }
  const lent: Vote = { ...own, for: fay }
  const why = (vote: Vote, others: Vote[] = [], asking: Principal[] = [], notRequester = true) =>
    whyVoid(vote, {
      votes: [vote, ...others],
      requesters: asking,
      requires: { quorum: 2, declineQuorum: 1, roles: ['approver'], notRequester },
    })
  expect(why(lent)).toBe('The delegation ended or Fay lost the role, so this vote does not count.')
  expect(why(lent, [{ by: fay, verdict: 'decline', at: '2' }])).toBe('Fay voted too, so this vote does not count.')
  expect(why(lent, [], [bot])).toBe('Ada asked for this, so this vote does not count.')
  expect(why(own)).toBe('Ada lost the role, so this vote does not count.')
  expect(why(own, [], [ada])).toBe('Ada asked for this, so this vote does not count.')
  expect(why(lent, [], [fay])).toBe('Fay asked for this, so this vote does not count.')
  // Her vote for somebody else leaves her own right free, and one that is void itself does not stand in the way.
  const ended = 'The delegation ended or Fay lost the role, so this vote does not count.'
  expect(why(lent, [{ by: fay, for: gus, verdict: 'decline', at: '2' }])).toBe(ended)
  expect(why(lent, [{ by: fay, verdict: 'decline', at: '2', counts: false }])).toBe(ended)
  // Where those who asked may vote, they may only not vote for others.
  expect(why(own, [], [ada], false)).toBe('Ada lost the role, so this vote does not count.')
  expect(why(lent, [], [fay], false)).toBe(ended)
  expect(why(lent, [], [ada], false)).toBe('Ada asked for this, so this vote does not count.')
  expect(why({ by: fay, verdict: 'decline', at: '3' })).toBeNull()
})
