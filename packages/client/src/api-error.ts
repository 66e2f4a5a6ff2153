import type { Action, ErrorCode } from '@countersign/core'

/** A code of the server's table, or `offline`: no answer came, and whether the server acted is not known. */
export type ApiErrorCode = ErrorCode | 'offline'

/** One thing that is wrong with what was sent, and where. */
export type ApiIssue = { path: string; message: string }

/**
 * The one error that a call rejects with (apart from the reason of your own abort signal). Tell errors apart by `code`.
 *
 * - `status` is the HTTP status, 0 when no answer came.
 * - `detail` is a sentence for people.
 * - `action` is the current action where the server sent it along (every 409 about an action).
 * - `issues` says what is wrong at which place, where the server could tell: a JSON pointer into arguments, a path into a policy.
 *
 * @example
 * try {
 *   await client.actions.decide(action.id, { verdict: 'approve', revision: action.revision, digest: action.digest })
 * } catch (error) {
 *   if (isApiError(error) && error.code === 'already_decided') show(error.action)
 * }
 */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly code: ApiErrorCode
  readonly status: number
  readonly detail: string
  readonly action: Action | undefined
  readonly issues: readonly ApiIssue[]

  constructor(
    code: ApiErrorCode,
    status: number,
    detail: string,
    { action, issues = [], ...options }: { action?: Action | undefined; issues?: readonly ApiIssue[] } & ErrorOptions = {},
  ) {
    super(detail, options)
    this.code = code
    this.status = status
    this.detail = detail
    this.action = action
    this.issues = issues
  }
}

/** True for an {@link ApiError} of any copy of this package. */
export const isApiError = (error: unknown): error is ApiError => error instanceof Error && error.name === 'ApiError' && 'code' in error

const unexplained = new WeakSet<Error>()

/** True for an answer that was no problem document: a proxy's page, say, and no word of the server. */
export const isUnexplained = (error: unknown): boolean => error instanceof Error && unexplained.has(error)

/** The error of an answer that was not 2xx. Anything but a problem document gets a code by its status. */
export async function readProblem(response: Response): Promise<ApiError> {
  const text = await response.text().catch(() => '')
  const problem = parseObject(text)
  if (typeof problem?.code !== 'string') {
    const error = new ApiError(
      codeOfStatus(response.status),
      response.status,
      `The server answered ${response.status} without an explanation.`,
    )
    unexplained.add(error)
    return error
  }
  const detail = typeof problem.detail === 'string' ? problem.detail : String(problem.title ?? problem.code)
  const action = problem.action as Action | undefined
  return new ApiError(problem.code as ErrorCode, response.status, detail, { action, issues: readIssues(problem.issues) })
}

const readIssues = (given: unknown): ApiIssue[] =>
  Array.isArray(given) ? given.filter((issue) => typeof issue?.path === 'string' && typeof issue?.message === 'string') : []

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

const BY_STATUS: Readonly<Record<number, ErrorCode>> = {
  400: 'bad_request',
  401: 'unauthenticated',
  403: 'forbidden',
  404: 'not_found',
  410: 'gone',
  413: 'too_large',
  429: 'rate_limited',
  502: 'not_ready',
  503: 'not_ready',
  504: 'not_ready',
}

const codeOfStatus = (status: number): ErrorCode => BY_STATUS[status] ?? (status < 500 ? 'bad_request' : 'internal')
