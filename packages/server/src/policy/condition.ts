import type { ConditionFailure } from '@countersign/core'
import { matchesGlob } from '@countersign/core'
import { type ASTNode, Environment, EvaluationError, type Limits } from '@marcbachmann/cel-js'
import { addAsciiCase } from './ascii-case.ts'
import { FACTS, type Facts } from './facts.ts'
import { chargeOf, childrenOf, type Meter } from './meter.ts'
import { addMetering, type MeteredExpression, meterExpression } from './metered.ts'
import { addNumbers } from './numbers.ts'
import { withWrittenNames } from './own-names.ts'
import { addZonedTime } from './zoned-time.ts'

/** A condition that was parsed and checked. */
export type Condition = (facts: Facts, meter: Meter) => boolean | ConditionFailure

/** Why a condition cannot be used, in words that name the place; `at` is that place, as an index into the text. */
export interface ConditionProblem {
  problem: string
  at?: number
}

/** `ast`: the condition as it was parsed, for what looks at its parts. */
export type ReadCondition = { condition: Condition; ast: ASTNode } | ConditionProblem

const INSTEAD: Record<string, string> = {
  matches: 'a regular expression may take forever; use startsWith, endsWith, contains or fits("a*b")',
}

const ENVIRONMENT = makeEnvironment({ maxAstNodes: 250, maxDepth: 24, maxListElements: 100, maxMapEntries: 100, maxCallArguments: 8 })
/** For the same expressions with a macro around each part. */
const METERED = makeEnvironment({ maxAstNodes: 1_000, maxDepth: 62, maxListElements: 100, maxMapEntries: 100, maxCallArguments: 8 })
for (const add of [addMetering, addAsciiCase, addZonedTime]) add(METERED)

function makeEnvironment(limits: Partial<Limits>): Environment {
  const environment = new Environment({ homogeneousAggregateLiterals: false, limits })
  for (const [name, { type }] of Object.entries(FACTS)) environment.registerVariable(name, type)
  environment.registerFunction('string.fits(string): bool', (text: string, glob: string) => matchesGlob(glob, text))
  addNumbers(environment)
  return environment
}

/**
 * Parses the `when` of a rule: a CEL expression that returns true or false.
 * @example
 * const read = readCondition('args.amount > 500')
 * if ('condition' in read) read.condition(factsOf(call), new Meter())
 */
export function readCondition(text: string): ReadCondition {
  try {
    const expression = ENVIRONMENT.parse(text)
    const unusable = problemOf(expression.ast)
    if (unusable) return unusable
    const checked = expression.check()
    if (!checked.valid) throw checked.error
    if (checked.type !== 'bool' && checked.type !== 'dyn') return { problem: `gives ${checked.type}, not true or false` }
    const metered = meterExpression(METERED, expression.ast, text)
    const names = namesIn(expression.ast)
    return { condition: (facts, own) => evaluate(metered, facts.values(names), own), ast: expression.ast }
  } catch (error) {
    const place = placeOf(error)
    return (place !== undefined && foreignAt(text, place)) || { problem: wordsOf(error), ...(place !== undefined && { at: place }) }
  }
}

/** Operators and values of other languages, each with the one that a condition takes. */
const FOREIGN: ReadonlyMap<string, string> = new Map([
  ['=', '=='],
  ['===', '=='],
  ['is', '=='],
  ['!==', '!='],
  ['<>', '!='],
  ['&', '&&'],
  ['and', '&&'],
  ['AND', '&&'],
  ['|', '||'],
  ['or', '||'],
  ['OR', '||'],
  ['not', '!'],
  ['NOT', '!'],
  ['True', 'true'],
  ['False', 'false'],
  ['None', 'null'],
  ['nil', 'null'],
  ['undefined', 'null'],
  ['“', '"'],
  ['”', '"'],
  ['„', '"'],
])

/** Returns the problem of an operator or value of another language that the parser stumbled over; undefined for anything else. */
function foreignAt(text: string, place: number): ConditionProblem | undefined {
  for (const { 0: written, index } of text.matchAll(/(?<![.\w])\w+|[=!<>&|]+|[“”„]/g)) {
    const instead = FOREIGN.get(written)
    const end = index + written.length
    // The parser reports the place of the word itself, or of the next one.
    const isThere = index <= place && (place < end || text.slice(end, place).trim() === '')
    if (instead !== undefined && isThere)
      return { problem: `write ${instead} in place of ${written} (at character ${index + 1})`, at: index }
  }
  return undefined
}

/** Collects the facts that an expression names. */
function namesIn(node: ASTNode, found = new Set<string>()): string[] {
  if (node.op === 'id' && node.args in FACTS) found.add(node.args)
  for (const child of childrenOf(node)) namesIn(child, found)
  return [...found]
}

type Values = ReadonlyMap<string, unknown>

function evaluate(expression: MeteredExpression, values: Values, own: Meter): boolean | ConditionFailure {
  own.begin()
  let answer: unknown
  let failed: string | undefined
  try {
    answer = expression.run(values, own)
  } catch (error) {
    failed = failureOf(error, expression.positionOf)
  }
  // Checked last: `a || b` and `exists` continue after an error.
  if (!own.end()) return { failed: 'it would take too long for arguments of this size' }
  if (failed !== undefined) return { failed }
  return typeof answer === 'boolean' ? answer : { failed: 'it gave something else than true or false' }
}

/** Returns why an expression is not supported; undefined when it may be. */
function problemOf(node: ASTNode): ConditionProblem | undefined {
  if (node.op === 'call' || node.op === 'rcall') {
    const [name] = node.args
    if (chargeOf(name) === undefined)
      return at(node, `${name}() cannot be used in a condition${name in INSTEAD ? `: ${INSTEAD[name]}` : ''}`)
  }
  if (node.op === '.' && node.args[0].op === 'id') {
    const [{ args: variable }, field] = node.args
    const fields = FACTS[variable as keyof typeof FACTS]?.fields
    if (fields && !fields.includes(field)) return at(node, `${variable} has no ${field}; it has ${fields.join(', ')}`)
  }
  for (const child of childrenOf(node)) {
    const problem = problemOf(child)
    if (problem) return problem
  }
  return undefined
}

const at = ({ pos }: ASTNode, problem: string): ConditionProblem => ({ problem: `${problem} (at character ${pos + 1})`, at: pos })

/** The parser's own words for the places where most people stop typing. */
const PLAINLY: Readonly<Record<string, string>> = { 'Unexpected token: EOF': 'it ends where a value or a bracket is missing' }

/** Returns the message of the parser or the type checker, without its drawing of the line. */
function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const summary = 'summary' in error && typeof error.summary === 'string' ? error.summary : error.message
  const place = placeOf(error)
  return placed(PLAINLY[summary] ?? summary, place)
}

const placed = (words: string, place: number | undefined): string => (place === undefined ? words : `${words} (at character ${place + 1})`)

/** Errors of the evaluator that name operators, functions and kinds of values, but no value. */
const WITHOUT_VALUES: ReadonlySet<string> = new Set([
  'division_by_zero',
  'double_conversion_error',
  // The code of our own refusals: see CONVERSIONS.
  'evaluation_error',
  'index_out_of_range',
  'int_conversion_error',
  'invalid_comparison_type',
  'invalid_comprehension_range',
  'invalid_condition_type',
  'invalid_list_element_type',
  'invalid_logical_operand',
  'invalid_timestamp',
  'modulo_by_zero',
  'no_matching_overload',
  'no_such_overload',
  'uint_conversion_error',
])

/** Those that repeat a value, without it. */
const INSTEAD_OF_VALUES: ReadonlyMap<string, string> = new Map([
  ['bool_conversion_error', 'bool() conversion error'],
  ['index_out_of_bounds', 'No such key: index out of bounds'],
  ['invalid_duration', 'Invalid duration string'],
  ['no_such_key', 'No such key'],
  ['numeric_overflow', 'integer overflow'],
])

/**
 * Returns why an evaluation failed. Repeats what the condition itself says, and never a value of the call: the sentence becomes the reason of
 * a verdict, which is shown and kept where the arguments are not.
 */
function failureOf(error: unknown, positionOf: (at: number) => number): string {
  const place = placeOf(error)
  return placed(evaluationWords(error), place === undefined ? undefined : positionOf(place))
}

function evaluationWords(error: unknown): string {
  if (!(error instanceof EvaluationError)) {
    const isTimeZone = error instanceof RangeError && error.message.startsWith('Invalid time zone')
    return isTimeZone ? 'Invalid time zone' : OTHER_FAILURE
  }
  const { code, summary, node } = error
  // A key after a dot is written in the condition; one in brackets may be a value.
  if (code === 'no_such_key' && (node?.op === '.' || node?.op === '.?')) return `No such key: ${node.args[1]}`
  return WITHOUT_VALUES.has(code) ? withWrittenNames(summary) : (INSTEAD_OF_VALUES.get(code) ?? OTHER_FAILURE)
}

const OTHER_FAILURE = 'it met a value that it cannot use'

function placeOf(error: unknown): number | undefined {
  const range = error instanceof Error && 'range' in error ? (error.range as { start: number } | undefined) : undefined
  return range?.start
}
