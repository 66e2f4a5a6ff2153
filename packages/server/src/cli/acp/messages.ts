import type { JsonObject, JsonValue } from '@countersign/core'
import { isObject } from '../../coding-agent/host-input.ts'

export const ASKS = 'session/request_permission'

/** Returns the message of a line; undefined for a line that is no JSON. */
export function readMessage(line: Buffer): JsonValue | undefined {
  try {
    return JSON.parse(line.toString('utf8'))
  } catch {
    return undefined
  }
}

/** The id of a request as a key: 1 and "1" are two. */
export const keyOf = (id: JsonValue | undefined): string => JSON.stringify(id ?? null)

export const isRequest = (message: JsonValue | undefined, method: string): message is JsonObject =>
  isObject(message) && message.method === method

/** True for an answer: it has an id and no method. */
export const isAnswer = (message: JsonValue | undefined): message is JsonObject =>
  isObject(message) && message.method === undefined && message.id !== undefined

/** One choice of a permission request. */
interface Option {
  optionId: string
  kind: string
}

export function optionsOf(params: JsonObject): Option[] {
  const options = Array.isArray(params.options) ? params.options : []
  return options.flatMap((option) => {
    if (!isObject(option)) return []
    const { optionId, kind } = option
    return typeof optionId === 'string' && typeof kind === 'string' ? [{ optionId, kind }] : []
  })
}

/** The answer to a permission request with the option of this kind. Without one nothing is selected, which runs nothing. */
export function answerWith(request: JsonObject, kind: 'allow_once' | 'reject_once', reason?: string): JsonObject {
  const option = optionsOf(paramsOf(request)).find((one) => one.kind === kind)
  const outcome: JsonObject = option ? { outcome: 'selected', optionId: option.optionId } : { outcome: 'cancelled' }
  const about: JsonObject = reason === undefined ? {} : { _meta: { 'countersign/reason': reason } }
  return { jsonrpc: '2.0', id: request.id ?? null, result: { outcome, ...about } }
}

/** True when an answer of the editor lets the call run. An option that was not offered does not. */
export function allows(answer: JsonObject, request: JsonObject): boolean {
  const outcome = isObject(answer.result) ? answer.result.outcome : undefined
  if (!isObject(outcome) || outcome.outcome !== 'selected') return false
  const chosen = optionsOf(paramsOf(request)).find(({ optionId }) => optionId === outcome.optionId)
  return chosen !== undefined && !chosen.kind.startsWith('reject')
}

export const paramsOf = (message: JsonObject): JsonObject => (isObject(message.params) ? message.params : {})

export const lineOf = (message: JsonObject): Buffer => Buffer.from(`${JSON.stringify(message)}\n`)
