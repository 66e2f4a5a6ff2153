import type { JsonObject, JsonValue } from '@countersign/core'
import { isObject } from '@countersign/core/text'
import type { Refs } from './refs.ts'

/**
 * Returns the members of an object that are left out. A read-only mark in one `allOf` part applies to all parts, because another part may
 * require the member.
 * @param seen The parts already visited.
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

/** True for a member that only answers contain. */
export function isReadOnly(schema: JsonValue, refs: Refs): boolean {
  if (!isObject(schema)) return false
  if (typeof schema.readOnly === 'boolean') return schema.readOnly
  const target = refs.follow(schema)
  if (!isObject(target)) return false
  if (target.readOnly === true) return true
  return Array.isArray(target.allOf) && target.allOf.some((part) => isObject(part) && part.readOnly === true)
}
