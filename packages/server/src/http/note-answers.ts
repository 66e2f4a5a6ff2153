import type { Action, NewEvent, Principal } from '@countersign/core'
import type { Announcements } from '../agent/index.ts'
import type { App } from './app.ts'
import type { Reset } from './follow.ts'

/** The events that an event stream sends. */
export type SentEvent = NewEvent | { type: 'reset'; data: Reset }

type Announced = Pick<Action, 'id' | 'revision' | 'state'>

/** Members of answers that hold actions, or objects with actions. */
const HOLDERS = ['items', 'pendingApprovals', 'actions', 'action', 'decided', 'waiting'] as const

/** Records which waiting actions each answer shows to a person: a typed command word decides only those. */
export function noteAnswers(app: App, announcements: Announcements): void {
  app.addHook('preSerialization', async (request, _reply, payload) => {
    const { principal, method } = request
    // The answer to HEAD has no body, so it shows nothing.
    if (principal?.kind === 'person' && method !== 'HEAD') announcements.note(principal, actionsIn(payload))
    return payload
  })
}

/** Records the actions that an event shows to a person in full. */
export function noteEvent(announcements: Announcements, principal: Principal, event: SentEvent): void {
  announcements.note(principal, announcedBy(event))
}

function announcedBy(event: SentEvent): Announced[] {
  switch (event.type) {
    case 'action_proposed':
      return [event.data.proposal]
    case 'message':
      return actionsIn(event.data.message)
    case 'reset':
      return [...actionsIn(event.data), ...actionsIn(event.data.session), ...actionsIn(event.data.messages)]
    case 'action_update':
      // An update without the digest reports a vote and does not show the action.
      return event.data.digest === undefined ? [] : [{ ...event.data, id: event.data.proposalId }]
    case 'session_status':
    case 'participants':
    case 'session_renamed':
    case 'session_deleted':
    case 'delta':
    case 'reasoning_delta':
    case 'tool_call_start':
    case 'approval_overdue':
    case 'tool_call_result':
    case 'done':
    case 'error':
      return []
  }
}

/** Returns the actions in an answer: the answer itself, or those in the members that hold actions. */
function actionsIn(payload: unknown, depth = 0): Announced[] {
  if (typeof payload !== 'object' || payload === null || depth > 4) return []
  if (Array.isArray(payload)) return payload.flatMap((item) => actionsIn(item, depth + 1))
  if (isAction(payload)) return [payload]
  return HOLDERS.flatMap((key) => (key in payload ? actionsIn(Reflect.get(payload, key), depth + 1) : []))
}

const isAction = (value: object): value is Announced => 'digest' in value && 'revision' in value && 'state' in value && 'id' in value
