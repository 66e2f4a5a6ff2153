import { Action, EventData, Message } from '@countersign/core'
import { z } from 'zod'
import { events } from '../../store/index.ts'

const Id = z.int().describe('Position in the log, for Last-Event-ID')

/** Returns the schema of one event of a stream by its fields. `data` is the one line of JSON. */
const eventOf = (type: string, data: z.ZodType): z.ZodType => z.object({ id: Id, event: z.literal(type), data })

const { session, reset, ...logged } = EventData

const nameOf = (type: string): string => `${type.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())}Event`

/** The fields of an event that belongs to one connection and has no place in the log. */
const Begun = z.object({ event: z.literal('session'), data: session })
const Reset = eventOf('reset', reset)
/** The reset of the inbox, which belongs to no session. */
const InboxReset = eventOf(
  'reset',
  z.object({ reason: z.string(), session: z.null(), messages: z.array(Message), actions: z.array(Action) }),
)
const ofLog = Object.fromEntries(Object.entries(logged).map(([type, data]) => [nameOf(type), eventOf(type, data)]))
const ofInbox = Object.keys(logged).flatMap((type) => (events.INBOX_TYPES.has(type) ? (ofLog[nameOf(type)] ?? []) : []))

/** The events of a session's stream. */
export const SessionEvent = z.union([...Object.values(ofLog), Reset])
/** The events of one chat: the first is `session`. */
export const ChatEvent = z.union([Begun, ...Object.values(ofLog), Reset])
/** The events of the inbox. */
export const InboxEvent = z.union([...ofInbox, InboxReset])
/** The messages that a listening MCP client receives. */
export const McpEvent = z.object({ event: z.literal('message'), data: z.looseObject({ jsonrpc: z.literal('2.0') }) })

/** The schemas that the document lists under their own names. */
export const EVENT_SCHEMAS: Readonly<Record<string, z.ZodType>> = {
  ...ofLog,
  SessionEvent,
  ChatEvent,
  InboxEvent,
  McpEvent,
  ChatBegunEvent: Begun,
  ResetEvent: Reset,
  InboxResetEvent: InboxReset,
}
