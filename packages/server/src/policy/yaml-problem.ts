import { type Document, type ErrorCode, type LineCounter, visit } from 'yaml'

/** Advice for parser errors whose message names only the unexpected character. */
const ADVICE: Partial<Record<ErrorCode, string>> = {
  BAD_ALIAS: 'a text that begins with * or & needs quotes',
  BAD_SCALAR_START: 'a text that begins with @, ` or % needs quotes',
  BLOCK_AS_IMPLICIT_KEY: 'a text that contains ": " needs quotes',
  MULTILINE_IMPLICIT_KEY: 'a key needs a colon and a space after it',
  TAG_RESOLVE_FAILED: 'a text that begins with ! needs quotes',
  UNEXPECTED_TOKEN: 'a text with { } or quotation marks in it needs quotes around the whole',
}

/** Returns the first problem of a parsed YAML text with its line, or undefined. */
export function yamlProblem(document: Document.Parsed, lineCounter: LineCounter): string | undefined {
  const [wrong, next] = [...document.errors, ...document.warnings]
  if (!wrong) return placeholderWithoutQuotes(document, lineCounter)
  // The parser tells of the line above, and of a key that goes on in the next line.
  const lineAt = (offset: number) => (offset < 0 ? undefined : lineCounter.linePos(offset).line)
  const deeper = wrong.code === 'BLOCK_AS_IMPLICIT_KEY' && next?.code === 'MULTILINE_IMPLICIT_KEY' ? lineAt(next.pos[1]) : undefined
  if (deeper !== undefined) return `line ${deeper}: is indented deeper than the line above, which has a value: give both the same indent`
  const line = lineAt(wrong.pos[0])
  const advice = ADVICE[wrong.code]
  const words = wrong.message.split(/ at line \d|\n/)[0]
  return `${line === undefined ? '' : `line ${line}: `}${words}${advice === undefined ? '' : `; ${advice}`}`
}

/** YAML reads `{customer}` as a map with an empty value, which would be sent in place of the argument. */
function placeholderWithoutQuotes(document: Document.Parsed, lineCounter: LineCounter): string | undefined {
  let problem: string | undefined
  visit(document, {
    Map(_, map) {
      const [first] = map.items
      if (first?.value !== null || !map.range) return undefined
      const { line } = lineCounter.linePos(map.range[0])
      problem = `line ${line}: {${map.items.map(({ key }) => String(key)).join(', ')}} has no values: a text such as "{${first.key}}" needs quotes`
      return visit.BREAK
    },
  })
  return problem
}
