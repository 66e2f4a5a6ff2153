import { type Document, isAlias, type Node, visit } from 'yaml'

/** Aliases of aliases grow without end; a policy that people can read copies far less. */
const MAX_COPIED = 5_000

/**
 * Puts a copy of what it stands for in the place of each alias, and takes the anchors away, so that a change of one rule is none of another.
 * Returns false where an alias stands for nothing, for what it is in, or for too much.
 */
export function writeOutAliases(document: Document): boolean {
  let copied = 0
  let isWhole = true
  visit(document, {
    Alias(_, alias, path) {
      const original = alias.resolve(document)
      if (!original || path.some((node) => node === original) || copied > MAX_COPIED) {
        isWhole = false
        return visit.BREAK
      }
      const copy = original.clone() as typeof original
      copied += withoutAnchors(copy)
      copy.commentBefore = alias.commentBefore ?? null
      copy.comment = alias.comment ?? null
      copy.spaceBefore = alias.spaceBefore ?? false
      return copy
    },
  })
  if (isWhole) withoutAnchors(document)
  return isWhole
}

/** True where a part of the document stands in for another one. */
export function hasAliases(document: Document): boolean {
  let found = false
  visit(document, {
    Alias() {
      found = true
      return visit.BREAK
    },
  })
  return found
}

/** Takes the anchors away, and returns the number of nodes. */
function withoutAnchors(of: Document | Node): number {
  let count = 0
  visit(of, {
    Node(_, node) {
      count++
      if (!isAlias(node)) delete node.anchor
    },
  })
  return count
}
