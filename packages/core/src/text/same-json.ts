import { inOrder } from '../json/canonical.ts'
import type { JsonValue } from '../json/value.ts'

/** True for two values that JSON writes as the same. The order of keys is ignored, because digests use canonical JSON. */
export const isSameJson = (a: unknown, b: unknown): boolean => a === b || inOneOrder(a) === inOneOrder(b)

const inOneOrder = (value: unknown): string => JSON.stringify(inOrder(value as JsonValue))
