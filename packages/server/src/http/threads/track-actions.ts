import type { Action } from '@countersign/core'
import type { SentEvent } from '../note-answers.ts'

export interface TrackedActions {
  /** Takes an action as it is now. Ignored when the turn has no such call. */
  show(toolCallId: string, action: Action): void
  /** Takes what an event says about actions; other events are ignored. */
  take(event: SentEvent): void
  /** The action of a call, as it was shown last. */
  of(toolCallId: string): Action | undefined
  /** True while a call that nobody has to approve is being carried out. */
  readonly isBusy: boolean
}

/**
 * Follows the actions of a turn's calls, whatever format the turn is written in.
 * @param hasCall True for a call of the turn.
 * @param onChange Called with each action as it is now, and as it was shown before.
 */
export function trackActions(
  hasCall: (toolCallId: string) => boolean,
  onChange: (toolCallId: string, action: Action, before: Action | undefined) => void,
): TrackedActions {
  const actions = new Map<string, Action>()
  const callOfAction = new Map<string, string>()

  function show(toolCallId: string, action: Action): void {
    if (!hasCall(toolCallId)) return
    const before = actions.get(toolCallId)
    actions.set(toolCallId, action)
    callOfAction.set(action.id, toolCallId)
    onChange(toolCallId, action, before)
  }

  return {
    show,
    take(event) {
      if (event.type === 'action_proposed') {
        const { proposal } = event.data
        if (proposal.toolCallId !== null) show(proposal.toolCallId, proposal)
      } else if (event.type === 'action_update') {
        const { proposalId, ...changed } = event.data
        const toolCallId = callOfAction.get(proposalId)
        const action = toolCallId === undefined ? undefined : actions.get(toolCallId)
        if (toolCallId !== undefined && action) show(toolCallId, { ...action, ...changed } as Action)
      }
    },
    of: (toolCallId) => actions.get(toolCallId),
    get isBusy() {
      return [...actions.values()].some(({ executor, state }) => executor === 'server' && (state === 'approved' || state === 'executing'))
    },
  }
}
