import { type Document, isAlias, isMap, isScalar, isSeq, type LineCounter, type Pair, type YAMLMap } from 'yaml'
import { resolveAliases } from './yaml-limits.ts'

/** Returns the line of a place in a file, or undefined for the whole file. */
export type LineOf = (path: readonly PropertyKey[]) => number | undefined

/**
 * Finds the lines of places in a parsed text. Where a key is missing, the line is that of what should have it. A text may have thousands of
 * faults, so a map or an alias is looked through once for all of them.
 */
export function linesOf(document: Document.Parsed, counter: LineCounter): LineOf {
  const byKey = new Map<YAMLMap, ReadonlyMap<string, Pair>>()
  let aliases: ReturnType<typeof resolveAliases> | undefined
  const pairsOf = (map: YAMLMap) => {
    const known = byKey.get(map)
    if (known) return known
    // Of a key that is there twice, the first counts.
    const pairs = new Map([...map.items].reverse().flatMap((pair) => (isScalar(pair.key) ? [[String(pair.key.value), pair]] : [])))
    byKey.set(map, pairs)
    return pairs
  }
  return (path) => {
    let node: unknown = document.contents
    let offset: number | undefined
    for (const part of path) {
      if (isAlias(node)) aliases ??= resolveAliases(document)
      const held: unknown = isAlias(node) ? aliases?.get(node) : node
      if (isMap(held)) {
        const pair = pairsOf(held).get(String(part))
        if (!pair) break
        if (isScalar(pair.key)) offset = pair.key.range?.[0]
        node = pair.value
      } else if (isSeq(held)) {
        node = held.items[Number(part)]
        if (typeof node === 'object' && node !== null && 'range' in node && Array.isArray(node.range)) offset = node.range[0]
      } else break
    }
    return offset === undefined ? undefined : counter.linePos(offset).line
  }
}
