import { isLarger, type ParseLimits, Refusal, readLimits, TooLarge } from './limits.ts'
import { Scanner } from './scan.ts'
import type { JsonValue } from './value.ts'

export interface ParseOptions extends Partial<ParseLimits> {
  /** True gives a number that a double cannot represent as its text, instead of refusing the whole. Default false. */
  keepsNumbers?: boolean
}

/** `at` counts UTF-16 units from the start of the text; `reason` is plain words for the sender and names the place too. */
export type ParseResult = { ok: true; value: JsonValue } | { ok: false; reason: string; tooLarge: boolean; at: number }

/**
 * Parses JSON from outside, strictly where `JSON.parse` guesses. Besides invalid JSON, refuses nesting deeper than 64, more than 256 KB, a
 * key twice in one object (`"a"` and `"\u0061"` are one key), numbers that a double cannot represent (beyond ±(2^53 − 1), or with digits
 * that would be dropped), half surrogate pairs, a byte order mark, `__proto__`, and `constructor` holding `prototype`. `-0` becomes `0`.
 * Never throws; the time is linear in the length of the text.
 *
 * @param options Other limits than 64 levels and 262,144 bytes.
 * @returns Plain objects and arrays, or the reason of the refusal. `tooLarge` is true for the size alone (HTTP 413 instead of 400).
 * @example
 * parseJson('{"a": 1}') // { ok: true, value: { a: 1 } }
 * parseJson('{"a": 1, "a": 2}') // { ok: false, reason: 'the key "a" appears twice in one object (at 9)', tooLarge: false, at: 9 }
 */
export function parseJson(text: string, { keepsNumbers = false, ...limits }: ParseOptions = {}): ParseResult {
  const { maxBytes, maxDepth, maxValues } = readLimits(limits)
  if (isLarger(text, maxBytes)) return { ok: false, reason: `larger than ${maxBytes} bytes`, tooLarge: true, at: 0 }
  if (text.startsWith('\ufeff')) return refused('begins with a byte order mark', 0)
  if (!text.isWellFormed()) return refused('half of a surrogate pair stands alone', loneSurrogateAt(text))
  const scanner = new Scanner(text, { maxBytes, maxDepth, maxValues }, keepsNumbers)
  try {
    return { ok: true, value: scanner.read() }
  } catch (error) {
    if (error instanceof Refusal) return { ...refused(error.message, scanner.at), tooLarge: error instanceof TooLarge }
    throw error
  }
}

const refused = (reason: string, at: number) => ({ ok: false as const, reason: `${reason} (at ${at})`, tooLarge: false, at })

// Lone halves become U+FFFD and nothing else changes, so the first difference is the place.
function loneSurrogateAt(text: string): number {
  const mended = text.toWellFormed()
  let at = 0
  while (text.charCodeAt(at) === mended.charCodeAt(at)) at++
  return at
}
