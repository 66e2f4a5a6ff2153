/** Every error an outside program can meet: code → HTTP status and title. One table for server, SDK and docs. */
export const ERRORS = {
  bad_request: { status: 400, title: 'The request is malformed' },
  unauthenticated: { status: 401, title: 'Sign in or send a key' },
  forbidden: { status: 403, title: 'Not allowed' },
  not_found: { status: 404, title: 'Not found' },
  illegal_transition: { status: 409, title: 'The action cannot do that from its state' },
  already_decided: { status: 409, title: 'Already decided' },
  revision_mismatch: { status: 409, title: 'The action changed since it was shown' },
  stale_preview: { status: 409, title: 'The target changed since it was shown' },
  name_taken: { status: 409, title: 'The name is taken' },
  busy: { status: 409, title: 'The same request is still being worked on' },
  gone: { status: 410, title: 'Archived' },
  too_large: { status: 413, title: 'Too large' },
  invalid_arguments: { status: 422, title: 'The arguments do not fit the tool' },
  impossible: { status: 422, title: 'This cannot be done as it was asked' },
  idempotency_mismatch: { status: 422, title: 'This idempotency key belongs to another request' },
  too_many_waiting: { status: 429, title: 'Too many actions wait for a decision' },
  rate_limited: { status: 429, title: 'Too many requests' },
  internal: { status: 500, title: 'Something went wrong here' },
  not_ready: { status: 503, title: 'Not ready yet' },
  storage_full: { status: 507, title: 'The disk is full' },
} as const satisfies Record<string, { status: number; title: string }>

export type ErrorCode = keyof typeof ERRORS

/**
 * The one error class that crosses a boundary. Tell errors apart by `code`, never by `instanceof`: it survives JSON, two copies of
 * this package and a worker thread.
 *
 * @example
 * throw new CountersignError('already_decided', 'act_7 was approved by Ada at 12:03', { action })
 */
export class CountersignError extends Error {
  override readonly name = 'CountersignError'
  readonly code: ErrorCode
  /** Extra members of the problem document, for example the current `action` of a 409. */
  readonly extra: Readonly<Record<string, unknown>>

  constructor(code: ErrorCode, detail: string, extra: Record<string, unknown> = {}, options?: ErrorOptions) {
    super(detail, options)
    this.code = code
    this.extra = extra
  }

  get status(): number {
    return ERRORS[this.code].status
  }
}

/** True for a {@link CountersignError} of any copy of this package. */
export const isCountersignError = (error: unknown): error is CountersignError =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' && Object.hasOwn(ERRORS, error.code)

/** The `application/problem+json` document (RFC 9457) of an error. */
export const toProblem = (error: CountersignError): Record<string, unknown> => ({
  ...error.extra,
  type: `https://countersign.dev/errors/${error.code}`,
  title: ERRORS[error.code].title,
  status: error.status,
  code: error.code,
  detail: error.message,
})

/** A broken promise to ourselves: a bug, logged whole and answered as `internal`. */
export function assert(condition: unknown, sentence: string): asserts condition {
  if (!condition) throw new Error(`assertion failed: ${sentence}`)
}
