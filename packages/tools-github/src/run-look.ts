import type { JsonObject } from '@countersign/core'
import { asName, asTitle } from '@countersign/toolkit/internal'
import type { GithubClient } from './client.ts'
import { repositoryOf } from './repository.ts'
import { short } from './shown.ts'

/** Which run of GitHub Actions is meant. */
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

/** Reads it, for a change of it. */
export const lookAtRun = (client: GithubClient, { repository, runId }: RunWhere, signal: AbortSignal): Promise<GithubRun> =>
  client.look(signal, repositoryOf(repository), (rest, at) => rest.actions.getWorkflowRun({ ...at, run_id: runId }))

/** A run is carried out once more by each rerun: the first attempt is 1. */
export const attemptOf = ({ run_attempt = 1 }: GithubRun): number => run_attempt

/** What a headline calls a run: `CI #42 “Fix the price” at 3f2a91c`. */
export const runTitle = (run: GithubRun): string =>
  `${asName(run.name ?? 'the run')} #${run.run_number} ${asTitle(run.display_title)} at ${short(run.head_sha)}`

/** What a tool answers of a run. */
export const runResult = (run: GithubRun): JsonObject => ({
  ...{ runId: run.id, workflow: run.name ?? null, title: run.display_title, branch: run.head_branch },
  ...{ status: run.status, conclusion: run.conclusion, attempt: attemptOf(run), url: run.html_url },
})
