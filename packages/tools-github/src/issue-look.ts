import type { JsonValue, Preview, PreviewField } from '@countersign/core'
import type { GithubClient } from './client.ts'
import { repositoryOf } from './repository.ts'
import { same } from './shown.ts'
import type { GithubIssue } from './views.ts'

/** Which issue (or pull request) is meant. */
export interface Where {
  repository: string
  number: number
}

/** Reads it, for a change of it. */
export const lookAt = (client: GithubClient, { repository, number }: Where, signal: AbortSignal): Promise<GithubIssue> =>
  client.look(signal, repositoryOf(repository), (rest, at) => rest.issues.get({ ...at, issue_number: number }))

/** What it is, in words. */
const kindOf = ({ pull_request }: GithubIssue): string => (pull_request === undefined ? 'issue' : 'pull request')

/** What every card about an issue begins with. */
const heading = (issue: GithubIssue): PreviewField => same(kindOf(issue), `#${issue.number} ${issue.title}`)

/** The state that a decision about an issue rests on besides what is changed. */
const restsOn = (issue: GithubIssue, fields: readonly PreviewField[]): JsonValue => ({
  title: issue.title,
  state: issue.state,
  values: fields.map(({ field, oldValue = null }) => ({ field, oldValue })),
})

/** What a card about a change of it is headed by and shows, and what the change rests on. */
export const preview = (issue: GithubIssue, headline: string, fields: PreviewField[]): Preview => ({
  headline,
  fields: [heading(issue), ...fields],
  precondition: restsOn(issue, fields),
})
