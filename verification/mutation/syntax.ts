import { parseSync } from 'vite'

/** A node of the syntax tree, by the names of ESTree. */
export interface Node {
  type: string
  start: number
  end: number
  [key: string]: unknown
}

/** @throws Error when the text is no TypeScript. */
export function parse(file: string, text: string): Node {
  const { program, errors } = parseSync(file, text)
  if (errors[0]) throw new Error(`${file} cannot be read: ${errors[0].message}`)
  return program as unknown as Node
}

export const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value && 'start' in value

export const nodesIn = (value: unknown): Node[] => (Array.isArray(value) ? value.flatMap(nodesIn) : isNode(value) ? [value] : [])

export const childrenOf = (node: Node): Node[] => Object.values(node).flatMap(nodesIn)

/** The node and all below it, the outer ones first. */
export const allIn = (node: Node): Node[] => [node, ...childrenOf(node).flatMap(allIn)]

export const nameOf = (value: unknown): string | undefined => (isNode(value) && typeof value.name === 'string' ? value.name : undefined)

export const isFunction = ({ type }: Node): boolean => /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(type)

/** Returns the dotted path of a callee, whose last names are compared: `outbox.actions.add` ends with `actions.add` and with `add`. */
export function pathOf(value: unknown): string {
  if (!isNode(value)) return ''
  if (value.type !== 'MemberExpression') return nameOf(value) ?? ''
  return [pathOf(value.object), nameOf(value.property) ?? ''].filter((part) => part !== '').join('.')
}

export const isCallOf = (node: Node, call: string): boolean => {
  const path = node.type === 'CallExpression' ? pathOf(node.callee) : ''
  return path === call || path.endsWith(`.${call}`)
}
