import type { JsonObject } from '@countersign/core'
import { isObject } from '../../coding-agent/hosts.ts'
import { isAnswer, isRequest, keyOf, paramsOf } from '../proxy/messages.ts'

/** The fields that are kept of each call, because updates name only changed ones. */
const FIELDS = ['title', 'name', 'kind', 'rawInput', 'content', 'locations'] as const
const OPENS = ['session/new', 'session/load', 'session/resume', 'session/fork']
const MAX_CALLS = 1_000

export interface ToolCalls {
  /** Reads a message of the editor. */
  fromEditor(message: JsonObject): void
  /** Reads a message of the agent. */
  fromAgent(message: JsonObject): void
  /** The folder of a session. */
  folderOf(session: string): string
  /** A call with all that is known of it. */
  whole(session: string, toolCall: JsonObject): JsonObject
  forget(session: string, toolCallId: string): void
}

/** Remembers what the messages between editor and agent say about sessions and calls. */
export function createToolCalls(): ToolCalls {
  const opening = new Map<string, string>()
  const folders = new Map<string, string>()
  /** In version 2 of the protocol a field that is null takes back what was said; in version 1 it says nothing. */
  let clearsNull = false
  const calls = new Map<string, JsonObject>()
  const keyOfCall = (session: string, id: unknown) => JSON.stringify([session, id])

  function remember(session: string, update: JsonObject): JsonObject {
    const key = keyOfCall(session, update.toolCallId)
    const said = FIELDS.flatMap((field) => {
      const value = update[field]
      return value === undefined || (value === null && !clearsNull) ? [] : [[field, value] as const]
    })
    const call: JsonObject = { ...calls.get(key), ...Object.fromEntries(said), toolCallId: update.toolCallId ?? null }
    calls.delete(key)
    calls.set(key, call)
    const [oldest] = calls.keys()
    if (calls.size > MAX_CALLS && oldest !== undefined) calls.delete(oldest)
    return call
  }

  return {
    fromEditor(message) {
      const { cwd, sessionId } = paramsOf(message)
      if (!OPENS.some((method) => isRequest(message, method)) || typeof cwd !== 'string') return
      opening.set(keyOf(message.id), cwd)
      if (typeof sessionId === 'string') folders.set(sessionId, cwd)
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
      if (!isRequest(message, 'session/update')) return
      const { sessionId, update } = paramsOf(message)
      if (typeof sessionId !== 'string' || !isObject(update)) return
      if (update.sessionUpdate === 'tool_call' || update.sessionUpdate === 'tool_call_update') remember(sessionId, update)
      if (update.sessionUpdate === 'tool_call_content_chunk') {
        const { toolCallId = null, content = null } = update
        const before = calls.get(keyOfCall(sessionId, toolCallId))?.content
        remember(sessionId, { toolCallId, content: [...(Array.isArray(before) ? before : []), content] })
      }
    },
    folderOf: (session) => folders.get(session) ?? '',
    whole: remember,
    forget: (session, toolCallId) => void calls.delete(keyOfCall(session, toolCallId)),
  }
}
