import { expect, test } from 'vitest'
import { type BallotPaper, holdsRole, meetsRoles, tallyVotes } from './tally.ts'

/** Every list of up to `length` of `options`. */
function* lists<T>(options: readonly T[], length: number): Generator<T[]> {
  yield []
  if (length === 0) return
  for (const rest of lists(options, length - 1)) for (const option of options) if (rest.length === length - 1) yield [...rest, option]
  if (length > 1) for (const shorter of lists(options, length - 1)) if (shorter.length > 0) yield shorter
}

const VOTERS = ['a', 'b', 'c', 'd']
const papers: BallotPaper[] = VOTERS.flatMap((voter) =>
  (['approve', 'decline'] as const).flatMap((verdict) =>
    [true, false].flatMap((counts) => [voter, 'x', 'a'].map((right) => ({ voter, right, verdict, counts }))),
  ),
)

/** The same said another way: whose right says what, looked for from each right. */
function expected(quorum: number, declineQuorum: number, votes: readonly BallotPaper[]) {
  const said = [...VOTERS, 'x'].flatMap((right) => {
    const its = votes.filter((vote) => vote.right === right && vote.counts)
    const one = its.filter((vote) => vote.voter === right).at(-1) ?? its[0]
    return one ? [one.verdict] : []
  })
  const approvals = said.filter((verdict) => verdict === 'approve').length
  const declines = said.filter((verdict) => verdict === 'decline').length
  if (declines >= declineQuorum) return { approvals, declines, outcome: 'decline' }
  return { approvals, declines, outcome: approvals >= quorum ? 'approve' : undefined }
}

test('any votes of up to four persons, in their own right or for others, in any order, come to what the rules say', () => {
  let counted = 0
  for (const votes of lists(papers, 3)) {
    // A person has one vote.
    if (new Set(votes.map(({ voter }) => voter)).size < votes.length) continue
    for (const quorum of [1, 2, 3]) {
      for (const declineQuorum of [1, 2]) {
        counted++
        const tally = tallyVotes({ quorum, declineQuorum }, votes)
        const right = expected(quorum, declineQuorum, votes)
        if (tally.outcome !== right.outcome || tally.approvals !== right.approvals || tally.declines !== right.declines) {
          expect({ quorum, declineQuorum, votes, tally }).toEqual({ quorum, declineQuorum, votes, tally: right })
        }
      }
    }
  }
  expect(counted).toBeGreaterThan(50_000)
})

test('where both numbers are reached at once it is declined', () => {
  const votes = (['approve', 'decline'] as const).map((verdict) => ({ voter: verdict, right: verdict, verdict, counts: true }))
  expect(tallyVotes({ quorum: 1, declineQuorum: 1 }, votes)).toEqual({ approvals: 1, declines: 1, outcome: 'decline' })
})

test('an admin stands in for an approver and for nobody else', () => {
  expect(holdsRole(['admin'], ['approver'])).toBe(true)
  expect(holdsRole(['admin'], ['finance', 'approver'])).toBe(true)
  expect(holdsRole(['admin'], ['admin'])).toBe(true)
  expect(holdsRole(['admin'], ['finance'])).toBe(false)
  expect(holdsRole(['approver'], ['finance'])).toBe(false)
  expect(holdsRole(['viewer', 'finance'], ['legal', 'finance'])).toBe(true)
  expect(holdsRole([], ['approver'])).toBe(false)
})

test('a member decides nothing, even where a rule names that role', () => {
  expect(holdsRole(['member'], ['member'])).toBe(false)
  expect(holdsRole(['member', 'finance'], ['member', 'finance'])).toBe(true)
})

test('where several lists of roles are required, a voter needs one role of each', () => {
  const both = { roles: ['approver'], alsoRoles: [['finance', 'legal']] }
  expect(meetsRoles(['approver', 'legal'], both)).toBe(true)
  expect(meetsRoles(['approver'], both)).toBe(false)
  expect(meetsRoles(['legal'], both)).toBe(false)
  expect(meetsRoles(['approver'], { roles: ['approver'] })).toBe(true)
  expect(meetsRoles([], { roles: ['approver'] })).toBe(false)
})
