import { childrenOf, isFunction, isNode, type Node, nameOf, nodesIn, parse } from './syntax.ts'

/** Where Stryker says that a mutant is: lines and columns from 1. */
export interface Location {
  start: { line: number; column: number }
  end: { line: number; column: number }
}

/** Identifies a mutant independently of its line and of the names of the locals in it. */
export interface MutantName {
  /** Below the repository. */
  file: string
  /** The innermost function around it that has a name; `module` outside of all. */
  in: string
  /** As Stryker calls it: `ConditionalExpression`. */
  mutator: string
  /** The mutated expression: white space is one space, and each local is `_`. */
  text: string
  /** The replacement, in the same form. */
  becomes: string
}

/** Gives the mutants of one file their names. Parses the file once. */
export function openNames(
  file: string,
  source: string,
): (mutant: { mutator: string; replacement: string; location: Location }) => MutantName {
  const program = parse(file, source)
  const lineStarts = [0, ...[...source.matchAll(/\n/g)].map(({ index }) => index + 1)]
  const offset = ({ line, column }: Location['start']): number => (lineStarts[line - 1] ?? 0) + column - 1
  const locals = localsOf(program)

  return ({ mutator, replacement, location }) => {
    const [start, end] = [offset(location.start), offset(location.end)]
    return {
      file,
      in: functionAround(program, start, end) ?? 'module',
      mutator,
      text: withoutLocals(source.slice(start, end), locals),
      becomes: withoutLocals(replacement, locals),
    }
  }
}

/** @returns The key under which a survivor's answer is found. */
export const keyOf = ({ file, in: name, mutator, text, becomes }: MutantName): string => [file, name, mutator, text, becomes].join('\n')

function functionAround(program: Node, start: number, end: number): string | undefined {
  let found: string | undefined
  const visit = (node: Node, given: string | undefined): void => {
    if (node.start > start || node.end < end) return
    if (isFunction(node)) found = nameOf(node.id) ?? given ?? found
    const name = node.type === 'VariableDeclarator' ? nameOf(node.id) : undefined
    const key = node.type === 'Property' || node.type === 'MethodDefinition' ? nameOf(node.key) : undefined
    for (const child of childrenOf(node)) visit(child, name ?? key)
  }
  visit(program, undefined)
  return found
}

/** Every name that something below the top of the module declares: parameters, variables, inner functions. */
function localsOf(program: Node): ReadonlySet<string> {
  const locals = new Set<string>()
  const declare = (pattern: unknown): void => {
    if (!isNode(pattern)) return
    const name = pattern.type === 'Identifier' ? nameOf(pattern) : undefined
    if (name !== undefined) locals.add(name)
    if (pattern.type === 'Property') declare(pattern.value)
    else if (pattern.type === 'AssignmentPattern') declare(pattern.left)
    else if (pattern.type !== 'Identifier') childrenOf(pattern).forEach(declare)
  }
  const visit = (node: Node, isInside: boolean): void => {
    const isInner = isFunction(node)
    if (isInner) nodesIn(node.params).forEach(declare)
    if (isInside && node.type === 'VariableDeclarator') declare(node.id)
    if (node.type === 'CatchClause') declare(node.param)
    for (const child of childrenOf(node)) visit(child, isInside || isInner)
  }
  visit(program, false)
  return locals
}

/** A name after a dot, or before a colon, is no local: it is what the code around it knows. */
function withoutLocals(text: string, locals: ReadonlySet<string>): string {
  const words = text.replaceAll(/\s+/g, ' ').trim()
  return words.replaceAll(/(?<![\w$.'"`-])(?:\.\.\.)?([A-Za-z_$][\w$]*)(?!['"`]|\s*:(?!:))/g, (word, name: string) =>
    locals.has(name) ? word.replace(name, '_') : word,
  )
}
