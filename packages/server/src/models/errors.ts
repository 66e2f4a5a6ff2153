import { APICallError, InvalidResponseDataError, JSONParseError, TypeValidationError } from '@ai-sdk/provider'
import type { ModelErrorCode, ModelEvent } from '@countersign/core'
import { classify, type Refusal, readRetryAfter } from './classify.ts'
import { readJson } from './json.ts'
import type { WireReport } from './watch.ts'

export type ModelErrorEvent = Extract<ModelEvent, { type: 'error' }>

const MAX_MESSAGE_CHARACTERS = 600

/**
 * Shortens an error message for people. It has to be free of secrets already, because the beginning of a secret that is cut is not
 * recognised any more: nothing before it cuts a provider's words.
 */
export const cutMessage = (message: string): string =>
  message.length > MAX_MESSAGE_CHARACTERS ? `${message.slice(0, MAX_MESSAGE_CHARACTERS).toWellFormed()}…` : message

/** Creates an `error` event. By default only failures of the network or the provider that may be temporary are retryable. */
export const modelError = (
  code: ModelErrorCode,
  message: string,
  retryable = code === 'model_unreachable' || code === 'model_rate_limited' || code === 'model_broken_stream',
): ModelErrorEvent => ({
  type: 'error',
  code,
  message,
  retryable,
})

/** Returns the error for an invalid history: nothing was sent. */
export const unsentError = (model: string, problem: string): ModelErrorEvent =>
  modelError('model_refused_request', `nothing was sent to ${model}, as the history has ${problem}`)

const WORDS: Partial<Record<ModelErrorCode, string>> = {
  model_rate_limited: 'limits our requests',
  model_overloaded: 'is overloaded',
  model_context_exceeded: 'cannot read a conversation of this length',
  model_refused_request: 'refused the request',
}

/** Returns the error of a refusal, wherever the provider reported it. @param detail The provider's text, for people. */
export function refusalError(model: string, refusal: Refusal, detail: string): ModelErrorEvent {
  const { code, retryable } = classify(refusal)
  const said = detail.trim() === '' ? '' : `: ${detail.trim()}`
  const status = refusal.status === undefined ? '' : ` (${refusal.status})`
  const what = WORDS[code] ?? (refusal.status === undefined ? 'reported an error' : 'failed')
  return modelError(code, `${model} ${what}${status}${said}`, retryable)
}

/** Returns the error for a failure between Countersign and the provider, from the exception or stream error of its package. */
export function toModelError(model: string, error: unknown, report?: WireReport): ModelErrorEvent {
  if (report?.timedOut) return modelError('model_unreachable', `${model} was silent for too long`)
  if (report?.tooLarge) return modelError('model_broken_stream', `${model} answered without end`, false)
  if (APICallError.isInstance(error)) return apiCallError(model, error)
  if (report && hasForeignError(report)) return foreignError(model, report)
  if (report?.events === 0 && InvalidResponseDataError.isInstance(error)) return noStreamError(model, report)
  if (JSONParseError.isInstance(error) || TypeValidationError.isInstance(error) || InvalidResponseDataError.isInstance(error)) {
    return modelError('model_broken_stream', `${model} sent something that is not of its protocol: ${error.message}`)
  }
  if (error instanceof TypeError) return modelError('model_broken_stream', `the connection to ${model} broke: ${error.message}`)
  const { message, status, retryable } = describe(error)
  return refusalError(model, { status, retryable, text: wordsOf(error) }, message)
}

/** Returns an error that was sent between the events (`error: {…}`, a bare JSON body), where every event stream reader drops it. */
export const hasForeignError = (report: WireReport): boolean => /error/i.test(report.foreign)

export function foreignError(model: string, report: WireReport): ModelErrorEvent {
  const text = report.foreign.replace(/^error:/, '').trim()
  const { message, status, retryable } = describe(readJson(text) ?? text)
  return refusalError(model, { status, retryable, text }, message)
}

/** Returns the error for an answer with HTTP 200 but without any event: a proxy's page, a JSON body, nothing. */
export const noStreamError = (model: string, { contentType }: WireReport): ModelErrorEvent =>
  modelError('model_broken_stream', `${model} sent no event stream (${contentType || 'no content type'})`)

function apiCallError(model: string, error: APICallError): ModelErrorEvent {
  if (error.statusCode === undefined) return modelError('model_unreachable', `${model} cannot be reached: ${error.message}`)
  if (error.statusCode < 300) return modelError('model_broken_stream', `the answer of ${model} broke off: ${words(error.cause ?? error)}`)
  const { statusCode: status, responseBody: body = '', isRetryable: retryable } = error
  // For a body that the package could not read (`data`), its message is only the HTTP status.
  const detail = error.data === undefined ? readMessage(body) || error.message : error.message
  const retryAfterMs = readRetryAfter(error.responseHeaders, body, Date.now())
  return {
    ...refusalError(model, { status, retryable, text: `${error.message} ${body}` }, detail),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  }
}

const words = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const readMessage = (body: string): string => describe(readJson(body) ?? body).message

/** Returns all texts of an error as one, for pattern matching. */
function wordsOf(error: unknown): string {
  if (error instanceof Error) return error.message
  return typeof error === 'string' ? error : JSON.stringify(error)
}

/**
 * Returns message and status of an error object as providers stream it: `{message, code: 400}`, `{error: {message, status_code}}`, a text.
 */
export function describe(error: unknown): { message: string; status?: number; retryable?: boolean } {
  if (typeof error === 'string') return { message: error }
  if (typeof error !== 'object' || error === null) return { message: 'no reason given' }
  const { error: inner, message, detail, statusCode, status_code, code, isRetryable } = error as Record<string, unknown>
  if (message === undefined && inner !== undefined) return describe(inner)
  if (message === undefined && typeof detail === 'string') return describe({ ...error, message: detail })
  const status = [statusCode, status_code, code].map(Number).find((number) => number >= 400 && number <= 599)
  return {
    message: typeof message === 'string' ? message : JSON.stringify(error),
    ...(status !== undefined && { status }),
    ...(typeof isRetryable === 'boolean' && { retryable: isRetryable }),
  }
}
