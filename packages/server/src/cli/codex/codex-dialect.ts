import type { JsonObject, JsonValue } from '@countersign/core'
import { isObject } from '@countersign/core/text'
import type { AskedCall, Dialect, Ended, ServerMessage } from '../proxy/dialect.ts'
import { keepNewest } from '../proxy/keep-newest.ts'
import { isAnswer, isRequest, isSameValue, paramsOf } from '../proxy/messages.ts'
import { COMMAND, FILES, readAnswer } from './editor-answer.ts'
import { innerCommand, patchOf } from './inputs.ts'

/** The JSON-RPC of `codex app-server`. Its approvals have no time limit, and it tells the editor itself when one was answered. */
export function createCodexDialect(): Dialect {
  const folders = new Map<string, string>()
  /** The changes of files by thread and item: the request does not repeat them. */
  const changes = new Map<string, JsonValue>()
  /** The questions about each item. A second question is another one: it runs outside of the sandbox what failed inside. */
  const asked = new Map<string, string[]>()
  const keyOfItem = (thread: JsonValue | undefined, item: JsonValue | undefined) => JSON.stringify([thread ?? null, item ?? null])

  function call({ params, cwd }: { params: JsonObject; cwd: string }, method: JsonValue | undefined): JsonObject | string {
    const { threadId, itemId, command, cwd: workdir, kind, reason, networkApprovalContext, additionalPermissions, environmentId } = params
    const why: JsonObject = typeof reason === 'string' ? { reason } : {}
    const where: JsonObject = typeof environmentId === 'string' && environmentId !== 'local' ? { environmentId } : {}
    if (method === FILES) {
      if (params.grantRoot) return 'Codex asks for a permission that lasts, which is given in Codex only.'
      const patch = patchOf(changes.get(keyOfItem(threadId, itemId)))
      return patch === undefined
        ? 'Codex did not say what this changes.'
        : { cwd, tool_name: 'apply_patch', tool_input: { command: patch, ...why, ...where } }
    }
    // With more rights than the sandbox gives it is not the command that rules match.
    const asksForMore = networkApprovalContext ? 'network' : additionalPermissions ? 'additionalPermissions' : undefined
    if (typeof command === 'string' && asksForMore === undefined && (kind ?? 'command') === 'command')
      return {
        cwd,
        tool_name: 'Bash',
        // The model says where a command runs, and may name any folder.
        tool_input: {
          command: innerCommand(command),
          ...(typeof workdir === 'string' && workdir !== cwd && { workdir }),
          ...why,
          ...where,
        },
      }
    const { threadId: _thread, turnId: _turn, itemId: _item, startedAtMs: _at, availableDecisions: _offered, ...input } = params
    return { cwd, tool_name: asksForMore ?? String(kind ?? 'command'), tool_input: input }
  }

  /** Notes the changes of an item. Returns the questions that were about other changes. */
  function change(thread: JsonValue | undefined, item: JsonValue | undefined, now: JsonValue = null): AskedCall[] {
    const key = keyOfItem(thread, item)
    const before = changes.get(key)
    keepNewest(changes, key, now)
    if (typeof thread !== 'string' || before === undefined || isSameValue(before, now)) return []
    return (asked.get(key) ?? []).map((callId) => ({ session: thread, callId }))
  }

  /** The calls under way in a turn that was interrupted: Codex ends them, and says nothing more about them. */
  function stopped(thread: string, turn: JsonValue = null): Ended[] {
    if (turn === 'completed') return []
    const keys = [...asked.keys()].filter((key) => JSON.parse(key)[0] === thread)
    return keys.flatMap((key) => {
      const ids = asked.get(key) ?? []
      asked.delete(key)
      return ids.map((callId): Ended => ({ session: thread, callId, status: 'stopped', output: { turn } }))
    })
  }

  return {
    host: 'codex',
    toServer,
    fromServer({ hookSpecificOutput: output, ...answer }) {
      const decision = isObject(output) && isObject(output.decision) ? output.decision : {}
      return isObject(output) ? { decision: decision.behavior ?? null, reason: decision.message ?? null } : answer
    },
    isAsk: (message): message is JsonObject => isRequest(message, COMMAND) || isRequest(message, FILES),
    fromEditor(message) {
      const { threadId, cwd } = paramsOf(message)
      if (isRequest(message, 'turn/start') && typeof threadId === 'string' && typeof cwd === 'string') folders.set(threadId, cwd)
    },
    fromAgent(message) {
      const { thread, threadId, item } = isAnswer(message) && isObject(message.result) ? message.result : paramsOf(message)
      if (isObject(thread) && typeof thread.id === 'string' && typeof thread.cwd === 'string') folders.set(thread.id, thread.cwd)
      if (isObject(item) && item.type === 'fileChange' && isRequest(message, 'item/started')) return change(threadId, item.id, item.changes)
      const { itemId, changes: now } = paramsOf(message)
      return isRequest(message, 'item/fileChange/patchUpdated') ? change(threadId, itemId, now) : []
    },
    read(request) {
      const params = paramsOf(request)
      const { threadId: session, itemId } = params
      if (typeof session !== 'string' || typeof itemId !== 'string') return 'this request names no thread or no item.'
      const cwd = folders.get(session) ?? (typeof params.cwd === 'string' ? params.cwd : '')
      const read = call({ params, cwd }, request.method)
      if (typeof read === 'string') return read
      const key = keyOfItem(session, itemId)
      const ids = asked.get(key) ?? []
      const callId = ids.length === 0 ? itemId : `${itemId} ${ids.length + 1}`
      keepNewest(asked, key, [...ids, callId])
      return { session, callId, about: { session_id: session, tool_use_id: callId, ...read } }
    },
    // After a refusal the model goes on; the protocol has no place for the reason.
    answer: (request, isAllowed) => ({ id: request.id ?? null, result: { decision: isAllowed ? 'accept' : 'decline' } }),
    readAnswer,
    closePrompt: () => undefined,
    takesBack: (message) => (isRequest(message, 'serverRequest/resolved') ? (paramsOf(message).requestId ?? null) : undefined),
    answersTakenBack: false,
    ended(message): Ended[] {
      const { threadId, item, turn } = paramsOf(message)
      if (isRequest(message, 'turn/completed') && typeof threadId === 'string' && isObject(turn)) return stopped(threadId, turn.status)
      if (!isRequest(message, 'item/completed') || typeof threadId !== 'string' || !isObject(item)) return []
      const key = keyOfItem(threadId, item.id)
      const ids = asked.get(key) ?? []
      asked.delete(key)
      changes.delete(key)
      const { status, exitCode, aggregatedOutput } = item
      const output: JsonObject = { status: status ?? null, exitCode: exitCode ?? null, output: aggregatedOutput ?? null }
      return ids.map((callId) => ({ session: threadId, callId, status: status === 'completed' ? 'completed' : 'failed', output }))
    },
  }
}

/** The messages of the hooks of Codex, and one of our own for an answer at the other prompt. */
function toServer(message: ServerMessage): JsonObject {
  if (message.event === 'ended') return { hook_event_name: 'SessionEnd', session_id: message.session }
  const { about } = message
  if (message.event === 'ask') return { hook_event_name: 'PermissionRequest', ...about }
  if (message.event === 'answered') {
    const { allowed, said } = message
    return { hook_event_name: 'Answered', ...about, allowed, ...(said !== undefined && { said }) }
  }
  const { status, output } = message
  if (status === 'completed') return { hook_event_name: 'PostToolUse', ...about, tool_response: output }
  return { hook_event_name: 'PostToolUseFailure', ...about, error: output, is_interrupt: status === 'stopped' }
}
