import { type Document, isAlias, isMap, isScalar, isSeq, type LineCounter } from 'yaml'

/** Returns the line of a place in a file, or undefined for the whole file. */
export type LineOf = (path: readonly PropertyKey[]) => number | undefined

/** Finds the lines of places in a parsed text. Where a key is missing, the line is that of what should have it. */
export const linesOf =
  (document: Document.Parsed, counter: LineCounter): LineOf =>
  (path) => {
    let node: unknown = document.contents
    let offset: number | undefined
    for (const part of path) {
      const held: unknown = isAlias(node) ? node.resolve(document) : node
      if (isMap(held)) {
        const pair = held.items.find(({ key }) => isScalar(key) && String(key.value) === String(part))
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
