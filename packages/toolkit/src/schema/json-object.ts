import type { JsonObject, JsonValue } from '@countersign/core'

/** True for an object of JSON; false for a list, a scalar and null. */
export const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
