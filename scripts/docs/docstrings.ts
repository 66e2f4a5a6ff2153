import { globSync, readFileSync } from 'node:fs'
import { parseSync } from 'vite'

/** Returns the docstrings of one object literal in a schema, by key. */
export type FieldTexts = ReadonlyMap<string, string>

interface Node {
  type: string
  start: number
  end: number
  [key: string]: unknown
}

/**
 * The docstrings of every Zod object in these files, found by the keys of the object: a JSON schema made from it has the same keys, and no
 * docstrings.
 */
export function readFieldTexts(root: string, patterns: readonly string[]): (keys: readonly string[]) => FieldTexts {
  const found = new Map<string, Map<string, string>>()
  for (const path of globSync([...patterns], { cwd: root }).filter((path) => !/\.test\./.test(path))) {
    const source = readFileSync(`${root}/${path}`, 'utf8')
    const { program, comments } = parseSync(path, source)
    const textBefore = (at: number) => docstringBefore(source, comments, at)
    const constants = objectConstants(program as unknown as Node)
    walk(program as unknown as Node, (node) => {
      if (!isZodObject(node)) return
      const [shape] = node.arguments as Node[]
      const properties = withSpreads((shape?.properties as Node[] | undefined) ?? [], constants)
      const texts = new Map<string, string>()
      for (const property of properties) {
        const key = property.key as (Node & { name?: string; value?: string }) | undefined
        const name = key?.name ?? key?.value
        if (name !== undefined) texts.set(name, textBefore(property.start) ?? '')
      }
      const id = idOf([...texts.keys()])
      const known = found.get(id)
      // The same keys twice: each text comes from where there is one. Of two different texts neither is taken: it may be of the other object.
      for (const [name, text] of known ?? []) if (text !== '') texts.set(name, ['', text].includes(texts.get(name) ?? '') ? text : '')
      found.set(id, texts)
    })
  }
  return (keys) => found.get(idOf(keys)) ?? new Map()
}

/** The object literals that the file gives a name. */
function objectConstants(program: Node): ReadonlyMap<string, Node[]> {
  const found = new Map<string, Node[]>()
  walk(program, (node) => {
    const { id, init } = node as Node & { id?: { name?: string }; init?: Node | null }
    if (node.type === 'VariableDeclarator' && id?.name && init?.type === 'ObjectExpression') found.set(id.name, init.properties as Node[])
  })
  return found
}

/** `{ a, ...SHARED }` has the properties of `SHARED`, too. */
const withSpreads = (properties: readonly Node[], constants: ReadonlyMap<string, Node[]>): Node[] =>
  properties.flatMap((property) =>
    property.type === 'SpreadElement' ? (constants.get((property.argument as { name?: string }).name ?? '') ?? []) : [property],
  )

const idOf = (keys: readonly string[]) => [...keys].sort().join(' ')

const isZodObject = (node: Node): boolean => {
  if (node.type !== 'CallExpression') return false
  const callee = node.callee as Node
  const name = (callee.property as { name?: string } | undefined)?.name
  const object = (callee.object as { name?: string } | undefined)?.name
  return object === 'z' && ['object', 'strictObject', 'looseObject'].includes(name ?? '')
}

function walk(node: Node, visit: (node: Node) => void): void {
  visit(node)
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value])
      if (typeof child === 'object' && child !== null && 'type' in child) walk(child as Node, visit)
  }
}

function docstringBefore(source: string, comments: readonly { type: string; value: string; end: number }[], at: number) {
  const comment = comments.find(({ type, end }) => type === 'Block' && end <= at && source.slice(end, at).trim() === '')
  return comment?.value.startsWith('*') ? plainText(comment.value) : undefined
}

/** A docstring without its stars, as one paragraph for each of its own. */
export const plainText = (comment: string): string =>
  comment
    .replace(/^\*/, '')
    .split('\n')
    .map((line) => line.replace(/^\s*\*? ?/, '').trimEnd())
    .join('\n')
    .replace(/\{@link (\w+)\}/g, '`$1`')
    .trim()
