import { type Document, isAlias, isNode, isScalar, visit, YAMLParseError } from 'yaml'

/**
 * Adds an error for the first key that a map has twice, to a document that was parsed with `uniqueKeys: false`. The parser's own check
 * compares each key with all before it: 60,000 keys, which fit into a request, would hold up the server for a minute.
 */
export function refuseRepeatedKeys(document: Document.Parsed): void {
  const aliases = aliasesAsKeys(document)
  let first: readonly [start: number, end: number] | undefined
  visit(document, {
    Map(_, { items }) {
      const seen = new Set<string>()
      for (const { key } of items) {
        const value = isAlias(key) ? aliases.get(key) : key
        const range = isNode(key) && key.range
        if (!isScalar(value) || !range) continue
        const [start, end] = range
        // As keys of an object, the number 1 and the text "1" are the same.
        const name = value.value === null ? '' : String(value.value)
        if (seen.has(name)) {
          if (!first || start < first[0]) first = [start, end]
          return
        }
        seen.add(name)
      }
    },
  })
  if (!first) return
  const [start, end] = first
  const error = new YAMLParseError([start, start + 1], 'DUPLICATE_KEY', 'Map keys must be unique')
  // The errors stand in the order of the text.
  const later = document.errors.findIndex(({ pos }) => pos[0] >= end)
  document.errors.splice(later < 0 ? document.errors.length : later, 0, error)
}

/** Returns what each alias stands for that is a key. The library would look through all anchors for each of them. */
function aliasesAsKeys(document: Document.Parsed): ReadonlyMap<unknown, unknown> {
  const anchors = new Map<string, unknown>()
  const found = new Map<unknown, unknown>()
  visit(document, {
    Value(_, node) {
      if (node.anchor !== undefined) anchors.set(node.anchor, node)
    },
    Alias(place, alias) {
      if (place === 'key') found.set(alias, anchors.get(alias.source))
    },
  })
  return found
}

const MAX_ALIASES = 1_000

/** Returns the problem of a document with very many aliases: for each of them, all anchors before it are looked through. */
export function tooManyAliases(document: Document.Parsed): string | undefined {
  let count = 0
  visit(document, {
    Alias: () => (++count > MAX_ALIASES ? visit.BREAK : undefined),
  })
  return count > MAX_ALIASES ? `has more than ${MAX_ALIASES.toLocaleString('en')} aliases, such as *name` : undefined
}
