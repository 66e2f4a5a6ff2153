import type { JsonObject } from '@countersign/core'
import { expect, inject, test } from 'vitest'
import { push, startStandIn } from '../../../examples/github/stand-in/server.ts'
import { seededRandom } from '../../simulation/random.ts'
import { type Activity, addActivity, addShop } from '../../testing/github.ts'
import { startTestServer } from '../../testing/test-server.ts'
import { ASK_ALL, everyToolLooksTheSame } from './looks-the-same.ts'
import { startShuffler } from './shuffler.ts'

/** Calls that name what the stand-in has. A tool that takes nothing that is drawn from its schema needs one here. */
const examplesOf = ({ failed, failedJob, running, comment, draft }: Activity): Record<string, JsonObject> => ({
  getCommit: { ref: 'main' },
  getRelease: { tag: 'v1.0.0' },
  getWorkflowRun: { runId: failed.id },
  listReviewComments: { number: 3 },
  listReviews: { number: 3 },
  readJobLog: { jobId: failedJob },
  searchRepositories: { query: 'shop' },
  searchUsers: { query: 'ada' },
  createReview: { number: 3, event: 'COMMENT', body: 'Hm', comments: [{ path: 'src/price.ts', line: 1, body: 'Why?' }] },
  replyToReviewComment: { number: 3, commentId: comment, body: 'So' },
  updatePullBranch: { number: 3 },
  convertToDraft: { number: 3 },
  markReadyForReview: { number: 5 },
  rerunWorkflow: { runId: failed.id },
  rerunFailedJobs: { runId: failed.id },
  cancelWorkflowRun: { runId: running.id },
  createRelease: { tag: 'v2.0.0', name: 'Two', body: 'Soon', draft: true },
  publishRelease: { releaseId: draft },
  searchIssues: { query: 'prices' },
  searchCode: { query: 'price' },
  getIssue: { number: 1 },
  getPullRequest: { number: 3 },
  getRepository: {},
  getFile: { path: 'src/price.ts' },
  listFiles: { folder: 'src' },
  createIssue: { title: 'New', body: 'Text', labels: ['bug'], assignees: ['ada', 'ben'], milestone: 1 },
  updateIssue: { number: 1, title: 'Else', body: 'Other', labels: ['question'], assignees: [], milestone: 1 },
  closeIssue: { number: 1 },
  reopenIssue: { number: 4 },
  addLabels: { number: 2, labels: ['question', 'bug'] },
  removeLabel: { number: 1, label: 'bug' },
  assignIssue: { number: 2, assignees: ['ben', 'ada'] },
  unassignIssue: { number: 1, assignees: ['ben'] },
  commentOnIssue: { number: 1, body: 'Yes' },
  editComment: { commentId: 7, body: 'No' },
  createPullRequest: { title: 'Docs', head: 'docs', body: 'Text' },
  updatePullRequest: { number: 3, title: 'Other', body: 'New text' },
  closePullRequest: { number: 3 },
  requestReview: { number: 3, reviewers: ['ben'] },
  mergePullRequest: { number: 3, method: 'squash', title: 'All' },
  createBranch: { branch: 'next', from: 'docs' },
  deleteBranch: { branch: 'docs' },
  commitFiles: {
    branch: 'docs',
    message: 'More',
    files: [
      { path: 'a.md', content: 'a\n' },
      { path: 'docs.md', content: null },
    ],
  },
})

/** A GitHub as every call finds it. */
async function startGithub() {
  const standin = await startStandIn()
  const repo = addShop(standin)
  push(standin.state, repo, 'docs', { 'docs.md': 'Docs\n' })
  repo.issues.set(4, { ...at(repo.issues.get(1)), number: 4, state: 'closed', closedAt: '2026-01-01T00:00:00Z' })
  const time = { createdAt: '2026-01-01T00:00:00Z', updatedAt: '2026-01-01T00:00:00Z' }
  repo.comments.push({ id: 7, issue: 1, body: 'Yes', user: standin.state.login, ...time })
  const pull = at(repo.issues.get(3))
  repo.issues.set(5, { ...pull, number: 5, pull: { ...at(pull.pull), draft: true } })
  return { standin, activity: addActivity(standin, repo) }
}

function at<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('the stand-in does not have it')
  return value
}

test('GitHub: permuting the arguments of any tool or GitHub’s answers, and what changes by itself, changes no card and asks nobody again', async () => {
  const seed = inject('propertySeed')
  const random = seededRandom(seed)
  let { standin, activity } = await startGithub()
  await using shuffler = await startShuffler(random)
  await using server = await startTestServer({
    config: {
      tools: { github: { github: { token: 'standin-token', baseUrl: `${shuffler.url}/api/v3`, defaultRepository: 'acme/shop' } } },
      policy: ASK_ALL,
    },
  })
  try {
    const run = await everyToolLooksTheSame(
      {
        server,
        agent: await server.as({ name: 'bot', kind: 'agent' }),
        random,
        drift: shuffler.drift,
        changes: () =>
          standin.exchanges.flatMap(({ method, path, body }) => (method === 'GET' ? [] : [`${method} ${path} ${JSON.stringify(body)}`])),
      },
      {
        group: 'github',
        seed,
        async renew() {
          await standin[Symbol.asyncDispose]()
          ;({ standin, activity } = await startGithub())
          shuffler.upstream = standin.web
          return examplesOf(activity)
        },
      },
    )
    expect(run.tools).toBeGreaterThanOrEqual(Object.keys(examplesOf(activity)).length)
    expect(run.calls).toBeGreaterThan(run.tools)
  } finally {
    await standin[Symbol.asyncDispose]()
  }
})
