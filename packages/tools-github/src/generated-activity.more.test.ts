import fc from 'fast-check'
import { expect, inject, test } from 'vitest'
import { addActivity, openGithubBench } from '../../../verification/testing/github.ts'
import { argumentsOf, idsOf } from '../../../verification/testing/github-arguments.ts'

/** The tools for reviews, runs and releases, and the tools that were added with them. */
const NAMES = [
  ...['searchRepositories', 'searchUsers', 'getCommit', 'listReviews', 'listReviewComments', 'listWorkflowRuns', 'getWorkflowRun'],
  ...['readJobLog', 'listReleases', 'getRelease', 'convertToDraft', 'markReadyForReview', 'replyToReviewComment', 'createReview'],
  ...['updatePullBranch', 'rerunFailedJobs', 'rerunWorkflow', 'cancelWorkflowRun', 'createRelease', 'publishRelease'],
]

test.each(NAMES)('GitHub: of 200 valid calls of %s, each request and each answer is as GitHub describes it', async (name) => {
  await using bench = await openGithubBench()
  const ids = idsOf(addActivity(bench.standin, bench.repo))
  const { inputSchema, effect } = bench.tool(name)
  let answered = 0
  const tool = argumentsOf(inputSchema, ids).filter((args) => bench.tool(name).check(args).ok)
  const context = { actionId: 'act', idempotencyKey: 'act.1', signal: AbortSignal.timeout(240_000) }
  await fc.assert(
    fc.asyncProperty(tool, async (args) => {
      const failed = (error: Error) => expect([args, error.name, error.message]).toEqual([args, 'ToolError', expect.any(String)])
      // Writes are executed even if their preview refuses, so that the write itself is tested too.
      if (effect === 'write') await bench.look(name, args).catch(failed)
      await bench.execute(name, args, context).then(() => answered++, failed)
    }),
    { seed: inject('propertySeed'), numRuns: 200 },
  )
  // GitHub's API description omits some 4xx answers.
  const problems = bench.undescribed().filter((words) => !/ → 4\d\d: this status is not described$/.test(words))
  expect(new Set(problems)).toEqual(new Set())
  expect(answered).toBeGreaterThan(0)
})
