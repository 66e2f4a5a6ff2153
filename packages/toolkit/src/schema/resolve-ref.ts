import type { JsonObject, JsonSchema, JsonValue } from '@countersign/core'

/** The part of a schema that a `$ref` names (`#/$defs/line`). Undefined when it is remote, is no address or leads nowhere. */
export function resolveRef(root: JsonSchema, ref: string): JsonValue | undefined {
  if (ref === '#') return root
  if (!ref.startsWith('#/')) return undefined
  const pointer = decoded(ref.slice(2))
  if (pointer === undefined) return undefined
  let node: JsonValue | undefined = root
  for (const token of pointer.split('/')) {
    const key = token.replaceAll('~1', '/').replaceAll('~0', '~')
    if (node === null || typeof node !== 'object' || !Object.hasOwn(node, key)) return undefined
    node = (node as JsonObject)[key]
  }
  return node
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
