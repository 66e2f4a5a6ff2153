import { type JsonValue, parseJson } from '@countersign/core'

/** The largest text that is read: no event of a provider or brain needs more. */
export const MAX_BYTES = 2 * 1024 * 1024

/** Returns the value of a JSON text from a provider or a brain; undefined when it is invalid or ambiguous. */
export function readJson(text: string): JsonValue | undefined {
  const parsed = parseJson(text, { maxBytes: MAX_BYTES })
  return parsed.ok ? parsed.value : undefined
}
