import { ERRORS, type ErrorCode } from '@countersign/core'
import type { RouteOptions } from 'fastify'
import { CONSOLE_HEADER } from '../../identity/console-credential.ts'

/** Codes that a decision about one action can be refused with. */
export const DECISION_ERRORS = [
  'illegal_transition',
  'already_decided',
  'revision_mismatch',
  'stale_preview',
  'busy',
  'gone',
  'invalid_arguments',
  'impossible',
] as const satisfies ErrorCode[]

const READS = new Set(['GET', 'HEAD'])

/**
 * Returns the codes of a route: its own, and those that every route of its kind has. `forbidden` is general: a key that may only read the
 * metrics is refused everywhere else, and routes that change something check the console's credential and limited keys.
 */
export function errorsOf({ method, url, schema, config }: RouteOptions): ErrorCode[] {
  const { params, errors = [] } = schema ?? {}
  const { access } = config ?? {}
  const codes = new Set<ErrorCode>(['bad_request', 'internal', ...errors])
  if (access !== 'probe') for (const code of ['unauthenticated', 'rate_limited', 'not_ready'] as const) codes.add(code)
  if (params !== undefined) codes.add('not_found')
  if (access === undefined) codes.add('forbidden')
  if (!READS.has(String(method))) {
    for (const code of ['forbidden', 'too_large', 'storage_full'] as const) codes.add(code)
    if (takesIdempotencyKey({ method: String(method), access, isGateway: isGateway(url) })) codes.add('idempotency_mismatch')
  }
  const order = Object.keys(ERRORS)
  return [...codes].sort((a, b) => order.indexOf(a) - order.indexOf(b))
}

/** True for routes whose messages follow the protocol of others. */
export const isGateway = (url: string): boolean => url === '/mcp' || url === '/hooks/:host' || url.startsWith('/access/')

/** Operations that need no `Idempotency-Key`: signing in and out are safe to repeat, and messages of other protocols have their own ids. */
export const takesIdempotencyKey = (route: { method: string; access: string | undefined; isGateway: boolean }) =>
  !READS.has(route.method) && !route.isGateway && (route.access === undefined || route.access === 'key')

/** Header parameters, by name. `Idempotency-Key` is documented automatically for every operation that accepts it. */
export const REQUEST_HEADERS = {
  'Idempotency-Key': {
    description:
      'Makes a repeat safe: the same key with the same body gets the first answer; with another body 422 `idempotency_mismatch`.',
    required: false,
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
  },
  'If-Match': {
    description: 'The version that the change is based on, as `ETag` had it.',
    required: true,
    schema: { type: 'string', pattern: '^"?[0-9]{1,15}"?$' },
  },
  'Last-Event-ID': {
    description: 'The `id` of the last event that arrived: the stream continues after it. Takes precedence over `after`.',
    required: false,
    schema: { type: 'string' },
  },
} as const

export type RequestHeader = keyof typeof REQUEST_HEADERS

/** Response headers, by name. `Retry-After` comes with 429. */
export const RESPONSE_HEADERS = {
  ETag: { description: 'The version of the policy in force, for `If-Match`.', schema: { type: 'string' } },
  'Content-Disposition': { description: 'The name of the file.', schema: { type: 'string' } },
  'Retry-After': { description: 'In how many seconds to try again.', schema: { type: 'integer', minimum: 1 } },
  'Mcp-Session-Id': { description: 'The id of the session, on the answer to `initialize`.', schema: { type: 'string' } },
  'X-Request-ID': { description: 'The value of the same header of the request.', schema: { type: 'string' } },
  'WWW-Authenticate': { description: 'How to authenticate.', schema: { type: 'string' } },
  [CONSOLE_HEADER]: {
    description: 'Over plain http: the secret of the console session, which changes from time to time. Over https a cookie holds it.',
    schema: { type: 'string' },
  },
} as const

export type ResponseHeader = keyof typeof RESPONSE_HEADERS
