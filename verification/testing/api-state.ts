import type { Action, Message } from '@countersign/core'
import type { ApiClient } from './api-client.ts'
import type { Folded } from './fold.ts'

/** A session's state as the API tells it, in the form that its stream folds to. At most 200 messages and actions. */
export async function stateByApi(client: Pick<ApiClient, 'get'>, sessionId: string): Promise<Folded> {
  const session = await client.get(`/api/sessions/${sessionId}`)
  const { items: messages } = await client.get(`/api/sessions/${sessionId}/messages?limit=200`)
  const { items: actions } = await client.get(`/api/actions?session=${sessionId}&limit=200`)
  return {
    status: session.status,
    pendingApprovals: session.pendingApprovals.map(({ id }: Action) => id),
    messages: new Map(messages.map(({ actions: _, ...message }: Message) => [message.id, message])),
    actions: new Map(actions.map((action: Action) => [action.id, action])),
  }
}
