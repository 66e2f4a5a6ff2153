import type { Action, EventDataOf, Message } from '@countersign/core'
import type { ReadEvent } from './event-reader.ts'

/** A session as somebody knows it who only reads its stream. */
export interface Folded {
  status: string
  pendingApprovals: string[]
  /** Whole messages and, until they are whole, what has been streamed of them. */
  messages: Map<string, Message | { streamed: string }>
  actions: Map<string, Action>
}

const emptyFold = (): Folded => ({ status: 'idle', pendingApprovals: [], messages: new Map(), actions: new Map() })

/** Applies events in their order; `from` is left as it is. */
export function fold(events: readonly ReadEvent[], from: Folded = emptyFold()): Folded {
  const state: Folded = { ...from, messages: new Map(from.messages), actions: new Map(from.actions) }
  for (const { type, data } of events) apply(state, type, data)
  return state
}

function apply(state: Folded, type: string, data: unknown): void {
  switch (type) {
    case 'reset': {
      const { session, messages, actions } = data as EventDataOf<'reset'>
      state.status = session.status
      state.pendingApprovals = session.pendingApprovals.map((action) => action.id)
      state.messages = new Map(messages.map(({ actions: _, ...message }) => [message.id, message]))
      state.actions = new Map(actions.map((action) => [action.id, action]))
      return
    }
    case 'session_status': {
      const { status, pendingApprovals } = data as EventDataOf<'session_status'>
      state.status = status
      state.pendingApprovals = pendingApprovals
      return
    }
    case 'message': {
      const { message } = data as EventDataOf<'message'>
      state.messages.set(message.id, message)
      return
    }
    case 'delta': {
      const { messageId, content, restart } = data as EventDataOf<'delta'>
      const known = state.messages.get(messageId)
      const streamed = known && 'streamed' in known && !restart ? known.streamed : ''
      state.messages.set(messageId, { streamed: streamed + content })
      return
    }
    case 'done':
    case 'error': {
      // What never became a whole message was never said.
      for (const [id, message] of state.messages) if ('streamed' in message) state.messages.delete(id)
      return
    }
    case 'action_proposed': {
      const { proposal } = data as EventDataOf<'action_proposed'>
      state.actions.set(proposal.id, proposal)
      return
    }
    case 'action_update': {
      const { proposalId, ...changed } = data as EventDataOf<'action_update'>
      const action = state.actions.get(proposalId)
      if (!action) throw new Error(`an update of ${proposalId}, which was never proposed`)
      state.actions.set(proposalId, { ...action, ...(changed.state !== 'proposed' && { overdue: false }), ...changed })
      return
    }
    case 'approval_overdue': {
      const { actionId, updatedAt = '' } = data as EventDataOf<'approval_overdue'>
      const action = state.actions.get(actionId)
      if (!action) throw new Error(`a reminder of ${actionId}, which was never proposed`)
      state.actions.set(actionId, { ...action, overdue: true, updatedAt })
    }
  }
}
