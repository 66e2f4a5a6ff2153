import { ToolError } from '@countersign/core'

/** The connection was never made, so no byte of the request left: errors of the resolver, the TCP connect and the TLS handshake. */
const NOTHING_SENT =
  /^(EBADPORT|ECONNREFUSED|ENOTFOUND|EAI_\w+|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|UND_ERR_CONNECT_TIMEOUT|ERR_TLS_CERT_\w+|CERT_\w+|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_\w+|ERR_SSL_\w+)$/

/** The connection broke after it was made: the request may have arrived. */
const MAYBE_SENT = /^(ECONNRESET|ECONNABORTED|EPIPE|ETIMEDOUT|UND_ERR_\w+|HPE_\w+)$/

/**
 * Converts a failed `fetch` to what it means for the effect; undefined when the error did not come from the network.
 * @param target The target's name in the sentence: an origin, never a whole URL (its path and query contain arguments).
 */
export function networkError(error: unknown, target: string): ToolError | undefined {
  const code = codeOf(error)
  if (code === undefined) return undefined
  if (NOTHING_SENT.test(code)) return new ToolError('unreachable', `${target} could not be reached (${code}). Nothing was sent.`)
  if (MAYBE_SENT.test(code)) {
    return new ToolError('ambiguous', `The connection to ${target} broke before it answered (${code}). Whether it acted is not known.`)
  }
  return undefined
}

/** The system's or the HTTP client's code, which `fetch` keeps on the cause of its `TypeError`. */
function codeOf(error: unknown): string | undefined {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 4; at = at.cause, depth++) {
    if ('code' in at && typeof at.code === 'string') return at.code
    // The message of fetch for a port that the standard blocks, its only refusal without a code.
    if (at.message === 'bad port') return 'EBADPORT'
  }
  return undefined
}
