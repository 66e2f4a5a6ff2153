import type { JsonValue } from '@countersign/core'
import type { Random } from '../../simulation/random.ts'

/** The same value with the members of all its objects in a drawn order. Lists stay as they are. */
export function shuffled<Value extends JsonValue>(value: Value, random: Random): Value
export function shuffled(value: JsonValue, random: Random): JsonValue {
  if (Array.isArray(value)) return value.map((entry) => shuffled(entry, random))
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(([name, inner]): [number, [string, JsonValue]] => [
    random.next(),
    [name, shuffled(inner ?? null, random)],
  ])
  return Object.fromEntries(members.sort(([a], [b]) => a - b).map(([, member]) => member))
}

/**
 * A text with the members of its JSON in a drawn order, also of JSON that stands in a text of it, as in an MCP result; any other text as it
 * is.
 * @param change What is done to the JSON before.
 */
export function shuffledText(text: string, random: Random, change: (value: JsonValue) => JsonValue = (value) => value): string {
  if (!/^\s*[{[]/.test(text)) return text
  let value: JsonValue
  try {
    value = JSON.parse(text)
  } catch {
    return text
  }
  const inside = (inner: JsonValue): JsonValue => {
    if (typeof inner === 'string') return shuffledText(inner, random, change)
    if (Array.isArray(inner)) return inner.map(inside)
    if (typeof inner !== 'object' || inner === null) return inner
    return Object.fromEntries(Object.entries(inner).map(([name, member]) => [name, inside(member ?? null)]))
  }
  return JSON.stringify(shuffled(inside(change(value)), random))
}
