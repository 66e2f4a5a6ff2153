import { randomUUID } from 'node:crypto'
import type { JsonObject, JsonValue } from '@countersign/core'
import { isObject } from '@countersign/core/text'
import { paramsOf } from '../proxy/messages.ts'
import type { ToolCalls } from './tool-calls.ts'

/** The limit of `context.reason` of an action. */
const MAX_REASON_CHARS = 2_000

/** The operation of a permission request, as a call of a tool. */
export interface Subject {
  session: string
  cwd: string
  toolCall: JsonObject
  /** Title and description of the prompt: the agent's words. */
  reason?: string
}

/**
 * Reads a permission request of version 1, which names a call, or of version 2, which has a title, and a subject that may be a call, a
 * command, something else or nothing. Returns the reason for one that cannot be read.
 */
export function readRequest(request: JsonObject, calls: ToolCalls): Subject | string {
  const read = readSubject(request, calls)
  const { title, description } = paramsOf(request)
  if (typeof read === 'string') return read
  const said = [title, description].filter((words) => typeof words === 'string' && words.trim() !== '')
  return said.length === 0 ? read : { ...read, reason: said.join('\n').trim().slice(0, MAX_REASON_CHARS).toWellFormed() }
}

function readSubject(request: JsonObject, calls: ToolCalls): Subject | string {
  const { sessionId: session, toolCall, subject, title, description } = paramsOf(request)
  if (typeof session !== 'string') return 'this request names no session or no call.'
  const cwd = calls.folderOf(session)
  if (subject === undefined || subject === null) {
    if (isObject(toolCall)) return { session, cwd, toolCall: calls.whole(session, toolCall) }
    return typeof title === 'string'
      ? { session, cwd, toolCall: asCall(title, { description: description ?? null, subject: null }) }
      : 'this request names no session or no call.'
  }
  // An editor of either version shows one of them, and a person is to decide about what is shown.
  if (toolCall !== undefined || !isObject(subject)) return 'this request does not name one operation.'
  if (subject.type === 'tool_call') {
    return isObject(subject.toolCall)
      ? { session, cwd, toolCall: calls.whole(session, subject.toolCall) }
      : 'this request names no session or no call.'
  }
  if (subject.type === 'command') {
    const { command, cwd: folder, toolCallId } = subject
    if (typeof command !== 'string' || typeof folder !== 'string') return 'this request names no command or no folder.'
    const named: JsonObject = typeof toolCallId === 'string' ? { toolCallId } : {}
    // The agent says where a command runs, and may name any folder.
    const where: JsonObject = cwd === '' || folder === cwd ? {} : { cwd: folder }
    return { session, cwd: cwd || folder, toolCall: { ...asCall(title, { command, ...where }), kind: 'execute', ...named } }
  }
  return { session, cwd, toolCall: asCall(title, { description: description ?? null, subject }) }
}

/** A call without an id of the agent. The id of the request does not serve: after a restart the agent begins at 0 again. */
const asCall = (title: JsonValue | undefined, rawInput: JsonObject): JsonObject => ({
  toolCallId: `request ${randomUUID()}`,
  title: title ?? null,
  kind: 'other',
  rawInput,
})
