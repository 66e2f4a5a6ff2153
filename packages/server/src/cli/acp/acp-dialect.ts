import type { JsonObject } from '@countersign/core'
import { isObject } from '@countersign/core/text'
import type { Dialect, Ended } from '../proxy/dialect.ts'
import { keepNewest } from '../proxy/keep-newest.ts'
import { isAnswer, isRequest, keyOf, paramsOf } from '../proxy/messages.ts'
import { optionOf, readEditorAnswer } from './editor-answer.ts'
import { readRequest } from './read-request.ts'
import { createToolCalls } from './tool-calls.ts'

/** The Agent Client Protocol, versions 1 and 2. Option ids are the agent's: one is chosen by its kind. */
export function createAcpDialect(): Dialect {
  const calls = createToolCalls()
  /** The sessions of the prompts that the agent has not answered, by the id of the request. */
  const prompts = new Map<string, string>()
  /** Sessions whose turn the editor cancels: an agent of version 1 then says of a call that it failed. */
  const cancelled = new Set<string>()

  /** The calls under way in a turn that the editor cancelled: the agent stops them, and need not say so for each. */
  function stopped(answer: JsonObject): Ended[] {
    const key = keyOf(answer.id)
    const session = prompts.get(key)
    prompts.delete(key)
    if (session === undefined || !isObject(answer.result) || answer.result.stopReason !== 'cancelled') return []
    const output: JsonObject = { stopReason: 'cancelled' }
    return calls.questionsOf(session).map((callId) => ({ session, callId, status: 'stopped', output }))
  }

  return {
    host: 'acp',
    toServer(message) {
      if (message.event === 'ended') return { ...message }
      const { about, ...rest } = message
      return { ...rest, ...about }
    },
    fromServer: (answer) => answer,
    isAsk: (message): message is JsonObject => isRequest(message, 'session/request_permission'),
    fromEditor(message) {
      calls.fromEditor(message)
      const { sessionId } = paramsOf(message)
      if (typeof sessionId !== 'string') return
      if (isRequest(message, 'session/cancel')) cancelled.add(sessionId)
      if (!isRequest(message, 'session/prompt')) return
      cancelled.delete(sessionId)
      keepNewest(prompts, keyOf(message.id), sessionId)
    },
    fromAgent: calls.fromAgent,
    read(request) {
      const read = readRequest(request, calls)
      if (typeof read === 'string') return read
      if (!optionOf(request, 'allow_once')) return 'the agent offers no permission for one call only.'
      const { session, toolCall } = read
      // The id of a call has an end, and a second request about it is a question of its own.
      const callId = typeof toolCall.toolCallId === 'string' ? calls.askAbout(session, toolCall.toolCallId) : ''
      return { session, callId, about: { ...read, toolCall: { ...toolCall, toolCallId: callId } } }
    },
    // Without an option of the kind nothing is selected, which runs nothing.
    answer(request, isAllowed, reason) {
      const option = optionOf(request, isAllowed ? 'allow_once' : 'reject_once')
      const outcome: JsonObject = option ? { outcome: 'selected', optionId: option.optionId } : { outcome: 'cancelled' }
      const about: JsonObject = reason === undefined ? {} : { _meta: { 'countersign/reason': reason } }
      return { jsonrpc: '2.0', id: request.id ?? null, result: { outcome, ...about } }
    },
    readAnswer: readEditorAnswer,
    closePrompt: (request) => ({ jsonrpc: '2.0', method: '$/cancel_request', params: { requestId: request.id ?? null } }),
    takesBack: (message) => (isRequest(message, '$/cancel_request') ? (paramsOf(message).requestId ?? null) : undefined),
    answersTakenBack: true,
    ended(message) {
      if (isAnswer(message)) return stopped(message)
      const { sessionId: session, update } = paramsOf(message)
      if (typeof session !== 'string' || !isObject(update)) return []
      const { toolCallId: callId, status } = update
      if (typeof callId !== 'string' || (status !== 'completed' && status !== 'failed' && status !== 'cancelled')) return []
      const said = update.rawOutput ?? update.content ?? null
      const ended: Pick<Ended, 'status' | 'output'> =
        status === 'cancelled' || (status === 'failed' && cancelled.has(session))
          ? { status: 'stopped', output: said }
          : { status, output: said }
      return calls.end(session, callId).map((one) => ({ session, callId: one, ...ended }))
    },
  }
}
