import { type JsonObject, type JsonValue, ToolError } from '@countersign/core'
import { mayHaveRun, serviceMessage } from '@countersign/toolkit/internal'

/** A change that GitHub's REST API does not offer, only its GraphQL API. */
export interface Mutation {
  /** The whole GraphQL document. */
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

/** The types of errors after which nothing was changed. An error without a type is an internal failure of GitHub. */
const REFUSALS = new Set(['NOT_FOUND', 'FORBIDDEN', 'UNPROCESSABLE', 'INSUFFICIENT_SCOPES', 'RATE_LIMITED', 'RATE_LIMIT'])

/** Returns the error of a change whose GraphQL answer holds errors; undefined for any other error. */
export function readGraphqlError(error: unknown, about: string): ToolError | undefined {
  if (!(error instanceof Error) || !('errors' in error) || !Array.isArray(error.errors)) return undefined
  const errors: JsonObject[] = error.errors
  const data = 'data' in error ? (error.data as JsonValue) : undefined
  const message = errors.map(({ message }) => String(message ?? '')).join('; ')
  const said = serviceMessage({ message })
  const words = said === undefined ? '' : `: ${said}`
  const isRefusal = errors.length > 0 && errors.every(({ type }) => REFUSALS.has(String(type)))
  if (!isRefusal || mayHaveRun({ data, errors })) {
    return new ToolError('ambiguous', `GitHub failed${words}. Whether it acted is not known.`)
  }
  const retryable = errors.some(({ type }) => String(type).startsWith('RATE_LIMIT'))
  return new ToolError('refused', `GitHub refused this in ${about}${words}. Nothing was changed.`, { retryable })
}
