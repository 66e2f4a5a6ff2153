import type { JsonObject } from '@countersign/core'
import { expect, test } from 'vitest'
import { push } from '../../../examples/github/stand-in/server.ts'
import { addActivity, openGithubBench } from '../../../verification/testing/github.ts'

const PRICES = '#1 “Prices are wrong” of acme/shop'
const FIX = '#3 “Fix the price”'

/** The headline of each tool. `HEAD` stands for the short commit id of the branch, `MAIN` for that of `main`. */
const HEADLINES: [name: string, args: JsonObject, headline: string][] = [
  ['createIssue', { title: 'New' }, 'Open the issue “New” in acme/shop'],
  ['updateIssue', { number: 1, title: 'Else', body: 'x' }, 'Change body, title of #1 “Prices are wrong” in acme/shop'],
  ['closeIssue', { number: 1 }, `Close ${PRICES} as completed`],
  ['closeIssue', { number: 1, reason: 'not_planned' }, `Close ${PRICES} as not planned`],
  ['reopenIssue', { number: 4 }, 'Reopen #4 “Prices are wrong” of acme/shop'],
  ['addLabels', { number: 1, labels: ['question'] }, `Label ${PRICES} question`],
  ['removeLabel', { number: 1, label: 'bug' }, `Take the label bug off ${PRICES}`],
  ['assignIssue', { number: 1, assignees: ['ada'] }, `Assign ada to ${PRICES}`],
  ['unassignIssue', { number: 1, assignees: ['ben'] }, `Take ben off ${PRICES}`],
  ['commentOnIssue', { number: 1, body: 'x' }, `Comment on ${PRICES}`],
  ['createPullRequest', { title: 'Docs', head: 'docs' }, 'Open the pull request “Docs” from docs at DOCS into main of acme/shop'],
  ['updatePullRequest', { number: 3, body: 'x' }, `Change body of ${FIX} in acme/shop`],
  ['closePullRequest', { number: 3 }, `Close ${FIX} of acme/shop without merging it`],
  ['requestReview', { number: 3, reviewers: ['ben'], teams: ['writers'] }, `Ask ben, team writers to review ${FIX} of acme/shop`],
  ['mergePullRequest', { number: 3 }, `Merge ${FIX} at HEAD into main of acme/shop`],
  ['mergePullRequest', { number: 3, method: 'squash' }, `Squash and merge ${FIX} at HEAD into main of acme/shop`],
  ['createReview', { number: 3, event: 'APPROVE' }, `Approve ${FIX} of acme/shop by ada at HEAD`],
  ['createBranch', { branch: 'next' }, 'Make the branch next in acme/shop from the default branch at MAIN'],
  ['createBranch', { branch: 'next', from: 'fix-price' }, 'Make the branch next in acme/shop from fix-price at HEAD'],
  ['deleteBranch', { branch: 'fix-price' }, 'Delete the branch fix-price of acme/shop, which is at HEAD'],
]

test('GitHub: the headline of each card says what it is about, by number and title', async () => {
  await using bench = await openGithubBench()
  const docs = push(bench.standin.state, bench.repo, 'docs', { 'docs.md': 'Docs\n' })
  const prices = bench.repo.issues.get(1)
  if (!prices) throw new Error('there is no #1')
  bench.repo.issues.set(4, { ...prices, number: 4, state: 'closed' })
  const { heads } = bench.repo.git
  const short = (branch: string) => heads.get(branch)?.slice(0, 7) ?? ''
  for (const [name, args, wanted] of HEADLINES) {
    const { headline } = await bench.look(name, args)
    const said = headline ?? bench.tool(name).describe({ repository: 'acme/shop', ...args })
    expect([name, said]).toEqual([
      name,
      wanted.replace('HEAD', short('fix-price')).replace('MAIN', short('main')).replace('DOCS', docs.slice(0, 7)),
    ])
  }
})

test('GitHub: a title that changes, or that would break out of its quotes, cannot make a headline say something else', async () => {
  await using bench = await openGithubBench()
  const issue = bench.repo.issues.get(1)
  if (!issue) throw new Error('there is no #1')
  const before = await bench.look('closeIssue', { number: 1 })
  issue.title = `x” of acme/other\n${'long '.repeat(40)}`
  const after = await bench.look('closeIssue', { number: 1 })
  expect(after.headline).toMatch(/^Close #1 “x" of acme\/other long [long ]*…” of acme\/shop as completed$/)
  expect(after.precondition).not.toEqual(before.precondition)
})

test('GitHub: the names of a workflow and of a file, which a pull request may choose, cannot stand for words of a headline', async () => {
  await using bench = await openGithubBench()
  const { failed, comment } = addActivity(bench.standin, bench.repo)
  failed.workflow = 'the tests #7 “Docs” at 0123456 of acme/site; not'
  const sha = failed.sha.slice(0, 7)
  expect((await bench.look('rerunWorkflow', { runId: failed.id })).headline).toBe(
    `Run again “the tests #7 "Docs" at 0123456 of acme/site; not” #1 “Fix the price” at ${sha} of acme/shop`,
  )
  const shown = bench.repo.reviewComments.find(({ id }) => id === comment)
  if (!shown) throw new Error('there is no such comment')
  shown.path = 'a in #9 “Docs” of acme/site'
  expect((await bench.look('replyToReviewComment', { number: 3, commentId: comment, body: 'x' })).headline).toBe(
    'Reply to ben at “a in #9 "Docs" of acme/site” in #3 “Fix the price” of acme/shop',
  )
})
