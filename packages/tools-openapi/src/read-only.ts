import type { JsonObject, JsonValue } from '@countersign/core'
import { isObject } from '@countersign/toolkit/internal'
import type { Refs } from './refs.ts'

/**
 * The members of an object that are left out, whichever of its parts says so: another part of `allOf` may require them.
 * @param seen Each part is looked into once, however often the others lead to it.
 */
export function hiddenIn(node: JsonObject, refs: Refs, seen = new Set<JsonValue>()): string[] {
  if (seen.has(node)) return []
  seen.add(node)
  const own = isObject(node.properties) ? Object.entries(node.properties) : []
  const parts = [refs.follow(node), ...(Array.isArray(node.allOf) ? node.allOf : [])]
  return [
    ...own.flatMap(([name, child]) => (isReadOnly(child, refs) ? [name] : [])),
    ...parts.flatMap((part) => (isObject(part) ? hiddenIn(part, refs, seen) : [])),
  ]
}

/** True for what only answers hold. */
export function isReadOnly(schema: JsonValue, refs: Refs): boolean {
  if (!isObject(schema)) return false
  if (typeof schema.readOnly === 'boolean') return schema.readOnly
  const target = refs.follow(schema)
  if (!isObject(target)) return false
  if (target.readOnly === true) return true
  return Array.isArray(target.allOf) && target.allOf.some((part) => isObject(part) && part.readOnly === true)
}
