import { type JsonValue, parseJson } from '@countersign/core'

/** The largest text that is read: no provider and no brain has more to say in one event. */
const MAX_BYTES = 2 * 1024 * 1024

/** The value of a JSON text from a provider or a brain, or undefined when it is none or one that nobody can be sure of. */
export function readJson(text: string): JsonValue | undefined {
  const parsed = parseJson(text, { maxBytes: MAX_BYTES })
  return parsed.ok ? parsed.value : undefined
}
