import { http } from '../net/node-http.ts'

/** Headers that the call itself sets; a second opinion on them would break it or its safety. */
const RESERVED_HEADERS = new Set(['connection', 'content-length', 'content-type', 'host', 'idempotency-key', 'transfer-encoding'])

/** True when a request can have this header. */
export function isHeader(name: string, value: string): boolean {
  try {
    http.validateHeaderName(name)
    http.validateHeaderValue(name, value)
    return true
  } catch {
    return false
  }
}

/** Returns why a configuration may not have a header, without its value, which may be a secret; undefined when it may. */
export function headerFault(name: string, value: string): string | undefined {
  if (RESERVED_HEADERS.has(name.toLowerCase())) return 'is set by the call itself'
  return isHeader(name, value) ? undefined : 'is not a valid header (its value is not shown here)'
}
