import { allIn, isCallOf, isFunction, isNode, type Node, nameOf, nodesIn, parse, pathOf } from './syntax.ts'

/**
 * One change to the code, by names that other code knows: functions, properties, columns, checkpoints. It fits whatever locals are called
 * and however lines are broken.
 */
export type CodeMutant = {
  /** Below `packages/server/src`. */
  file: string
  /** The function, or the constant, that is changed. */
  in: string
} & Change

export type Change =
  /** Statements that call it go. With `at` only the one in this place, from 0. */
  | { do: 'remove call'; call: string; at?: number }
  /** The statement that calls it stands there twice. */
  | { do: 'repeat call'; call: string }
  /** The statement that calls it also stands before this checkpoint. */
  | { do: 'call before'; call: string; checkpoint: string }
  /** The value of the expression that calls it, `yield*` and `await` included. */
  | { do: 'replace call'; call: string; by: string }
  /** A `.where(…)` about this column goes. */
  | { do: 'remove guard'; column: string }
  /** The condition of each `if` or `? :` that reads or calls this; with `leadsTo`, of each that then calls that. */
  | { do: 'set condition'; reads: string; to: boolean }
  | { do: 'set condition'; leadsTo: string; to: boolean }
  /** Each comparison that reads this. */
  | { do: 'set comparison'; reads: string; to: boolean; at?: number }
  /** Each `x.property`. */
  | { do: 'replace read'; property: string; by: string }
  /** The value of a property in an object, by its path; `$` is the value as it is. */
  | { do: 'replace value'; property: readonly string[]; by: string }
  /** The new body of the function; an expression for an arrow function with an expression body. */
  | { do: 'replace body'; by: string }
  /** A statement at the start of the function. Its parameters are `arguments`. */
  | { do: 'begin with'; statement: string }

interface Edit {
  start: number
  end: number
  text: string
}

/** @throws Error when the code has nothing that the mutant names. */
export function applyMutant(text: string, mutant: CodeMutant): string {
  const program = parse(mutant.file, text)
  const scope = findScope(program, mutant)
  const edits = editsOf(scope, text, mutant)
  if (edits.length === 0) throw new Error(`${mutant.file} has nothing to "${mutant.do}" in ${mutant.in}: ${JSON.stringify(mutant)}`)
  const mutated = edits
    .sort((a, b) => b.start - a.start)
    .reduce((changed, { start, end, text }) => changed.slice(0, start) + text + changed.slice(end), text)
  parse(mutant.file, mutated)
  return mutated
}

/** Returns the function or constant of that name; a method or a function in an object only if there is no such declaration. */
function findScope(program: Node, { file, in: name }: CodeMutant): Node {
  const nodes = allIn(program)
  const declared = nodes.flatMap((node) => {
    if (node.type === 'FunctionDeclaration') return nameOf(node.id) === name ? [node] : []
    return node.type === 'VariableDeclarator' && nameOf(node.id) === name ? nodesIn(node.init) : []
  })
  const members = nodes
    .filter(({ type, key }) => /^(Property|MethodDefinition)$/.test(type) && nameOf(key) === name)
    .flatMap(({ value }) => nodesIn(value).filter(isFunction))
  const scopes = declared.length > 0 ? declared : members
  const [scope] = scopes
  if (!scope || scopes.length > 1) throw new Error(`${file} has ${scopes.length} functions or constants named ${name}, not one`)
  return scope
}

const replace = (nodes: readonly Node[], text: string): Edit[] => nodes.map(({ start, end }) => ({ start, end, text }))

const pick = (nodes: Node[], at: number | undefined): Node[] => (at === undefined ? nodes : nodes.slice(at, at + 1))

function editsOf(scope: Node, text: string, mutant: CodeMutant): Edit[] {
  const nodes = allIn(scope)
  const sourceOf = ({ start, end }: Node): string => text.slice(start, end)
  switch (mutant.do) {
    case 'remove call':
      return replace(pick(statementsCalling(nodes, mutant.call), mutant.at), ';')
    case 'repeat call':
      return statementsCalling(nodes, mutant.call).flatMap((one) => replace([one], `{ ${sourceOf(one)}; ${sourceOf(one)}; }`))
    case 'call before':
      return callBefore(scope, nodes, sourceOf, mutant)
    case 'replace call':
      return replace(outermostOf(nodes, mutant.call), mutant.by)
    case 'remove guard':
      return nodes.filter((node) => isGuardOf(node, mutant.column, sourceOf)).map(withoutCall)
    case 'set condition':
      return replace(conditionsOf(nodes, mutant), String(mutant.to))
    case 'set comparison': {
      const comparisons = nodes.filter(({ type, operator }) => type === 'BinaryExpression' && /^([<>]=?|[!=]==?)$/.test(String(operator)))
      const found = comparisons.filter((node) => mentions(node, mutant.reads))
      return replace(pick(found, mutant.at), String(mutant.to))
    }
    case 'replace read':
      return replace(
        nodes.filter(({ type, property }) => type === 'MemberExpression' && nameOf(property) === mutant.property),
        mutant.by,
      )
    case 'replace value':
      return valuesAt(nodes, mutant.property).map((node) => ({ ...node, text: mutant.by.replaceAll('$', () => `(${sourceOf(node)})`) }))
    case 'replace body':
      return nodes
        .filter(isFunction)
        .slice(0, 1)
        .flatMap(({ body }) => replace(nodesIn(body), mutant.by))
    case 'begin with':
      return nodes
        .filter(isFunction)
        .slice(0, 1)
        .flatMap(({ body }) => nodesIn(body))
        .map(({ start }) => ({ start: start + 1, end: start + 1, text: ` ${mutant.statement};` }))
  }
}

/** The innermost statements that call it. */
const statementsCalling = (nodes: readonly Node[], call: string): Node[] =>
  nodes.filter(
    (node) =>
      node.type === 'ExpressionStatement' &&
      allIn(node).some((inner) => isCallOf(inner, call)) &&
      !allIn(node).some((inner) => inner !== node && inner.type === 'ExpressionStatement'),
  )

/** The statement that calls it, as it stands in the body of the function, goes before a checkpoint as well. */
function callBefore(
  scope: Node,
  nodes: readonly Node[],
  sourceOf: (node: Node) => string,
  { call, checkpoint }: { call: string; checkpoint: string },
): Edit[] {
  const statements = nodesIn(isNode(scope.body) ? scope.body.body : undefined)
  const moved = statements.findLast((node) => allIn(node).some((inner) => isCallOf(inner, call)))
  const places = nodes.filter(
    (node) => node.type === 'ExpressionStatement' && isNode(node.expression) && isCheckpoint(node.expression, checkpoint),
  )
  return moved ? places.map(({ start }) => ({ start, end: start, text: `${sourceOf(moved)};` })) : []
}

const isCheckpoint = (node: Node, name: string): boolean =>
  isCallOf(node, 'checkpoint') && nodesIn(node.arguments).some(({ value }) => value === name)

/** The call with the `yield*` or `await` before it. */
function outermostOf(nodes: readonly Node[], call: string): Node[] {
  const calls = nodes.filter((node) => isCallOf(node, call))
  return calls.map((node) => nodes.find(({ type, argument }) => /^(Yield|Await)Expression$/.test(type) && argument === node) ?? node)
}

/** A column is named by itself, or in a piece of SQL. */
function isGuardOf(node: Node, column: string, sourceOf: (node: Node) => string): boolean {
  if (node.type !== 'CallExpression' || !pathOf(node.callee).endsWith('where')) return false
  const [first] = nodesIn(node.arguments)
  if (first?.type === 'Literal') return first.value === column
  return first?.type === 'TaggedTemplateExpression' && new RegExp(`\\b${column}\\b`).test(sourceOf(first))
}

/** `query.where(…)` is `query` then. */
function withoutCall({ callee, end }: Node): Edit {
  const object = isNode(callee) && isNode(callee.object) ? callee.object : undefined
  if (!object) throw new Error('a guard is a method of a query')
  return { start: object.end, end, text: '' }
}

function conditionsOf(nodes: readonly Node[], wanted: { reads: string } | { leadsTo: string }): Node[] {
  const choices = nodes.filter(({ type }) => type === 'IfStatement' || type === 'ConditionalExpression')
  const found = choices.filter(({ test, consequent }) =>
    'reads' in wanted
      ? isNode(test) && mentions(test, wanted.reads)
      : isNode(consequent) && allIn(consequent).some((node) => isCallOf(node, wanted.leadsTo)),
  )
  return found.flatMap(({ test }) => nodesIn(test))
}

/** A name after a dot, of a call, of a value that a pattern takes out of an object, or a literal. */
const mentions = (node: Node, name: string): boolean =>
  allIn(node).some((inner) => isCallOf(inner, name) || nameOf(inner) === name || inner.value === name)

function valuesAt(nodes: readonly Node[], [name, ...rest]: readonly string[]): Node[] {
  const values = nodes
    .filter(({ type, key, value }) => type === 'Property' && nameOf(key) === name && isNode(value))
    .flatMap(({ value }) => nodesIn(value))
  return rest.length === 0 ? values : values.flatMap((value) => valuesAt(allIn(value), rest))
}
