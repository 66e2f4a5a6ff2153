import {
  type Alias,
  type Document,
  isAlias,
  isNode,
  isScalar,
  Lexer,
  type LineCounter,
  type Node,
  parseDocument,
  visit,
  YAMLParseError,
} from 'yaml'

/**
 * Parses a text without the parser's own check of keys, which {@link refuseRepeatedKeys} replaces, and without pretty errors: one shows its
 * line, which costs as much as the line is long. Nor does an error find out where in this program it was made, which takes longer than the
 * parsing: a text of faults makes hundreds of thousands.
 */
export function parseWithManyFaults(text: string, lineCounter: LineCounter): Document.Parsed {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  try {
    return parseDocument(text, { prettyErrors: false, lineCounter, uniqueKeys: false })
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

/** As many as 1,000 rules have, with 100 names, values and marks each. The 20,000 values of a body in JSON are fewer. */
const MAX_PARTS = 100_000
/** Begins white space, a comment, and what the lexer adds. */
const NO_PART = /^[ \t\r\n#\ufeff\x02\x18\x1f]/

/** Returns the problem of a text that takes long to parse: the time depends on its parts more than on its characters. */
export function tooManyParts(text: string): string | undefined {
  let count = 0
  for (const lexeme of new Lexer().lex(text)) {
    if (!NO_PART.test(lexeme) && ++count > MAX_PARTS)
      return `has more than ${MAX_PARTS.toLocaleString('en')} parts: names, values, and marks such as : and {`
  }
  return undefined
}

/**
 * Adds an error for the first key that a map has twice, to a document that was parsed with `uniqueKeys: false`. The parser's own check
 * compares each key with all before it: 60,000 keys, which fit into a request, would hold up the server for a minute.
 */
export function refuseRepeatedKeys(document: Document.Parsed): void {
  const aliases = resolveAliases(document)
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

/** Returns what each alias stands for. The library would look through all anchors for each of them. */
export function resolveAliases(document: Document.Parsed): ReadonlyMap<Alias, Node | undefined> {
  const anchors = new Map<string, Node>()
  const found = new Map<Alias, Node | undefined>()
  visit(document, {
    Value(_, node) {
      if (node.anchor !== undefined) anchors.set(node.anchor, node)
    },
    Alias(_, alias) {
      found.set(alias, anchors.get(alias.source))
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
