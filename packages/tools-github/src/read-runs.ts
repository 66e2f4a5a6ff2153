import type { JsonValue } from '@countersign/core'
import type { ToolDraft } from '@countersign/toolkit'
import { z } from 'zod'
import { Branch, GithubId, Limit, Page } from './fields.ts'
import { repositoryOf } from './repository.ts'
import { type GithubRun, runResult } from './run-look.ts'
import { type GithubContext, readTool } from './tool.ts'
import { cutText, hasMore, textOf } from './views.ts'

/** Tools that read runs of GitHub Actions, their jobs and the logs of the jobs. */
export const runReads = (github: GithubContext): ToolDraft[] => [listWorkflowRuns(github), getWorkflowRun(github), readJobLog(github)]

const runView = (run: GithubRun): JsonValue & object => ({
  ...runResult(run),
  ...{ number: run.run_number, event: run.event, headSha: run.head_sha, actor: run.triggering_actor?.login ?? run.actor?.login ?? null },
  ...{ createdAt: run.created_at, updatedAt: run.updated_at },
})

const listWorkflowRuns = (github: GithubContext): ToolDraft =>
  readTool(
    github,
    z.object({
      repository: github.repository,
      branch: Branch.optional(),
      status: z.enum(['queued', 'in_progress', 'completed', 'success', 'failure', 'cancelled']).optional(),
      limit: Limit,
      page: Page,
    }),
    {
      name: 'listWorkflowRuns',
      description: 'Lists runs of GitHub Actions, newest first.',
      describe: ({ repository }) => `List the workflow runs of ${repository}`,
      async execute({ repository, branch, status, limit, page }, { signal }): Promise<JsonValue> {
        const { data, headers } = await github.client.read(signal, repositoryOf(repository), (rest, at) =>
          rest.actions.listWorkflowRunsForRepo({
            ...{ ...at, per_page: limit, page },
            ...(branch !== undefined && { branch }),
            ...(status !== undefined && { status }),
          }),
        )
        return { runs: data.workflow_runs.map(runView), more: hasMore(headers) }
      },
    },
  )

const getWorkflowRun = (github: GithubContext): ToolDraft =>
  readTool(github, z.object({ repository: github.repository, runId: GithubId }), {
    name: 'getWorkflowRun',
    description: 'Reads one run of GitHub Actions with the first 100 jobs of its last attempt and their steps.',
    describe: ({ repository, runId }) => `Read the workflow run ${runId} of ${repository}`,
    async execute({ repository, runId }, { signal }): Promise<JsonValue> {
      const { client } = github
      const place = repositoryOf(repository)
      const [run, jobs] = await Promise.all([
        client.read(signal, place, (rest, at) => rest.actions.getWorkflowRun({ ...at, run_id: runId })),
        client.read(signal, place, (rest, at) =>
          rest.actions.listJobsForWorkflowRun({ ...at, run_id: runId, filter: 'latest', per_page: 100 }),
        ),
      ])
      return {
        ...runView(run.data),
        message: textOf(run.data.head_commit?.message, 1_000),
        jobs: jobs.data.jobs.map((job) => ({
          ...{ id: job.id, name: job.name, status: job.status, conclusion: job.conclusion },
          ...{ startedAt: job.started_at, completedAt: job.completed_at, url: job.html_url },
          steps: (job.steps ?? []).map(({ number, name, conclusion }) => ({ number, name, conclusion })),
        })),
        moreJobs: hasMore(jobs.headers),
      }
    },
  })

const MAX_LINES = 1_000
const MAX_LINE_CHARACTERS = 500

const readJobLog = (github: GithubContext): ToolDraft =>
  readTool(
    github,
    z.object({
      repository: github.repository,
      jobId: GithubId.describe('As getWorkflowRun names it'),
      lines: z.int().min(1).max(MAX_LINES).default(200).describe('How many, from the end'),
    }),
    {
      name: 'readJobLog',
      description: 'Reads the last lines of the log of a job of GitHub Actions that has ended.',
      describe: ({ repository, jobId }) => `Read the log of the job ${jobId} of ${repository}`,
      async execute({ repository, jobId, lines }, { signal }): Promise<JsonValue> {
        const { text, isWhole, isEnd } = await github.client.readLog(signal, repositoryOf(repository), (rest, at) =>
          rest.actions.downloadJobLogsForWorkflowRun({ ...at, job_id: jobId }),
        )
        const all = text.trimEnd().split(/\r?\n/).map(withoutTime)
        const shown = all.slice(-lines).map((line) => cutText(line, MAX_LINE_CHARACTERS))
        return {
          jobId,
          log: shown.join('\n'),
          complete: isWhole && all.length <= lines,
          ...(!isEnd && { note: 'The log is too long to be read to its end: these lines are from the middle.' }),
        }
      },
    },
  )

/** Removes the timestamp that begins each line of a log. It would be a third of the text that the model reads. */
const withoutTime = (line: string): string => line.replace(/^\uFEFF?\d{4}-\d\d-\d\dT[\d:.]+Z ?/, '')
