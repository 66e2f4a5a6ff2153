import type { JsonObject } from '@countersign/core'
import { expect, test } from 'vitest'
import { addIssue } from '../../../examples/github/stand-in/server.ts'
import { type Activity, addActivity, openGithubBench } from '../../../verification/testing/github.ts'
import { githubDescription } from '../../../verification/testing/github-description.ts'

/** One successful call of every tool, in an order in which each is possible. */
const CALLS: [string, JsonObject?][] = [
  ['searchIssues', { query: 'prices is:open', repository: 'acme/shop' }],
  ['searchIssues', { query: 'price', kind: 'pr' }],
  ['searchCode', { query: 'price' }],
  ['getIssue', { number: 1 }],
  ['listIssues', { labels: ['bug'], assignee: 'ben', creator: 'ada', sort: 'updated', limit: 5 }],
  ['getWorkload'],
  ['getPullRequest', { number: 3 }],
  ['listPullRequests', { base: 'main' }],
  ['getRepository'],
  ['getFile', { path: 'src/price.ts', ref: 'fix-price' }],
  ['listFiles', { folder: 'src' }],
  ['listBranches'],
  ['listCommits', { path: 'src/price.ts', ref: 'fix-price' }],
  ['listLabels'],
  ['listMilestones'],
  ['listAssignees'],
  ['createIssue', { title: 'New', body: 'Text', labels: ['bug', 'new'], assignees: ['ada'], milestone: 1 }],
  ['updateIssue', { number: 1, title: 'Prices', body: 'Some of them.', labels: ['bug'], assignees: ['ada'], milestone: 1, state: 'open' }],
  ['closeIssue', { number: 2, reason: 'not_planned' }],
  ['reopenIssue', { number: 2 }],
  ['addLabels', { number: 2, labels: ['question', 'docs/guide'] }],
  ['removeLabel', { number: 2, label: 'docs/guide' }],
  ['assignIssue', { number: 2, assignees: ['ada'] }],
  ['unassignIssue', { number: 2, assignees: ['ada'] }],
  ['commentOnIssue', { number: 2, body: 'With a card.' }],
  ['createBranch', { branch: 'docs/pay' }],
  [
    'commitFiles',
    {
      ...{ branch: 'docs/pay', message: 'Say how one pays' },
      files: [
        { path: 'docs/pay.md', content: '# Pay\n' },
        { path: 'README.md', content: '# Shop\n\nSee docs/pay.md\n' },
        { path: 'src/tax.ts', content: null },
      ],
    },
  ],
  ['createPullRequest', { title: 'Say how one pays', head: 'docs/pay', body: 'For #2.', draft: true }],
  ['updatePullRequest', { number: 5, title: 'Payment', body: 'Text', base: 'main' }],
  ['requestReview', { number: 5, reviewers: ['ada'], teams: ['writers'] }],
  ['closePullRequest', { number: 5 }],
  ['deleteBranch', { branch: 'docs/pay' }],
  ['mergePullRequest', { number: 3, method: 'squash', title: 'Fix it' }],
]

/** Returns calls about the activity that {@link addActivity} adds. */
const callsAbout = ({ failed, failedJob, running, comment, draft }: Activity): [string, JsonObject?][] => [
  ['searchRepositories', { query: 'shop' }],
  ['searchUsers', { query: 'ada', kind: 'user' }],
  ['getCommit', { ref: 'fix-price' }],
  ['listReviews', { number: 3 }],
  ['listReviewComments', { number: 3 }],
  ['listWorkflowRuns', { branch: 'fix-price', status: 'failure' }],
  ['getWorkflowRun', { runId: failed.id }],
  ['readJobLog', { jobId: failedJob }],
  ['listReleases'],
  ['getRelease'],
  ['getRelease', { tag: 'v1.0.0' }],
  ['convertToDraft', { number: 3 }],
  ['markReadyForReview', { number: 3 }],
  ['replyToReviewComment', { number: 3, commentId: comment, body: 'As asked.' }],
  ['createReview', { number: 3, event: 'APPROVE' }],
  ['createReview', { number: 3, event: 'COMMENT', comments: [{ path: 'src/price.ts', line: 1, side: 'LEFT', body: 'Gone?' }] }],
  ['updatePullBranch', { number: 3 }],
  ['rerunFailedJobs', { runId: failed.id }],
  ['cancelWorkflowRun', { runId: running.id }],
  ['rerunWorkflow', { runId: running.id }],
  ['createRelease', { tag: 'v2.0.0', name: 'Two', body: 'More', target: 'fix-price', prerelease: true }],
  ['publishRelease', { releaseId: draft }],
]

test('GitHub: every request of every tool, and every answer of the stand-in, is as GitHub describes them', async () => {
  await using bench = await openGithubBench()
  const ask = async (name: string, args: JsonObject = {}) => {
    const output = await bench.run(name, args)
    await bench.verify(name, args, {
      actionId: 'act',
      idempotencyKey: 'act.1',
      proposedAtMs: Date.now(),
      signal: AbortSignal.timeout(240_000),
    })
    return output
  }
  const activity = addActivity(bench.standin, bench.repo)
  const calls = [...callsAbout(activity), ...CALLS]
  for (const [name, args] of calls) await ask(name, args)
  const comment = await ask('commentOnIssue', { number: 1, body: 'First' })
  await ask('editComment', { commentId: (comment as { id: number }).id, body: 'Second' })
  expect(bench.undescribed()).toEqual([])
  expect(new Set([...calls.map(([name]) => `github.${name}`), 'github.editComment'])).toEqual(new Set(bench.names()))
})

test('the card of a changed comment is headed by number and title of what it is on, not by the id of the comment', async () => {
  await using bench = await openGithubBench()
  const titles = [
    [1, 'Prices are wrong'],
    [3, 'Fix the price'],
  ] as const
  for (const [number, title] of titles) {
    const comment = await bench.run('commentOnIssue', { number, body: 'First' }, `act_${number}.1`)
    const { headline } = await bench.look('editComment', { commentId: (comment as { id: number }).id, body: 'Second' })
    expect(headline).toBe(`Change the comment on #${number} “${title}” of acme/shop`)
  }
})

test('GitHub: a label that is named like a property of every object is counted like any other', async () => {
  await using bench = await openGithubBench()
  for (const labels of [['constructor', 'toString', '__proto__'], ['constructor']])
    addIssue(bench.standin.state, bench.repo, { title: 'x', labels, assignees: ['ada'] })
  const { people } = (await bench.run('getWorkload')) as { people: { login: string; labels: JsonObject }[] }
  // No JSON here has the key __proto__.
  expect(people.find(({ login }) => login === 'ada')?.labels).toMatchObject({ constructor: 2, toString: 1 })
})

test('GitHub: refusals of the stand-in, and what its tools ask under strange names, are as GitHub describes them', async () => {
  await using bench = await openGithubBench()
  const refused: [string, JsonObject][] = [
    ['getIssue', { number: 99 }],
    ['getFile', { path: 'gone.md' }],
    ['getFile', { path: 'a b/ü#x?y' }],
    ['listCommits', { ref: 'gone' }],
    ['createIssue', { title: 'New', milestone: 7 }],
    ['createBranch', { branch: 'x', from: 'gone' }],
    ['createBranch', { branch: 'fix-price' }],
    ['createPullRequest', { title: 'Again', head: 'fix-price' }],
    ['requestReview', { number: 3, reviewers: ['stranger'] }],
    ['updatePullRequest', { number: 3, base: 'gone' }],
    ['assignIssue', { number: 1, assignees: ['stranger'] }],
  ]
  for (const [name, args] of refused)
    expect([name, await bench.run(name, args).catch(({ kind }: { kind: string }) => kind)]).toEqual([name, 'refused'])
  bench.repo.hasIssues = false
  await expect(bench.run('commentOnIssue', { number: 1, body: 'x' })).rejects.toThrow('(410)')
  expect(bench.undescribed()).toEqual([])
})

test('GitHub: the doctor asks only what is described', async () => {
  for (const repositories of [undefined, ['acme/shop', 'acme/gone']]) {
    await using bench = await openGithubBench({ section: { ...(repositories && { repositories }) } })
    const findings = await bench.check()
    expect(bench.undescribed()).toEqual([])
    expect(findings.map(({ level }) => level)).toEqual(repositories ? ['ok', 'ok', 'ok', 'problem'] : ['ok', 'ok', 'ok'])
    expect(findings[0]?.message).toContain('as countersign-bot')
  }
})

test('a request or an answer that GitHub does not describe is noticed', () => {
  const description = githubDescription()
  const exchange = {
    method: 'POST',
    path: '/repos/acme/shop/issues',
    query: new URLSearchParams(),
    body: { title: 'x' },
    status: 201,
    answer: {},
  }
  expect(description.requestProblems(exchange)).toEqual([])
  expect(description.answerProblems(exchange).join()).toContain('"html_url"')
  const wrong = [
    { body: { titel: 'x' } },
    { body: { title: 'x', labels: 'bug' } },
    { body: undefined },
    { query: new URLSearchParams({ stat: 'open' }) },
    { path: '/repos/acme/shop/issue' },
    { method: 'GET', path: '/repos/acme/shop/issues/x', body: undefined },
    { method: 'GET', body: undefined, query: new URLSearchParams({ state: 'opened' }) },
  ]
  for (const change of wrong) expect([change, description.requestProblems({ ...exchange, ...change })]).not.toEqual([change, []])
})
