import { validateHeaderName, validateHeaderValue } from 'node:http'

/** True when a request can have this header. */
export function isHeader(name: string, value: string): boolean {
  try {
    validateHeaderName(name)
    validateHeaderValue(name, value)
    return true
  } catch {
    return false
  }
}
