import { type JsonObject, MessageText, parseJson } from '@countersign/core'
import { z } from 'zod'
import { viewOutcome } from '../../gate/index.ts'
import { actions, type MessageRow, messages, type SessionRow, stored, type Tx } from '../../store/index.ts'
import type { SnapshotMessage } from './events.ts'
import { withArguments } from './page-messages.ts'
import type { KnownMessages } from './turn-writer.ts'

/** A message that a page has. It decides what is sent to it, and nothing else. */
export const Said = z.looseObject({
  id: z.string().max(500),
  role: z.string(),
  content: z.unknown().optional(),
  toolCalls: z.array(z.looseObject({ id: z.string().max(500), function: z.looseObject({ arguments: z.unknown() }).optional() })).optional(),
  toolCallId: z.string().max(500).optional(),
})
export type Said = z.infer<typeof Said>

/** How many messages a new page gets at most, and how many more one gets that has them. */
const MOST_MESSAGES = 200
const MOST_HELD = 800

const TextPart = z.looseObject({ type: z.literal('text'), text: z.string() })

/** The text of a message, as it would be stored; undefined where it cannot be. */
export function textOf({ content }: Said): string | undefined {
  const parts = Array.isArray(content) ? content : [{ type: 'text', text: content }]
  const texts = parts.flatMap((part: unknown) => {
    const read = TextPart.safeParse(part)
    return read.success ? [read.data.text] : []
  })
  return MessageText.safeParse(texts.join('\n')).data
}

/** True for a message with a picture, a sound or a file. */
export const hasMoreThanText = ({ content }: Said): boolean =>
  Array.isArray(content) && content.some((part: unknown) => !TextPart.safeParse(part).success)

export const knownIn = (said: readonly Said[]): KnownMessages => ({
  messageIds: new Set(said.flatMap(({ id, role, content }) => ((role === 'assistant' || role === 'reasoning') && content ? [id] : []))),
  callIds: new Set(said.flatMap(({ toolCalls = [] }) => toolCalls.map(({ id }) => id))),
  resultIds: new Set(said.flatMap(({ role, toolCallId }) => (role === 'tool' && toolCallId !== undefined ? [toolCallId] : []))),
})

/** Whether the newest answer that a page has is a part only, because its connection broke in the middle. */
function* isCut({ id: session_id }: SessionRow, said: readonly Said[]): Tx<boolean> {
  const last = said.findLast(({ role }) => role === 'assistant')
  // A page may have messages of its own, such as a greeting.
  if (!last?.id.startsWith('msg_')) return false
  const isWhole = (text: unknown): boolean => typeof text === 'string' && parseJson(text).ok
  if (last.toolCalls?.some((call) => !isWhole(call.function?.arguments))) return true
  const row = yield* messages.findMessage.first({ session_id, id: last.id })
  return row?.content !== (last.content ?? '')
}

const resultIdOf = (toolCallId: string): string => `${toolCallId}_result`

/** Returns true if the page holds results that are not the server's. CopilotKit stores its answer to an interrupt as the result of the call. */
function* hasOwnResults(session: SessionRow, said: readonly Said[]): Tx<boolean> {
  const own = said.filter(({ id, role, toolCallId = '' }) => role === 'tool' && id !== resultIdOf(toolCallId))
  if (own.length === 0) return false
  const ran = yield* ranIn(session, said.length)
  return own.some(({ toolCallId = '', content }) => content !== ran.get(toolCallId)?.outcome)
}

/**
 * Returns the conversation until the message at place `seq`, for a page that does not have all of it: a new one, one that was left while
 * the conversation went on elsewhere, one whose connection broke in the middle of an answer, or one with results of its own. Undefined for a
 * page that has it.
 *
 * A page keeps the place of a message whose id it has, appends the others in order, and drops its own that are not in the snapshot. So its
 * ids are used until the first message that it lacks; after that, what a person wrote gets the id of the session and moves to its place.
 */
export function* snapshotFor(session: SessionRow, seq: number, said: readonly Said[]): Tx<SnapshotMessage[] | undefined> {
  const newest = yield* toldUntil(session, seq, MOST_MESSAGES)
  const { hasAll } = compare(newest, said)
  if (hasAll && said.length > 0 && !(yield* isCut(session, said)) && !(yield* hasOwnResults(session, said))) return undefined
  const { told } = compare(yield* reachingBack(session, seq, newest, said), said)
  const ran = yield* ranIn(session, callsIn(told))
  return told.map((message) => {
    if (message.role === 'tool') return { ...message, content: ran.get(message.toolCallId)?.outcome ?? message.content }
    if (message.role !== 'assistant' || !message.toolCalls) return message
    return { ...message, toolCalls: message.toolCalls.map((call) => withArguments(call, ran.get(call.id)?.arguments)) }
  })
}

/** The newest messages of a conversation, and whether they are all. */
interface Told {
  told: SnapshotMessage[]
  isAll: boolean
}

function* toldUntil(session: SessionRow, seq: number, limit: number): Tx<Told> {
  const rows = yield* messages.listMessages.all({ session_id: session.id, before: seq + 1, limit })
  const isAll = rows.length < limit
  const told = rows.reverse().flatMap(toSnapshot)
  if (isAll) return { told, isAll }
  // Where the call is not among them, its result says nothing.
  const first = told.findIndex(({ role }) => role !== 'tool')
  if (first >= 0) return { told: told.slice(first), isAll }
  const most = MOST_MESSAGES + MOST_HELD
  return limit < most ? yield* toldUntil(session, seq, Math.min(2 * limit, most)) : { told: [], isAll }
}

/** The newest messages, and those before them from the oldest that the page has: it would drop them, and append older ones at its end. */
function* reachingBack(session: SessionRow, seq: number, newest: Told, said: readonly Said[]): Tx<Told> {
  if (newest.isAll || said.length === 0) return newest
  const { told, isAll } = yield* toldUntil(session, seq, MOST_MESSAGES + Math.min(said.length, MOST_HELD))
  const start = Math.min(placeOfOldest(told, said), told.length - newest.told.length)
  return { told: told.slice(start), isAll: isAll && start === 0 }
}

/** Where the page begins in these. */
function placeOfOldest(told: readonly SnapshotMessage[], said: readonly Said[]): number {
  const places = placesOf(said)
  const found = told.findIndex((message) => keysOf(message).some((key) => places.has(key)))
  if (found < 0) return told.length
  // On the page, messages of its person have ids of their own and come right before the answer.
  const before = writtenBefore(told.slice(found), said)
  return Math.max(told.slice(0, found).findLastIndex(({ role }) => role !== 'user') + 1, found - before)
}

/** The same messages under the ids of the page, and whether it has them all. */
function compare({ told, isAll }: Told, said: readonly Said[]): { told: SnapshotMessage[]; hasAll: boolean } {
  const known = knownIn(said)
  const written = said.filter(({ role }) => role === 'user')
  const results = new Map(said.flatMap(({ id: heldId, role, toolCallId }) => (role === 'tool' && toolCallId ? [[toolCallId, heldId]] : [])))
  // A page may have more than a snapshot holds: what a person wrote before that is not compared.
  let nth = isAll ? 0 : writtenBefore(told, said)
  let hasAll = true
  const asHeld = told.map((message): SnapshotMessage => {
    if (message.role === 'tool') {
      const heldId = results.get(message.toolCallId)
      hasAll &&= heldId !== undefined
      return { ...message, id: heldId ?? message.id }
    }
    if (message.role === 'assistant') {
      const { content, toolCalls = [] } = message
      hasAll &&= (content === undefined || known.messageIds.has(message.id)) && toolCalls.every((call) => known.callIds.has(call.id))
      return message
    }
    const held = hasAll ? written[nth++] : undefined
    hasAll &&= held !== undefined && textOf(held) === message.content
    return hasAll && held ? { ...message, id: held.id } : message
  })
  return { told: asHeld, hasAll }
}

interface Ran {
  arguments: JsonObject
  outcome: string | undefined
}

/** Returns the arguments of each of the newest actions of a session, and its outcome, as the stream sends it, by tool call id. */
function* ranIn(session: SessionRow, limit: number): Tx<Map<string, Ran>> {
  const ran = new Map<string, Ran>()
  for (const row of yield* actions.listActions({ session: session.id, limit })) {
    const outcome = yield* viewOutcome(row)
    if (row.tool_call_id !== null) ran.set(row.tool_call_id, { arguments: stored.argumentsOf(row), outcome: outcome?.text })
  }
  return ran
}

/** Returns at least the number of calls in these messages. A result counts as one, because its call may be in an older message. */
const callsIn = (told: readonly SnapshotMessage[]): number =>
  told.reduce((sum, message) => sum + (message.role === 'assistant' ? (message.toolCalls?.length ?? 0) : 1), 0)

/** How many messages of a person a page has before the first of these. Below zero for a page that begins after it. */
function writtenBefore(told: readonly SnapshotMessage[], said: readonly Said[]): number {
  const places = placesOf(said)
  let before = 0
  for (const message of told) {
    const [place] = keysOf(message).flatMap((key) => places.get(key) ?? [])
    if (place !== undefined) return said.slice(0, place).filter(({ role }) => role === 'user').length - before
    if (message.role === 'user') before++
  }
  return 0
}

const placesOf = (said: readonly Said[]): ReadonlyMap<string, number> =>
  new Map(said.flatMap((one, place) => keysOf(one).map((key) => [key, place])))

/** Returns the keys by which both sides find a message. A page gives messages of its person ids of their own. */
const keysOf = ({ id, role, toolCallId, toolCalls = [] }: Pick<Said, 'id' | 'role' | 'toolCallId' | 'toolCalls'>): string[] =>
  role === 'tool' ? [`result ${toolCallId}`] : [`message ${id}`, ...toolCalls.map((call) => `call ${call.id}`)]

function toSnapshot({ id, role, kind, content, tool_calls, tool_call_id }: MessageRow): SnapshotMessage[] {
  if (role === 'user') return [{ id, role, content }]
  if (role === 'tool' && tool_call_id !== null) return [{ id: resultIdOf(tool_call_id), role, toolCallId: tool_call_id, content }]
  if (role !== 'assistant' || kind !== 'text') return []
  const calls: { id: string; name: string; arguments: object }[] = tool_calls === null ? [] : JSON.parse(tool_calls)
  const toolCalls = calls.map(({ id: callId, name, arguments: args }) => ({
    id: callId,
    type: 'function' as const,
    function: { name, arguments: JSON.stringify(args) },
  }))
  return [{ id, role, ...(content !== '' && { content }), ...(toolCalls.length > 0 && { toolCalls }) }]
}
