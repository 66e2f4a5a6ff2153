import type { JsonObject } from '@countersign/core'
import { asTitle } from '@countersign/toolkit/internal'
import type { GithubClient } from './client.ts'
import { repositoryOf } from './repository.ts'
import { short } from './shown.ts'

/** Identifies a run of GitHub Actions. */
export interface RunWhere {
  repository: string
  runId: number
}

export interface GithubRun {
  id: number
  name?: string | null
  display_title: string
  run_number: number
  run_attempt?: number
  event: string
  status: string | null
  conclusion: string | null
  head_branch: string | null
  head_sha: string
  html_url: string
  actor?: { login: string }
  triggering_actor?: { login: string }
  created_at: string
  updated_at: string
}

/** Reads the run for a change of it. */
export const lookAtRun = (client: GithubClient, { repository, runId }: RunWhere, signal: AbortSignal): Promise<GithubRun> =>
  client.look(signal, repositoryOf(repository), (rest, at) => rest.actions.getWorkflowRun({ ...at, run_id: runId }))

/** Returns the number of the attempt. The first attempt is 1, and each rerun adds one. */
export const attemptOf = ({ run_attempt = 1 }: GithubRun): number => run_attempt

/** Returns the name of a run in a headline: `“CI” #42 “Fix the price” at 3f2a91c`. A pull request may choose the name of its workflow. */
export const runTitle = (run: GithubRun): string =>
  `${run.name ? asTitle(run.name) : 'the run'} #${run.run_number} ${asTitle(run.display_title)} at ${short(run.head_sha)}`

/** Returns the part of a run that tools return. */
export const runResult = (run: GithubRun): JsonObject => ({
  ...{ runId: run.id, workflow: run.name ?? null, title: run.display_title, branch: run.head_branch },
  ...{ status: run.status, conclusion: run.conclusion, attempt: attemptOf(run), url: run.html_url },
})
