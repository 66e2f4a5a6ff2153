import type { Document } from 'yaml'

/** Returns the first problem of a parsed YAML text with its line, or undefined. */
export function yamlProblem({ errors, warnings }: Document.Parsed): string | undefined {
  const [wrong] = [...errors, ...warnings]
  if (!wrong) return undefined
  const line = wrong.linePos?.[0].line
  const advice = wrong.code === 'BLOCK_AS_IMPLICIT_KEY' ? '; a text that contains ": " needs quotes' : ''
  return `${line === undefined ? '' : `line ${line}: `}${wrong.message.split(/ at line \d|\n/)[0]}${advice}`
}
