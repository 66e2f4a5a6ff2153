import type { ASTNode } from '@marcbachmann/cel-js'
import { chargeOf, childrenOf } from './meter.ts'

/** Any element of a list, as a step of a path. */
export const ELEMENT = Symbol('element')
export type Step = string | typeof ELEMENT

/** A place where a condition reads a part of the arguments. */
export interface ArgumentUse {
  /** From the arguments on: `args.lines[0].sku` is `['lines', ELEMENT, 'sku']`. */
  path: readonly Step[]
  /** As an index into the text. */
  at: number
  /** It only asks whether the part is there: `has(args.amount)`, `"amount" in args`. */
  isAsked: boolean
}

/** Variables that stand for a part of the arguments: `args` itself, and those of loops over lists in it. */
type Scope = ReadonlyMap<string, readonly Step[] | undefined>

/** Returns where a condition reads the arguments. Parts that it names by a computed key are left out. */
export function usesOfArguments(ast: ASTNode): ArgumentUse[] {
  const uses: ArgumentUse[] = []
  collect(ast, new Map([['args', []]]), uses)
  return uses
}

/** True where a condition names a variable, such as `tool`. */
export const namesVariable = (node: ASTNode, name: string): boolean =>
  (node.op === 'id' && node.args === name) || childrenOf(node).some((child) => namesVariable(child, name))

/** A path as people write it in a condition: `args.lines[0].sku`. */
export const writtenPath = (path: readonly Step[]): string =>
  path.reduce<string>(
    (text, step) => text + (step === ELEMENT ? '[0]' : /^[A-Za-z_]\w*$/.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`),
    'args',
  )

function collect(node: ASTNode, scope: Scope, uses: ArgumentUse[]): void {
  const path = pathOf(node, scope)
  if (path) {
    if (node.op !== 'id') uses.push({ path, at: node.start, isAsked: false })
    return
  }
  if (node.op === 'call' && node.args[0] === 'has') {
    const [asked] = node.args[1]
    const askedPath = asked && pathOf(asked, scope)
    if (asked && askedPath) uses.push({ path: askedPath, at: asked.start, isAsked: true })
    return
  }
  if (node.op === 'in') {
    const [key, of] = node.args
    const within = pathOf(of, scope)
    // In a list the text would be an element, not a name.
    if (within && key.op === 'value' && typeof key.args === 'string')
      uses.push({ path: [...within, key.args], at: key.start, isAsked: true })
  }
  if (node.op === 'rcall' && chargeOf(node.args[0]) === 'loop') {
    const [, list, [variable, ...inner]] = node.args
    collect(list, scope, uses)
    const listPath = pathOf(list, scope)
    const name = variable?.op === 'id' ? variable.args : ''
    const within = new Map(scope).set(name, listPath && [...listPath, ELEMENT])
    for (const part of inner) collect(part, within, uses)
    return
  }
  for (const child of childrenOf(node)) collect(child, scope, uses)
}

/** The path of a node that is a part of the arguments. Undefined for anything else. */
function pathOf(node: ASTNode, scope: Scope): readonly Step[] | undefined {
  if (node.op === 'id') return scope.get(node.args)
  if (node.op === '.' || node.op === '.?') {
    const of = pathOf(node.args[0], scope)
    return of && [...of, node.args[1]]
  }
  if (node.op !== '[]' && node.op !== '[?]') return undefined
  const [holder, key] = node.args
  const of = pathOf(holder, scope)
  if (!of || key.op !== 'value') return undefined
  if (typeof key.args === 'string') return [...of, key.args]
  return typeof key.args === 'bigint' || typeof key.args === 'number' ? [...of, ELEMENT] : undefined
}
