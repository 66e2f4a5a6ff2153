import type { JsonObject } from '@countersign/core'
import { isObject } from '../../coding-agent/hosts.ts'
import type { Dialect } from '../proxy/dialect.ts'
import { isRequest, paramsOf } from '../proxy/messages.ts'
import { optionsOf, readEditorAnswer } from './editor-answer.ts'
import { readRequest } from './read-request.ts'
import { createToolCalls } from './tool-calls.ts'

/** The Agent Client Protocol, versions 1 and 2. Option ids are the agent's: one is chosen by its kind. */
export function createAcpDialect(): Dialect {
  const calls = createToolCalls()
  return {
    host: 'acp',
    toServer(message) {
      if (message.event === 'ended') return { ...message }
      const { about, ...rest } = message
      return { ...rest, ...about }
    },
    fromServer: (answer) => answer,
    isAsk: (message): message is JsonObject => isRequest(message, 'session/request_permission'),
    fromEditor: calls.fromEditor,
    fromAgent: calls.fromAgent,
    read(request) {
      const read = readRequest(request, calls)
      if (typeof read === 'string') return read
      if (!optionsOf(request).some(({ kind }) => kind === 'allow_once')) return 'the agent offers no permission for one call only.'
      return { session: read.session, callId: String(read.toolCall.toolCallId), about: { ...read } }
    },
    // Without an option of the kind nothing is selected, which runs nothing.
    answer(request, isAllowed, reason) {
      const option = optionsOf(request).find(({ kind }) => kind === (isAllowed ? 'allow_once' : 'reject_once'))
      const outcome: JsonObject = option ? { outcome: 'selected', optionId: option.optionId } : { outcome: 'cancelled' }
      const about: JsonObject = reason === undefined ? {} : { _meta: { 'countersign/reason': reason } }
      return { jsonrpc: '2.0', id: request.id ?? null, result: { outcome, ...about } }
    },
    readAnswer: readEditorAnswer,
    closePrompt: (request) => ({ jsonrpc: '2.0', method: '$/cancel_request', params: { requestId: request.id ?? null } }),
    takesBack: (message) => (isRequest(message, '$/cancel_request') ? (paramsOf(message).requestId ?? null) : undefined),
    answersTakenBack: true,
    ended(message) {
      const { sessionId: session, update } = paramsOf(message)
      if (typeof session !== 'string' || !isObject(update)) return []
      const { toolCallId: callId, status } = update
      if (typeof callId !== 'string' || (status !== 'completed' && status !== 'failed' && status !== 'cancelled')) return []
      calls.forget(session, callId)
      const output = update.rawOutput ?? update.content ?? null
      return [
        status === 'cancelled' ? { session, callId, status: 'failed', output: { status, output } } : { session, callId, status, output },
      ]
    },
  }
}
