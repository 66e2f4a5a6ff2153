import type { JsonObject } from '@countersign/core'
import { withoutMarker } from './marker.ts'

// Views of GitHub's answers for the model. A page of pull requests as GitHub returns it has 3 MB, most of it addresses.

const MAX_TEXT = 20_000
const MAX_LISTED_TEXT = 1_000
/** The maximum length of a comment. A hundred of these stay below the limit of a result. */
const MAX_COMMENT = 3_000

/** Returns a text as people see it, cut at a maximum length. */
export const textOf = (body: string | null | undefined, most = MAX_TEXT): string => cutText(withoutMarker(body ?? ''), most)

/** Returns a text that never has a marker, such as a patch or a line of a log, cut at a maximum length. */
export function cutText(given: string | null | undefined, most: number): string {
  const text = given ?? ''
  return text.length > most ? `${text.slice(0, most).toWellFormed()}… (${text.length - most} more characters)` : text
}

interface User {
  login: string
}

export interface GithubIssue {
  number: number
  title: string
  state: string
  state_reason?: string | null
  locked: boolean
  body?: string | null
  html_url: string
  user: User | null
  labels: ({ name?: string } | string)[]
  assignees?: User[] | null
  milestone: { title: string; number: number } | null
  comments: number
  created_at: string
  updated_at: string
  pull_request?: unknown
}

/** Returns the names of an issue's labels, sorted, because GitHub's order is not stable. */
export const labelsOf = ({ labels }: Pick<GithubIssue, 'labels'>): string[] =>
  labels.map((label) => (typeof label === 'string' ? label : (label.name ?? ''))).sort()

export const assigneesOf = ({ assignees }: Pick<GithubIssue, 'assignees'>): string[] => (assignees ?? []).map(({ login }) => login).sort()

/** Returns the part of an issue that write tools return. */
export const issueResult = (issue: GithubIssue): JsonObject => ({
  number: issue.number,
  title: issue.title,
  state: issue.state,
  labels: labelsOf(issue),
  assignees: assigneesOf(issue),
  url: issue.html_url,
})

/** Returns an issue for a list, with the beginning of its text. */
export const issueInList = (issue: GithubIssue): JsonObject => ({
  ...issueResult(issue),
  kind: issue.pull_request === undefined ? 'issue' : 'pull request',
  author: issue.user?.login ?? null,
  milestone: issue.milestone?.title ?? null,
  comments: issue.comments,
  createdAt: issue.created_at,
  updatedAt: issue.updated_at,
  body: textOf(issue.body, MAX_LISTED_TEXT),
})

export const issueView = (issue: GithubIssue): JsonObject => ({
  ...issueInList(issue),
  stateReason: issue.state_reason ?? null,
  locked: issue.locked,
  body: textOf(issue.body),
})

export interface GithubComment {
  id: number
  body?: string
  html_url: string
  user: User | null
  created_at: string
  updated_at: string
}

export const commentView = (comment: GithubComment): JsonObject => ({
  id: comment.id,
  author: comment.user?.login ?? null,
  createdAt: comment.created_at,
  body: textOf(comment.body, MAX_COMMENT),
  url: comment.html_url,
})

export interface GithubPull {
  number: number
  title: string
  state: string
  draft?: boolean
  locked: boolean
  body: string | null
  html_url: string
  user: User | null
  labels: { name: string }[]
  assignees?: User[] | null
  requested_reviewers?: User[] | null
  requested_teams?: { slug: string }[] | null
  head: { ref: string; sha: string }
  base: { ref: string }
  created_at: string
  updated_at: string
  merged_at: string | null
}

/** Returns the part of a pull request that write tools return. */
export const pullResult = (pull: GithubPull): JsonObject => ({
  number: pull.number,
  title: pull.title,
  state: pull.merged_at === null ? pull.state : 'merged',
  head: pull.head.ref,
  headSha: pull.head.sha,
  base: pull.base.ref,
  draft: pull.draft ?? false,
  reviewers: reviewersOf(pull),
  url: pull.html_url,
})

/** Returns the requested reviewers: logins, and teams as `team:slug`. */
export const reviewersOf = ({ requested_reviewers, requested_teams }: GithubPull): string[] =>
  [...(requested_reviewers ?? []).map(({ login }) => login), ...(requested_teams ?? []).map(({ slug }) => `team:${slug}`)].sort()

export const pullInList = (pull: GithubPull): JsonObject => ({
  ...pullResult(pull),
  author: pull.user?.login ?? null,
  labels: pull.labels.map(({ name }) => name),
  assignees: assigneesOf(pull),
  createdAt: pull.created_at,
  updatedAt: pull.updated_at,
  body: textOf(pull.body, MAX_LISTED_TEXT),
})

export const commitLine = ({ sha, message }: { sha: string; message: string }): string => `${sha.slice(0, 7)} ${message.split('\n')[0]}`

/** True when the answer has a next page. */
export const hasMore = (headers: Readonly<Record<string, unknown>>): boolean => /rel="next"/.test(String(headers.link ?? ''))
