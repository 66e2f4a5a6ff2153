import type { Action } from '@countersign/core'
import type { ApiClient } from '../../testing/api-client.ts'
import type { Answer } from './drawn-talk.ts'

export const waitingOf = async (admin: Pick<ApiClient, 'get'>, sessionId: string): Promise<Action[]> =>
  (await admin.get(`/api/sessions/${sessionId}`)).pendingApprovals

/** Decides an action in another place than the page that shows it. */
export async function decideElsewhere(admin: Pick<ApiClient, 'post'>, { id, revision, digest }: Action, answer: Answer): Promise<void> {
  const edits = answer === 'edit elsewhere' ? { arguments: { what: 'better' } } : {}
  const verdict = answer === 'decline elsewhere' ? 'decline' : 'approve'
  await admin.post(`/api/actions/${id}/decision`, { verdict, revision, digest, ...edits })
}
