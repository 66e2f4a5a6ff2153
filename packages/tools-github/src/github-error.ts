import { type JsonValue, ToolError } from '@countersign/core'
import { RefusedAddress } from '@countersign/toolkit'
import { networkError, readRetryAfter, serviceMessage } from '@countersign/toolkit/internal'
import { readGraphqlError } from './graphql.ts'

/** A request that failed. */
export interface FailedCall {
  /** The origin that the request was sent to. */
  origin: string
  isWrite: boolean
  /** True when the connection was established: the request may have been sent. */
  isConnected: boolean
  signal: AbortSignal
  /** The subject of the request, for a sentence: `acme/shop`. */
  about: string
}

/**
 * Returns the error of a failed request, with its known effect in plain words. The words never contain headers or addresses of the request.
 */
export function readGithubError(error: unknown, call: FailedCall): ToolError {
  const known = find(error, (at) => at instanceof ToolError)
  if (known instanceof ToolError) return known
  const failed = readGraphqlError(error, call.about)
  if (failed) return failed
  const answer = answerOf(error)
  if (!answer) return noAnswer(error, call)
  const said = refusal(answer, call)
  statuses.set(said, answer.status)
  return said
}

const statuses = new WeakMap<ToolError, number>()

/** Returns the HTTP status behind an error of {@link readGithubError}; undefined for any other error. */
export const statusOf = (error: unknown): number | undefined => (error instanceof ToolError ? statuses.get(error) : undefined)

interface Answer {
  status: number
  headers: Readonly<Record<string, string | number | undefined>>
  data: unknown
}

/** Returns the answer in an error of the library; undefined when there was no answer. */
function answerOf(error: unknown): Answer | undefined {
  if (!(error instanceof Error) || !('response' in error)) return undefined
  return error.response as Answer | undefined
}

function find(error: unknown, fits: (at: Error) => boolean): Error | undefined {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) if (fits(at)) return at
  return undefined
}

function noAnswer(error: unknown, { origin, isWrite, isConnected, signal }: FailedCall): ToolError {
  const refused = find(error, (at) => at instanceof RefusedAddress)
  if (refused) return new ToolError('refused', `${refused.message}. Nothing was sent.`)
  const unknown = isWrite ? ' Whether it acted is not known.' : ''
  if (signal.aborted) {
    if (!isConnected) return new ToolError('unreachable', `${origin} did not accept a connection in time. Nothing was sent.`)
    return new ToolError('ambiguous', `${origin} did not answer in time.${unknown}`)
  }
  const known = networkError(error, origin)
  // TLS and routing errors can also occur after the request was sent.
  if (known && !(known.kind === 'unreachable' && isConnected)) return known
  return new ToolError('ambiguous', `The answer of ${origin} did not arrive whole.${unknown}`)
}

function refusal(answer: Answer, { origin, isWrite, about }: FailedCall): ToolError {
  const { status } = answer
  const said = saidBy(answer)
  const refused = (words: string, retryable = false) => new ToolError('refused', words, { retryable })
  // 408 means that the request did not arrive whole, or that what it began took too long.
  if (status >= 500 || (status === 408 && isWrite)) {
    return new ToolError('ambiguous', `GitHub failed (${status})${said}.${isWrite ? ' Whether it acted is not known.' : ''}`)
  }
  const limit = limitWords(answer)
  if (limit !== undefined) return refused(limit, true)
  switch (status) {
    case 401:
      return refused(`GitHub does not accept the token (401): it is wrong, expired or revoked`)
    case 403:
      return refused(`The token may not do this in ${about} (403)${said}.${scopeWords(answer)}`)
    case 404:
      return refused(`GitHub does not find this in ${about}, or the token may not see it (404)${said}.`)
    case 405:
      return refused(`GitHub does not do this now (405)${said}.`)
    case 409:
      return refused(`GitHub refused because of a conflict (409)${said}.`)
    case 410:
      return refused(`This is switched off in ${about}, or was deleted (410)${said}.`)
    case 422:
      return refused(`GitHub refused what was sent (422)${said}.`)
    case 451:
      return refused(`GitHub withholds this for legal reasons (451)${said}.`)
    default:
      return refused(`GitHub (${origin}) refused (${status})${said}.`, status === 408 || status === 425)
  }
}

/** Returns when to retry after a rate limit. */
function limitWords({ status, headers, data }: Answer): string | undefined {
  if (status !== 403 && status !== 429) return undefined
  const waitMs = readRetryAfter(headers as Readonly<Record<string, string>>, Date.now())
  const wait = waitMs === undefined ? Number.NaN : Math.ceil(waitMs / 1_000)
  const isSecondary = /secondary rate limit|abuse/i.test(messageIn(data))
  if (headers['x-ratelimit-remaining'] === '0' && !isSecondary) {
    const reset = Number(headers['x-ratelimit-reset'])
    const until = reset > 0 && reset < 1e11 ? ` It may be tried again after ${new Date(reset * 1_000).toISOString()}.` : ''
    return `The token has used up the requests that GitHub allows it for now (${status}). Nothing was done.${until}`
  }
  if (!isSecondary && status !== 429 && Number.isNaN(wait)) return undefined
  const after = wait > 0 && wait < 1e6 ? ` in ${wait} s` : ' in a minute'
  return `GitHub asks to go slower (${status}). Nothing was done. It may be tried again${after}.`
}

/** Returns the permissions or scopes that the token would need, if GitHub names them. */
function scopeWords({ headers }: Answer): string {
  const permissions = headerText(headers['x-accepted-github-permissions'])
  if (permissions !== '') return ` It needs the permission ${permissions}.`
  const wanted = headerText(headers['x-accepted-oauth-scopes'])
  if (wanted === '') return ''
  const has = headerText(headers['x-oauth-scopes'])
  return ` It needs one of the scopes ${wanted} and has ${has === '' ? 'none' : has}.`
}

const headerText = (value: unknown): string => (typeof value === 'string' ? value.replaceAll(/[^\w:;,=. -]/g, '').slice(0, 200) : '')

const messageIn = (data: unknown): string =>
  typeof data === 'object' && data !== null && 'message' in data && typeof data.message === 'string' ? data.message : ''

/** Returns GitHub's message, including those about single fields, as the end of a sentence. */
function saidBy({ data }: Answer): string {
  const whole = [messageIn(data), ...fieldErrors(data)].filter((text) => text !== '').join('; ')
  const said = serviceMessage((whole === '' ? (data ?? null) : { message: whole }) as JsonValue)
  return said === undefined ? '' : `: ${said}`
}

const MAX_FIELD_ERRORS = 5

const CODES: Readonly<Record<string, string>> = {
  missing: 'does not exist',
  missing_field: 'is missing',
  invalid: 'is not valid',
  already_exists: 'exists already',
  unprocessable: 'cannot be used',
}

function fieldErrors(data: unknown): string[] {
  const errors = typeof data === 'object' && data !== null && 'errors' in data && Array.isArray(data.errors) ? data.errors : []
  return errors.slice(0, MAX_FIELD_ERRORS).map((error: unknown) => {
    if (typeof error !== 'object' || error === null) return String(error)
    const { field = '', code = '', message = '' } = error as Record<string, unknown>
    return typeof message === 'string' && message !== '' ? message : `${field} ${CODES[String(code)] ?? code}`.trim()
  })
}
