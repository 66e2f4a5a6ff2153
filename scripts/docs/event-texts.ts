import type { EventType } from '@countersign/core'

/** When each type of event is sent. A type that is missing here does not compile. */
export const EVENT_TEXTS: Readonly<Record<EventType, string>> = {
  session: 'First on `/api/chat`: which session and run.',
  session_renamed: 'The session has another title: `title`, and `by` whom.',
  session_deleted: 'The session was deleted, `by` whom; the last event.',
  message: 'A stored message: of a person, the model or a tool, a request for approval (`kind: request`) or a note (`kind: note`).',
  delta: 'The model writes text.',
  reasoning_delta: 'The model writes its reasoning.',
  tool_call_start: 'The name of a call is known, its arguments are not.',
  action_proposed: 'A call became an action: the whole action, with the verdict of the policy.',
  action_update: 'An action changed: its state, and what changed with it; all of it after it went back for approval or was redacted.',
  tool_call_result:
    'A call has its result, as the model gets it. Without `actionId` the call became no action, because it was refused or needed none.',
  approval_overdue:
    "Nobody decided [in time](/concepts/deadlines.md), once per action: `actionId`, `waitedMs` and the action's `updatedAt`.",
  session_status: "The session's status, and which actions are waiting.",
  participants: 'Somebody was invited to the session or removed: all who may write in it besides its owner.',
  done: 'The run ended, with the tokens it used.',
  error: 'The run failed: `code` and a sentence. The same sentence is a note in the session.',
  reset: 'See [Reconnect](#reconnect).',
}
