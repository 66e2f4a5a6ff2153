import { type JsonObject, ToolError } from '@countersign/core'
import { isObject } from '@countersign/core/text'
import type { HttpAnswer } from '@countersign/toolkit'
import { mayHaveRun, readRetryAfter, serviceMessage } from '@countersign/toolkit/internal'
import type { LinearErrorType } from '@linear/sdk'

/** The error types by the codes of older answers, which have no type. */
const TYPE_OF_CODE: Readonly<Record<string, string>> = {
  AUTHENTICATION_ERROR: 'authentication error',
  FORBIDDEN: 'forbidden',
  INPUT_ERROR: 'invalid input',
  RATELIMITED: 'ratelimited',
}

/** Errors after which nothing was changed, because Linear rejected the request. After all others a write may have acted. */
const REFUSALS: Readonly<Partial<Record<`${LinearErrorType}`, string>>> = {
  AuthenticationError: 'Linear does not accept the API key',
  Forbidden: 'Linear refused: the API key may not do that',
  FeatureNotAccessible: 'Linear refused: the workspace does not have that feature',
  InvalidInput: 'Linear refused the values',
  UserError: 'Linear refused',
  GraphqlError: 'Linear does not understand the request',
  UsageLimitExceeded: 'Linear refused: a limit of the workspace is reached',
  Ratelimited: 'Linear takes no more requests for now',
}

/** True for an error answer of Linear, whatever its status. */
export const isErrorAnswer = ({ status, body }: Pick<HttpAnswer, 'status' | 'body'>): boolean =>
  status >= 400 || (isObject(body) && Array.isArray(body.errors) && body.errors.length > 0)

/**
 * Returns the error for an error answer of Linear, in plain words. The library determines the type of the error; this function determines
 * whether the request may have acted.
 * @param isWrite After an error inside Linear the outcome of a write is unknown.
 */
export async function linearError({ status, body, headers }: HttpAnswer, isWrite: boolean): Promise<ToolError> {
  // The library is three megabytes of code, so it is loaded only when needed.
  const { parseLinearError } = await import('@linear/sdk')
  const errors = (isObject(body) && Array.isArray(body.errors) ? body.errors : []).filter(isObject).map(withType)
  const data = isObject(body) ? body.data : undefined
  // An answer without GraphQL errors did not come from the API itself but from a wrong address or a proxy.
  if (errors.length === 0 && status >= 400 && status < 500 && ![401, 403, 408, 429].includes(status)) {
    return new ToolError('refused', `Linear refused (${status})${inWords(serviceMessage(body))}.`, { retryable: false })
  }
  const named = new Headers(Object.entries(headers).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])))
  const error = parseLinearError({ response: { status, errors, headers: named } } as unknown as Parameters<typeof parseLinearError>[0])
  const type: string = error.type ?? 'Unknown'
  const said = serviceMessage(error.errors?.[0]?.message)
  // The library takes every 4xx for a wrong key. 408 means that the request did not arrive whole, or that what it began took too long.
  const isLate = status === 408 && errors.length === 0
  // A refusal of a part of the result, such as an author whom the key may not see, comes after the change was made.
  const isDefinite = !isLate && !(isWrite && mayHaveRun({ data, errors }))
  const refusal = isDefinite && Object.hasOwn(REFUSALS, type) ? REFUSALS[type as keyof typeof REFUSALS] : undefined
  if (refusal === undefined) {
    const unknown = isWrite ? ' Whether it acted is not known.' : ''
    return new ToolError('ambiguous', `Linear failed (${status})${inWords(said)}.${unknown}`)
  }
  const isLimit = type === 'Ratelimited'
  const words = isLimit ? `${refusal}. Try again ${whenAgain(headers)}` : `${refusal}${inWords(said)}`
  return new ToolError('refused', `${words}.`, { retryable: isLimit })
}

const inWords = (said: string | undefined): string => (said === undefined ? '' : `: ${said}`)

/** Returns the error with its type where the library reads it. */
function withType(error: JsonObject): JsonObject {
  const extensions = isObject(error.extensions) ? error.extensions : {}
  const type = extensions.type ?? (typeof extensions.code === 'string' ? TYPE_OF_CODE[extensions.code] : undefined)
  return type === undefined ? error : { ...error, extensions: { ...extensions, type } }
}

function whenAgain(headers: HttpAnswer['headers']): string {
  const waitMs = readRetryAfter(headers, Date.now()) ?? 0
  if (waitMs > 0) return `in ${Math.ceil(waitMs / 1_000)} s`
  const resets = Number(headers['x-ratelimit-requests-reset'] ?? headers['x-ratelimit-complexity-reset'])
  return resets > 0 && resets < 8e15 ? `after ${new Date(resets).toISOString()}` : 'later'
}
