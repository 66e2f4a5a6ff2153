import { ERRORS, type ErrorCode } from '@countersign/core'

/** The advice to a client about each error. A code that is missing here does not compile. */
const ERROR_TEXTS: Readonly<Record<ErrorCode, string>> = {
  bad_request: 'Correct the request. `issues` names each place.',
  unauthenticated: 'Sign in again, or send a key that is not revoked or expired.',
  forbidden: 'Use a principal, a key or a role that may do this. `detail` says what is missing.',
  not_found: 'Check the id. Anything that you may not see is answered in the same way.',
  illegal_transition: 'Read the action again: its state does not allow this.',
  already_decided: 'Read `action`: somebody decided before you.',
  revision_mismatch: 'Show the action again, and decide on its new revision and digest.',
  stale_preview: 'Show the action again: the current values changed.',
  name_taken: 'Choose another name.',
  busy: 'Wait, and send the same request again.',
  gone: 'Do not repeat it: what it is about was archived, deleted, redacted or revoked. Open an event stream again without an id.',
  too_large: 'Send less.',
  invalid_arguments: 'Correct the arguments. `issues` names each place.',
  impossible: 'Read `detail`: the target does not allow this call.',
  idempotency_mismatch: 'Use a new key for a new request.',
  too_many_waiting: 'Wait until people have decided some of the waiting actions.',
  rate_limited: 'Wait for the seconds in `Retry-After`.',
  internal: 'Send the request again with the same `Idempotency-Key`. The log of the server has the cause under the id in `detail`.',
  not_ready: 'Wait, and send the same request again.',
  storage_full: 'Free space on the disk of the server.',
}

/** Every code with its status, its meaning, and what to do. */
export const errorReference = (): string => {
  const rows = Object.entries(ERRORS).map(
    ([code, { status, title }]) => `| \`${code}\` | ${status} | ${title} | ${ERROR_TEXTS[code as ErrorCode]} |`,
  )
  return ['| code | status | meaning | what to do |', '|---|---|---|---|', ...rows].join('\n')
}
