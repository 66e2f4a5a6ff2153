import { ok, type Reply } from './route.ts'
import { nodeId } from './shapes.ts'
import type { State } from './state.ts'

const MUTATIONS = { markPullRequestReadyForReview: false, convertPullRequestToDraft: true } as const

/** The mutations for drafts: the only ones that the tools need. */
export function answerGraphql({ repos }: State, body: unknown): Reply {
  const { query = '', variables = {} } = (body ?? {}) as { query?: string; variables?: Record<string, unknown> }
  const [name, isDraft] = Object.entries(MUTATIONS).find(([known]) => query.includes(`${known}(`)) ?? []
  if (name === undefined || isDraft === undefined) return ok({ errors: [{ message: 'This is not a mutation of the stand-in' }] })
  const found = repos
    .flatMap(({ issues }) => [...issues.values()])
    .find(({ number }) => nodeId(`issue${number}`) === variables.pullRequestId)
  if (!found?.pull) {
    const message = `Could not resolve to a node with the global id of '${variables.pullRequestId}'`
    return ok({ data: { [name]: null }, errors: [{ type: 'NOT_FOUND', path: [name], message }] })
  }
  found.pull.draft = isDraft
  return ok({ data: { [name]: { pullRequest: { number: found.number, isDraft } } } })
}
