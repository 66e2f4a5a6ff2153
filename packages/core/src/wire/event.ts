import { z } from 'zod'
import { Action, ActionState } from './action.ts'
import { Json } from './json.ts'
import { Message, Session, SessionPerson, SessionStatus } from './session.ts'

const CalledTool = z.object({ id: z.string(), name: z.string() })

/** The tokens of a run, all its steps together. `estimated` when a provider did not say: then it is about a quarter of the characters. */
const RunUsage = z.object({
  inputTokens: z.int(),
  cachedInputTokens: z.int(),
  cacheWriteTokens: z.int(),
  outputTokens: z.int(),
  estimated: z.literal(true).optional(),
})

/** The data of every event type of a session's stream. */
export const EventData = {
  session: z.object({ sessionId: z.string(), runId: z.string() }),
  session_status: z.object({ status: SessionStatus, pendingApprovals: z.array(z.string()) }),
  /** Everybody who may write in the session besides its owner, after somebody was invited or removed. */
  participants: z.object({ participants: z.array(SessionPerson) }),
  message: z.object({ message: Message }),
  session_renamed: z.object({ title: z.string(), by: SessionPerson }),
  /** The last event of a session: it was deleted, and its stream ends. */
  session_deleted: z.object({ by: SessionPerson }),
  /** With `restart` the message is being written anew: what was streamed of it before (text, reasoning, started calls) is void. */
  delta: z.object({ messageId: z.string(), content: z.string(), restart: z.literal(true).optional() }),
  reasoning_delta: z.object({ messageId: z.string(), content: z.string() }),
  tool_call_start: z.object({ toolCall: CalledTool, actionId: z.string().optional() }),
  action_proposed: z.object({ proposal: Action }),
  /** The changed members besides the first four; all of them for a new revision. */
  action_update: Action.omit({ id: true })
    .partial()
    .extend({ proposalId: z.string(), state: ActionState, revision: z.int(), updatedAt: z.string() }),
  /** From here on the action is `overdue`. An older server does not say `updatedAt`. */
  approval_overdue: z.object({ actionId: z.string(), waitedMs: z.int(), updatedAt: z.string().optional() }),
  /** Without `actionId` the call became no action: it was refused, or needed none. */
  tool_call_result: z.object({ toolCall: CalledTool.extend({ result: Json }), actionId: z.string().optional() }),
  done: z.object({
    messageId: z.string(),
    runId: z.string(),
    usage: RunUsage.optional(),
  }),
  error: z.object({ code: z.string(), error: z.string(), runId: z.string().optional() }),
  reset: z.object({ reason: z.string(), session: Session, messages: z.array(Message), actions: z.array(Action) }),
} as const

export type EventType = keyof typeof EventData
/** The types that are stored in the log; `session` and `reset` belong to one connection only. */
export type StoredEventType = Exclude<EventType, 'session' | 'reset'>
export type EventDataOf<T extends EventType> = z.infer<(typeof EventData)[T]>
/** An event as it leaves the stream. `seq` is absent on `session`. */
export type SessionEvent = { [T in EventType]: { type: T; seq?: number; data: EventDataOf<T> } }[EventType]
/** An event to be stored. */
export type NewEvent = { [T in StoredEventType]: { type: T; data: EventDataOf<T> } }[StoredEventType]

/**
 * The subject of each stored event. The inbox receives the events about actions, each of which names its action. A type that is missing
 * here does not compile.
 */
export const EVENT_SUBJECTS = {
  session_status: 'session',
  participants: 'session',
  message: 'session',
  session_renamed: 'session',
  session_deleted: 'session',
  delta: 'session',
  reasoning_delta: 'session',
  tool_call_start: 'session',
  action_proposed: 'action',
  action_update: 'action',
  approval_overdue: 'action',
  tool_call_result: 'session',
  done: 'session',
  error: 'session',
} as const satisfies Readonly<Record<StoredEventType, 'session' | 'action'>>

/** The types of events that are about an action. */
export type ActionEventType = { [T in StoredEventType]: (typeof EVENT_SUBJECTS)[T] extends 'action' ? T : never }[StoredEventType]

/** The types that `chosen` marks, out of a table that has every type. */
export const eventTypes = (chosen: Readonly<Record<StoredEventType, boolean>>): ReadonlySet<StoredEventType> =>
  new Set((Object.keys(chosen) as StoredEventType[]).filter((type) => chosen[type]))
