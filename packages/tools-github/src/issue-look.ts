import { canonicalJson, type JsonValue, type Preview, type PreviewField, ToolError } from '@countersign/core'
import type { GithubClient } from './client.ts'
import { repositoryOf } from './repository.ts'
import { same } from './shown.ts'
import type { GithubIssue } from './views.ts'

/** Identifies an issue or a pull request. */
export interface Where {
  repository: string
  number: number
}

/** Reads the issue for a change of it. */
export const lookAt = (client: GithubClient, { repository, number }: Where, signal: AbortSignal): Promise<GithubIssue> =>
  client.look(signal, repositoryOf(repository), (rest, at) => rest.issues.get({ ...at, issue_number: number }))

/** Returns whether it is an issue or a pull request, in words. */
const kindOf = ({ pull_request }: GithubIssue): string => (pull_request === undefined ? 'issue' : 'pull request')

/** Returns the first field of every preview about an issue. */
const heading = (issue: GithubIssue): PreviewField => same(kindOf(issue), `#${issue.number} ${issue.title}`)

/** Returns the precondition of a change: the title and state of the issue, and the old values. */
const restsOn = (issue: GithubIssue, fields: readonly PreviewField[]): JsonValue => ({
  title: issue.title,
  state: issue.state,
  values: fields.map(({ field, oldValue = null }) => ({ field, oldValue })),
})

/**
 * Returns the preview of a change of an issue: headline, fields and precondition.
 * @throws ToolError `refused` for an issue that has all the new values: nobody is asked about a change that changes nothing.
 */
export function preview(issue: GithubIssue, headline: string, fields: PreviewField[]): Preview {
  if (fields.every(isUnchanged)) throw new ToolError('refused', `#${issue.number} is like that already.`)
  return { headline, fields: [heading(issue), ...fields], precondition: restsOn(issue, fields) }
}

const isUnchanged = ({ oldValue = null, newValue = null }: PreviewField): boolean => canonicalJson(oldValue) === canonicalJson(newValue)
