import { ToolError } from '@countersign/core'
import { serviceMessage } from '@countersign/toolkit/internal'

/** What is done in GitHub's GraphQL because its REST API cannot. */
export interface Mutation {
  /** The whole document. */
  text: string
}

export const MARK_READY: Mutation = {
  text: `mutation MarkReady($pullRequestId: ID!) {
  markPullRequestReadyForReview(input: { pullRequestId: $pullRequestId }) { pullRequest { number isDraft } }
}`,
}

export const CONVERT_TO_DRAFT: Mutation = {
  text: `mutation ConvertToDraft($pullRequestId: ID!) {
  convertPullRequestToDraft(input: { pullRequestId: $pullRequestId }) { pullRequest { number isDraft } }
}`,
}

/** What GitHub says in an answer of GraphQL in place of data. */
interface GraphqlError {
  type?: unknown
  message?: unknown
}

/** The kinds of errors after which nothing was changed. Of one without a kind GitHub itself does not know. */
const REFUSALS = new Set(['NOT_FOUND', 'FORBIDDEN', 'UNPROCESSABLE', 'INSUFFICIENT_SCOPES', 'RATE_LIMITED', 'RATE_LIMIT'])

/** What an answer of GraphQL that holds errors says of a change; undefined for any other error. */
export function readGraphqlError(error: unknown, about: string): ToolError | undefined {
  if (!(error instanceof Error) || !('errors' in error) || !Array.isArray(error.errors)) return undefined
  const errors: GraphqlError[] = error.errors
  const message = errors.map(({ message }) => String(message ?? '')).join('; ')
  const said = serviceMessage({ message })
  const words = said === undefined ? '' : `: ${said}`
  if (errors.length === 0 || !errors.every(({ type }) => REFUSALS.has(String(type)))) {
    return new ToolError('ambiguous', `GitHub failed${words}. Whether it acted is not known.`)
  }
  const retryable = errors.some(({ type }) => String(type).startsWith('RATE_LIMIT'))
  return new ToolError('refused', `GitHub refused this in ${about}${words}. Nothing was changed.`, { retryable })
}
