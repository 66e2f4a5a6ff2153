import type { JsonObject } from '@countersign/core'
import { isObject } from '../../coding-agent/hosts.ts'
import type { Dialect } from '../proxy/dialect.ts'
import { isRequest, paramsOf } from '../proxy/messages.ts'
import { createToolCalls } from './tool-calls.ts'

/** One choice of a permission request. */
interface Option {
  optionId: string
  kind: string
}

function optionsOf(request: JsonObject): Option[] {
  const { options } = paramsOf(request)
  return (Array.isArray(options) ? options : []).flatMap((option) => {
    if (!isObject(option)) return []
    const { optionId, kind } = option
    return typeof optionId === 'string' && typeof kind === 'string' ? [{ optionId, kind }] : []
  })
}

/** The Agent Client Protocol. Option ids are the agent's: one is chosen by its kind. */
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
      const { sessionId: session, toolCall } = paramsOf(request)
      if (typeof session !== 'string' || !isObject(toolCall)) return 'this request names no session or no call.'
      if (!optionsOf(request).some(({ kind }) => kind === 'allow_once')) return 'the agent offers no permission for one call only.'
      const whole = calls.whole(session, toolCall)
      return { session, callId: String(whole.toolCallId), about: { session, cwd: calls.folderOf(session), toolCall: whole } }
    },
    // Without an option of the kind nothing is selected, which runs nothing.
    answer(request, isAllowed, reason) {
      const option = optionsOf(request).find(({ kind }) => kind === (isAllowed ? 'allow_once' : 'reject_once'))
      const outcome: JsonObject = option ? { outcome: 'selected', optionId: option.optionId } : { outcome: 'cancelled' }
      const about: JsonObject = reason === undefined ? {} : { _meta: { 'countersign/reason': reason } }
      return { jsonrpc: '2.0', id: request.id ?? null, result: { outcome, ...about } }
    },
    // An option that was not offered lets nothing run.
    allows(answer, request) {
      const outcome = isObject(answer.result) ? answer.result.outcome : undefined
      if (!isObject(outcome) || outcome.outcome !== 'selected') return false
      const chosen = optionsOf(request).find(({ optionId }) => optionId === outcome.optionId)
      return chosen !== undefined && !chosen.kind.startsWith('reject')
    },
    closePrompt: (request) => ({ jsonrpc: '2.0', method: '$/cancel_request', params: { requestId: request.id ?? null } }),
    takesBack: (message) => (isRequest(message, '$/cancel_request') ? (paramsOf(message).requestId ?? null) : undefined),
    answersTakenBack: true,
    ended(message) {
      const { sessionId: session, update } = paramsOf(message)
      if (typeof session !== 'string' || !isObject(update)) return []
      const { toolCallId: callId, status } = update
      if (typeof callId !== 'string' || (status !== 'completed' && status !== 'failed')) return []
      calls.forget(session, callId)
      return [{ session, callId, status, output: update.rawOutput ?? update.content ?? null }]
    },
  }
}
