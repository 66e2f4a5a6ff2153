import type { JsonObject, JsonValue } from '@countersign/core'
import { isObject } from '@countersign/core/text'
import type { AskedCall } from '../proxy/dialect.ts'
import { keepNewest } from '../proxy/keep-newest.ts'
import { isAnswer, isRequest, isSameValue, keyOf, paramsOf } from '../proxy/messages.ts'
import { createQuestions } from './questions.ts'

/** The fields that are kept of each call, because updates name only changed ones. */
const FIELDS = ['title', 'name', 'kind', 'rawInput', 'content', 'locations'] as const
const OPENS = ['session/new', 'session/load', 'session/resume', 'session/fork']
const OPENS_AGAIN = ['session/load', 'session/resume']

export interface ToolCalls {
  fromEditor(message: JsonObject): void
  /** Reads a message of the agent. Returns the calls that it changed after a question about them. */
  fromAgent(message: JsonObject): AskedCall[]
  folderOf(session: string): string
  /** A call with all that is known of it. */
  whole(session: string, toolCall: JsonObject): JsonObject
  /** Returns the id of another question about a call: the first has the id of the call. */
  askAbout(session: string, toolCallId: string): string
  /** Returns the ids of all questions about a call that ended, and forgets what the call was. */
  end(session: string, toolCallId: string): string[]
  /** Returns the ids of all questions about calls of a session. */
  questionsOf(session: string): string[]
}

/** Remembers what the messages between editor and agent say about sessions and calls. */
export function createToolCalls(): ToolCalls {
  const opening = new Map<string, string>()
  const folders = new Map<string, string>()
  /** In version 2 of the protocol a field that is null takes back what was said; in version 1 it says nothing. */
  let clearsNull = false
  const calls = new Map<string, JsonObject>()
  const questions = createQuestions()
  const keyOfCall = (session: string, id: unknown) => JSON.stringify([session, id])

  function remember(session: string, update: JsonObject): JsonObject {
    const key = keyOfCall(session, update.toolCallId)
    const said = FIELDS.flatMap((field) => {
      const value = update[field]
      return value === undefined || (value === null && !clearsNull) ? [] : [[field, value] as const]
    })
    const call: JsonObject = { ...calls.get(key), ...Object.fromEntries(said), toolCallId: update.toolCallId ?? null }
    keepNewest(calls, key, call)
    return call
  }

  const asked = (session: string, toolCallId: string): AskedCall[] =>
    questions.about(session, toolCallId).map((callId) => ({ session, callId }))

  function update(session: string, said: JsonObject): AskedCall[] {
    const before = calls.get(keyOfCall(session, said.toolCallId))
    const after = remember(session, said)
    if (!before || typeof said.toolCallId !== 'string' || isSameSubject(before, after)) return []
    return asked(session, said.toolCallId)
  }

  return {
    fromEditor(message) {
      const { cwd, sessionId } = paramsOf(message)
      if (!OPENS.some((method) => isRequest(message, method)) || typeof cwd !== 'string') return
      opening.set(keyOf(message.id), cwd)
      if (typeof sessionId !== 'string') return
      folders.set(sessionId, cwd)
      if (OPENS_AGAIN.some((method) => isRequest(message, method))) questions.openAgain(sessionId)
    },
    fromAgent(message) {
      if (isAnswer(message)) {
        const cwd = opening.get(keyOf(message.id))
        opening.delete(keyOf(message.id))
        const opened = isObject(message.result) ? message.result.sessionId : undefined
        if (cwd !== undefined && typeof opened === 'string') folders.set(opened, cwd)
        const version = isObject(message.result) ? message.result.protocolVersion : undefined
        if (typeof version === 'number') clearsNull = version >= 2
      }
      if (!isRequest(message, 'session/update')) return []
      const { sessionId, update: said } = paramsOf(message)
      if (typeof sessionId !== 'string' || !isObject(said)) return []
      if (said.sessionUpdate === 'tool_call' || said.sessionUpdate === 'tool_call_update') return update(sessionId, said)
      if (said.sessionUpdate === 'tool_call_content_chunk') {
        const { toolCallId = null, content = null } = said
        const before = calls.get(keyOfCall(sessionId, toolCallId))?.content
        // In place: a call may come in a hundred thousand pieces.
        if (Array.isArray(before)) before.push(content)
        else remember(sessionId, { toolCallId, content: [content] })
        // People were asked about the diffs that had arrived by then, so a further diff withdraws the question. Text changes no file.
        if (isDiff(content) && typeof toolCallId === 'string') return asked(sessionId, toolCallId)
      }
      return []
    },
    folderOf: (session) => folders.get(session) ?? '',
    whole(session, toolCall) {
      const call = remember(session, toolCall)
      return Array.isArray(call.content) ? { ...call, content: [...call.content] } : call
    },
    askAbout: questions.ask,
    end(session, toolCallId) {
      calls.delete(keyOfCall(session, toolCallId))
      return questions.about(session, toolCallId)
    },
    questionsOf: questions.ofSession,
  }
}

/** True when a call would do the same as before. A field that is sent for the first time is not a change. */
function isSameSubject(before: JsonObject, after: JsonObject): boolean {
  const fields = (['rawInput', 'kind', 'name'] as const).filter((field) => before[field] !== undefined)
  const isSame = fields.every((field) => isSameValue(before[field] ?? null, after[field] ?? null))
  return isSame && (diffsOf(before).length === 0 || isSameValue(diffsOf(before), diffsOf(after)))
}

const isDiff = (content: JsonValue): boolean => isObject(content) && content.type === 'diff'

const diffsOf = ({ content }: JsonObject): JsonValue[] => (Array.isArray(content) ? content.filter(isDiff) : [])
