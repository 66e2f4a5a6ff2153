import type { Action, EventDataOf, Message, Session, SessionEvent } from '@countersign/core'
import { type Actions, markOverdue, mergeActions, updateAction } from './action-merge.ts'

/** Text of a message that the model is still writing. */
export type StreamingMessage = { messageId: string; content: string; reasoning: string }
/** A tool call that has a name but is not proposed yet. */
export type StartedCall = { id: string; name: string }
export type RunError = EventDataOf<'error'>

/** Everything a session's log says, folded. Immutable; unchanged parts keep their identity. */
export type SessionState = {
  /** Null until it is loaded. The waiting actions and the position in the log are updated separately. */
  session: Omit<Session, 'pendingApprovals' | 'unknownOutcomes' | 'lastSeq'> | null
  /** Ordered by `seq`. */
  messages: readonly Message[]
  streaming: readonly StreamingMessage[]
  startedCalls: readonly StartedCall[]
  /** By action id. */
  actions: Actions
  /** Ids of the actions that wait for a person, oldest first. */
  pendingApprovals: readonly string[]
  /** The reason that the last run stopped; null once the session continues. */
  runError: RunError | null
  /** Ids of actions that changed in a way the log does not spell out: fetch them and fold them in with {@link foldActions}. */
  toFetch: readonly string[]
  lastSeq: number
}

export const EMPTY_SESSION: SessionState = {
  session: null,
  messages: [],
  streaming: [],
  startedCalls: [],
  actions: {},
  pendingApprovals: [],
  runError: null,
  toFetch: [],
  lastSeq: 0,
}

/** The state that a loaded session and its messages stand for. */
export function sessionState(session: Session, messages: readonly Message[], actions: Session['pendingApprovals'] = []): SessionState {
  const { pendingApprovals, unknownOutcomes: _, lastSeq, ...rest } = session
  const held = mergeActions({}, [...messages.flatMap((message) => message.actions ?? []), ...pendingApprovals, ...actions])
  return {
    ...EMPTY_SESSION,
    session: rest,
    messages: [...messages].sort((a, b) => a.seq - b.seq),
    actions: held,
    pendingApprovals: pendingApprovals.map((action) => action.id),
    lastSeq,
  }
}

/**
 * The state after one event: pure, so that folding a stream gives the same state wherever it was cut. An event at or before
 * `lastSeq` changes nothing; `reset` replaces everything.
 *
 * @example
 * let state = sessionState(session, messages)
 * for await (const event of events(client, { path, after: state.lastSeq })) state = foldSession(state, event)
 */
export function foldSession<S extends SessionState>(state: S, event: SessionEvent): S {
  if (event.type === 'reset') {
    const fresh = sessionState(event.data.session, event.data.messages, event.data.actions)
    return { ...state, ...fresh, lastSeq: event.seq ?? fresh.lastSeq }
  }
  if (event.seq !== undefined && event.seq <= state.lastSeq) return state
  const next = { ...state, ...after(state, event) }
  return event.seq === undefined ? next : { ...next, lastSeq: event.seq }
}

/** The state with a page of older messages in front. Entries that the state already holds are newer and stay. */
export function foldOlder<S extends SessionState>(state: S, older: readonly Message[]): S {
  const known = new Set(state.messages.map(({ id }) => id))
  const messages = [...older.filter(({ id }) => !known.has(id)), ...state.messages].sort((a, b) => a.seq - b.seq)
  const actions = mergeActions(
    state.actions,
    older.flatMap((message) => message.actions ?? []),
  )
  return { ...state, messages, actions }
}

/** The state with whole actions folded in, for those in `toFetch`. */
export function foldActions<S extends SessionState>(state: S, fetched: S['actions'][string][]): S {
  const ids = new Set(fetched.map((action) => action.id))
  const next = { ...state, actions: mergeActions(state.actions, fetched), toFetch: state.toFetch.filter((id) => !ids.has(id)) }
  return { ...next, pendingApprovals: withPending(next, [...ids]) }
}

function after(state: SessionState, event: Exclude<SessionEvent, { type: 'reset' }>): Partial<SessionState> {
  switch (event.type) {
    case 'session_status':
      return {
        session: state.session && { ...state.session, status: event.data.status },
        pendingApprovals: event.data.pendingApprovals,
        ...(event.data.status === 'active' ? { runError: null } : {}),
      }
    case 'session_renamed':
      return { session: state.session && { ...state.session, title: event.data.title } }
    case 'participants':
      return { session: state.session && { ...state.session, participants: event.data.participants } }
    case 'message':
      return withMessage(state, event.data.message)
    case 'delta': {
      const { messageId, content, restart } = event.data
      if (!restart) return withText(state, messageId, content, '')
      // The message is written anew: what was streamed of it is void, and so are the calls it had started.
      const streaming = state.streaming.filter((streamed) => streamed.messageId !== messageId)
      return { ...withText({ ...state, streaming }, messageId, content, ''), startedCalls: [] }
    }
    case 'reasoning_delta':
      return withText(state, event.data.messageId, '', event.data.content)
    case 'tool_call_start': {
      const { toolCall } = event.data
      return { startedCalls: [...state.startedCalls.filter((call) => call.id !== toolCall.id), toolCall] }
    }
    case 'action_proposed': {
      const { proposal } = event.data
      const next = {
        actions: mergeActions(state.actions, [proposal]),
        toFetch: state.toFetch.filter((id) => id !== proposal.id),
        startedCalls: state.startedCalls.filter((call) => call.id !== proposal.toolCallId),
      }
      return { ...next, pendingApprovals: withPending({ ...state, ...next }, [proposal.id]) }
    }
    case 'action_update':
      return withChanged(state, event.data.proposalId, updateAction(state.actions[event.data.proposalId], event.data))
    case 'approval_overdue':
      return withChanged(state, event.data.actionId, markOverdue(state.actions[event.data.actionId], event.data))
    case 'tool_call_result':
      return { startedCalls: state.startedCalls.filter((call) => call.id !== event.data.toolCall.id) }
    case 'done':
      return { streaming: [], startedCalls: [] }
    case 'error':
      return { streaming: [], startedCalls: [], runError: event.data }
    // They change nothing here: `session` opens a chat, and a deleted session ends its stream.
    case 'session':
    case 'session_deleted':
      return {}
    default:
      event satisfies never
      // An event of a newer server.
      return {}
  }
}

function withMessage(state: SessionState, message: Message): Partial<SessionState> {
  const others = state.messages.filter((other) => other.id !== message.id)
  const called = new Set(message.toolCalls?.map((call) => call.id))
  return {
    messages: [...others, message].sort((a, b) => a.seq - b.seq),
    streaming: state.streaming.filter((streaming) => streaming.messageId !== message.id),
    startedCalls: state.startedCalls.filter((call) => !called.has(call.id)),
    actions: mergeActions(state.actions, message.actions ?? []),
  }
}

function withText(state: SessionState, messageId: string, content: string, reasoning: string): Partial<SessionState> {
  // A whole message is never written over by its own deltas, whichever came first.
  if (state.messages.some((message) => message.id === messageId)) return {}
  const held = state.streaming.find((streaming) => streaming.messageId === messageId)
  if (held === undefined) return { streaming: [...state.streaming, { messageId, content, reasoning }] }
  const grown = { messageId, content: held.content + content, reasoning: held.reasoning + reasoning }
  return { streaming: state.streaming.map((streaming) => (streaming === held ? grown : streaming)) }
}

/** The state with a changed action; undefined has it fetched. */
function withChanged(state: SessionState, actionId: string, changed: Action | undefined): Partial<SessionState> {
  if (changed === undefined) return state.toFetch.includes(actionId) ? {} : { toFetch: [...state.toFetch, actionId] }
  const next = { actions: { ...state.actions, [actionId]: changed } }
  return { ...next, pendingApprovals: withPending({ ...state, ...next }, [actionId]) }
}

/** `pendingApprovals` brought in line with what the actions `ids` say now. */
function withPending(state: SessionState, ids: readonly string[]): readonly string[] {
  const gone = ids.filter((id) => state.actions[id]?.state !== 'proposed')
  const come = ids.filter((id) => state.actions[id]?.state === 'proposed' && !state.pendingApprovals.includes(id))
  if (gone.length === 0 && come.length === 0) return state.pendingApprovals
  return [...state.pendingApprovals.filter((id) => !gone.includes(id)), ...come]
}
