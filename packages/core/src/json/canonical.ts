import canonicalize from 'canonicalize'
import type { JsonValue } from './value.ts'

/**
 * The canonical form of a JSON value (RFC 8785): keys sorted by UTF-16 code unit, no white space, numbers as ECMAScript writes them.
 * @throws Error for what is not JSON (NaN, a lone surrogate); {@link parseJson} refuses both before they get here.
 * @example
 * canonicalJson({ b: 1, a: [true, null] }) // '{"a":[true,null],"b":1}'
 */
export function canonicalJson(value: JsonValue): string {
  const text = canonicalize(value)
  if (text === undefined) throw new Error('not a JSON value')
  return text
}
