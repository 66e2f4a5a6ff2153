import type { PreviewField } from '@countersign/core'
import type { GithubClient } from './client.ts'
import { readPages } from './pages.ts'
import { repositoryOf } from './repository.ts'
import { same } from './shown.ts'
import type { GithubPull } from './views.ts'

/** Identifies a pull request. */
export interface PullWhere {
  repository: string
  number: number
}

/** Reads the pull request for a change of it. */
export const lookAtPull = (client: GithubClient, { repository, number }: PullWhere, signal: AbortSignal) =>
  client.look(signal, repositoryOf(repository), (rest, at) => rest.pulls.get({ ...at, pull_number: number }))

/** Reads the reviews of a pull request, oldest first. */
export const readReviews = (client: GithubClient, { repository, number }: PullWhere, signal: AbortSignal) =>
  readPages(
    { client, repository, ask: (rest, at) => rest.pulls.listReviews({ ...at, pull_number: number }), itemsOf: (page) => page },
    signal,
  )

/** Returns the first field of every preview about a pull request. */
export const pullHeading = (pull: GithubPull): PreviewField => same('pull request', `#${pull.number} ${pull.title}`)
