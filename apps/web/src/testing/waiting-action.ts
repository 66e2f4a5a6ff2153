import type { Action } from '@countersign/core'
import { plant } from './hostile.ts'
import { hostileAnswers } from './hostile-answers.ts'

/** One vote of an approver, who may be the requester. */
export const requires = { quorum: 1, declineQuorum: 1, roles: ['approver'], notRequester: false }

/** Returns the answers of a server, and a function that makes its waiting actions: `act_{id}`, "Send {id}", of the agent desk. */
export function waitingActions(wire: Parameters<typeof hostileAnswers>[1]) {
  const answers = hostileAnswers(plant(), wire)
  const actionOf = (id: string, more: object = {}): Action => ({
    ...answers.newAction,
    id: `act_${id}`,
    description: `Send ${id}`,
    tool: 'desk.send',
    agent: 'desk',
    arguments: { what: id },
    preview: null,
    expiresAt: null,
    requires,
    sessionId: null,
    ...more,
  })
  return { answers, actionOf }
}
