import type { JsonValue } from '@countersign/core'
import { isObject } from '@countersign/core/text'

/**
 * True when a GraphQL answer with errors shows that its mutation ran at least in part: it has a value of the mutation, or an error from
 * inside its result. Such an error only says that the result cannot be read.
 */
export function mayHaveRun({ data, errors }: { data?: JsonValue | undefined; errors: readonly JsonValue[] }): boolean {
  const hasValue = isObject(data) && Object.values(data).some((value) => value !== null)
  return hasValue || errors.some((error) => isObject(error) && Array.isArray(error.path) && error.path.length > 1)
}
