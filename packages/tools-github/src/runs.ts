import { type JsonObject, type Preview, ToolError } from '@countersign/core'
import type { ToolDraft } from '@countersign/toolkit'
import { z } from 'zod'
import { before } from './before.ts'
import type { At, Rest } from './client.ts'
import { GithubId } from './fields.ts'
import { MOST_READ, readPages } from './pages.ts'
import { repositoryOf } from './repository.ts'
import { attemptOf, type GithubRun, lookAtRun, type RunWhere, runResult, runTitle } from './run-look.ts'
import { changed, same } from './shown.ts'
import { type GithubContext, writeTool } from './tool.ts'

/** Tools that rerun a run of GitHub Actions, rerun its failed jobs, and cancel it. */
export const runWrites = (github: GithubContext): ToolDraft[] => [
  rerun(github, {
    name: 'rerunWorkflow',
    description: 'Runs all jobs of a run of GitHub Actions again. It costs minutes, and deploys again where the workflow deploys.',
    words: 'Run again',
    send: (rest, at, runId) => rest.actions.reRunWorkflow({ ...at, run_id: runId }),
    whatRuns: (jobs) => jobs,
  }),
  rerun(github, {
    name: 'rerunFailedJobs',
    description: 'Runs the jobs of a run of GitHub Actions again that failed, and those that depend on them.',
    words: 'Run the failed jobs again of',
    send: (rest, at, runId) => rest.actions.reRunWorkflowFailedJobs({ ...at, run_id: runId }),
    whatRuns: (jobs) => jobs.filter(({ conclusion }) => conclusion !== 'success' && conclusion !== 'skipped'),
  }),
  cancelWorkflowRun(github),
]

interface Job {
  name: string
  conclusion: string | null
}

interface Rerun {
  name: string
  description: string
  /** The beginning of a sentence that ends with the run. */
  words: string
  send(rest: Rest, at: At, runId: number): ReturnType<Rest['actions']['reRunWorkflow']>
  whatRuns(jobs: readonly Job[]): readonly Job[]
}

/** Returns the preview of a change of a run: its name, its author and its state. */
const preview = (run: GithubRun, headline: string, changes: Preview['fields']): Preview => ({
  headline,
  fields: [
    same('run', runTitle(run)),
    same('branch', run.head_branch ?? 'none'),
    same('begun by', `${run.triggering_actor?.login ?? 'somebody'}, on ${run.event}`),
    ...changes,
  ],
  precondition: {
    ...{ title: run.display_title, branch: run.head_branch, head: run.head_sha },
    ...{ status: run.status, conclusion: run.conclusion, attempt: attemptOf(run) },
  },
  version: String(attemptOf(run)),
})

const rerun = (github: GithubContext, { name, description, words, send, whatRuns }: Rerun): ToolDraft =>
  writeTool(github, z.object({ repository: github.repository, runId: GithubId }), {
    name,
    description,
    describe: ({ repository, runId }) => `${words} the workflow run ${runId} of ${repository}`,
    async look({ repository, runId }, signal) {
      const run = await lookAtRun(github.client, { repository, runId }, signal)
      assertEnded(run)
      const { items: jobs, isWhole } = await readPages(
        {
          client: github.client,
          repository,
          ask: (rest, at) => rest.actions.listJobsForWorkflowRun({ ...at, run_id: runId, filter: 'latest' }),
          itemsOf: (page) => page.jobs,
        },
        signal,
      )
      const again = whatRuns(jobs)
        .map((job) => `${job.name}: ${job.conclusion ?? 'not known'}`)
        .sort()
      if (!isWhole) again.push(`The run has more than ${MOST_READ} jobs. The rest was not read.`)
      if (again.length === 0) throw new ToolError('refused', `No job of the run ${runId} failed.`)
      const attempt = attemptOf(run)
      return preview(run, `${words} ${runTitle(run)} of ${repository}`, [
        changed('attempt', attempt, attempt + 1),
        same('ended as', run.conclusion ?? 'not known'),
        same('jobs that run again', again),
      ])
    },
    async execute({ repository, runId }, { signal, version }) {
      const run = await before(lookAtRun(github.client, { repository, runId }, signal))
      if (version !== undefined && String(attemptOf(run)) !== version) {
        throw new ToolError('stale', `The run ${runId} was run again since it was shown (attempt ${attemptOf(run)}). Nothing was started.`)
      }
      await github.client.write(signal, repositoryOf(repository), (rest, at) => send(rest, at, runId))
      return { runId, attempt: attemptOf(run) + 1, url: run.html_url }
    },
    verify: (where, { signal, version }) => verifyRerun(github, where, version, signal),
  })

/** @throws ToolError for a run that has not ended, because GitHub does not restart it. */
function assertEnded({ id, status }: GithubRun): void {
  if (status !== 'completed') throw new ToolError('refused', `The run ${id} is still ${(status ?? 'under way').replaceAll('_', ' ')}.`)
}

/** Returns whether the next attempt is ours: its actor must be the token's user. A later attempt hides the actor of an earlier one. */
async function verifyRerun({ client }: GithubContext, where: RunWhere, version: string | undefined, signal: AbortSignal) {
  const [run, login] = await Promise.all([lookAtRun(client, where, signal), client.login(signal)])
  if (version === undefined) return { done: 'unknown' as const }
  if (String(attemptOf(run)) === version) return { done: false as const }
  const isOurs = attemptOf(run) === Number(version) + 1 && login !== undefined && run.triggering_actor?.login === login
  const output: JsonObject = { runId: run.id, attempt: attemptOf(run), url: run.html_url }
  return isOurs ? { done: true as const, output } : { done: 'unknown' as const }
}

const cancelWorkflowRun = (github: GithubContext): ToolDraft =>
  writeTool(github, z.object({ repository: github.repository, runId: GithubId }), {
    name: 'cancelWorkflowRun',
    description: 'Stops a run of GitHub Actions that is under way.',
    describe: ({ repository, runId }) => `Cancel the workflow run ${runId} of ${repository}`,
    async look(where, signal) {
      const run = await lookAtRun(github.client, where, signal)
      if (run.status === 'completed') throw new ToolError('refused', `The run ${where.runId} has ended as ${run.conclusion}.`)
      const headline = `Cancel ${runTitle(run)} of ${where.repository}`
      return preview(run, headline, [changed('status', run.status ?? 'not known', 'cancelled')])
    },
    async execute(where, { signal, version }) {
      const run = await before(lookAtRun(github.client, where, signal))
      if (version !== undefined && String(attemptOf(run)) !== version) {
        throw new ToolError('stale', `The run ${where.runId} was run again since it was shown. It was not cancelled.`)
      }
      await github.client.write(signal, repositoryOf(where.repository), (rest, at) =>
        rest.actions.cancelWorkflowRun({ ...at, run_id: where.runId }),
      )
      // GitHub only accepts the request here: until its jobs have stopped, the run may still end otherwise.
      return { runId: run.id, cancellation: 'requested', url: run.html_url }
    },
    async verify(where, { signal, version }) {
      const run = await lookAtRun(github.client, where, signal)
      // Jobs take time to stop. Until then the state is the same as without a cancellation.
      if (run.status !== 'completed') return { done: false }
      const isSo = run.conclusion === 'cancelled' && (version === undefined || String(attemptOf(run)) === version)
      return isSo ? { done: true, output: runResult(run) } : { done: 'unknown' }
    },
  })
