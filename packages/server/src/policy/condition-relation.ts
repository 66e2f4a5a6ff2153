import type { ASTNode } from '@marcbachmann/cel-js'
import { readCondition } from './condition.ts'

/** The requirement that a part of a condition makes of one value, where that is a comparison with literals. */
type Demand = { kind: 'one of'; values: ReadonlySet<Literal> } | { kind: 'other than'; value: Literal } | Range
interface Range {
  kind: 'between'
  from: number
  to: number
  isFromIn: boolean
  isToIn: boolean
}
type Literal = string | number | boolean

/** One of the parts that have to be true together. */
interface Part {
  /** The text of the compared value, or of the whole part, without spaces. */
  of: string
  demand: Demand | undefined
  /** The parts of which one is enough: `a || b`. */
  either: readonly (readonly Part[])[] | undefined
}

/** The parts of a condition, also by what they compare: only parts about the same value say something of each other. */
interface Parts {
  all: readonly Part[]
  byValue: ReadonlyMap<string, readonly Part[]>
}

/** Says how conditions relate, as far as their comparisons with numbers, texts and lists of them show it. */
export interface Relations {
  /** True where every call that meets `narrow`, or fails in it, also meets `wide` or fails in it. False where that is not known. */
  covers(wide: string, narrow: string): boolean
  /** True where no call can meet both. False where that is not known. */
  areDisjoint(one: string, other: string): boolean
}

/**
 * The maximum of comparisons: of two parts, and of a value with a part. 1,000 rules with five parts each need half of them; a policy made to
 * hold up the server would need a thousand times as many.
 */
const MAX_COMPARISONS = 20_000_000
/** Costs in steps of some 20 ns: of parsing a condition, and of a comparison. */
const STEPS_PER_CHARACTER = 40
const STEPS_PER_COMPARISON = 3

/**
 * Opens the relations of conditions; each condition is parsed once.
 * @param onSteps Receives the cost of each answer, in steps of some 20 ns.
 * @param maxComparisons After as many, nothing more is known of any conditions.
 */
export function openRelations(onSteps: (steps: number) => void = () => undefined, maxComparisons = MAX_COMPARISONS): Relations {
  const known = new Map<string, Parts>()
  let left = maxComparisons
  const partsOf = (condition: string): Parts => {
    let parts = known.get(condition)
    if (!parts) {
      onSteps(condition.length * STEPS_PER_CHARACTER)
      const read = readCondition(condition)
      const all = 'ast' in read ? partsIn(read.ast) : [{ of: condition, demand: undefined, either: undefined }]
      parts = { all, byValue: Map.groupBy(all, ({ of }) => of) }
      known.set(condition, parts)
    }
    return parts
  }
  const ask = (one: string, other: string, isSo: (one: Parts, other: Parts, count: Count) => boolean): boolean => {
    if (left <= 0) return false
    const count: Count = { comparisons: 1 }
    const answer = isSo(partsOf(one), partsOf(other), count)
    left -= count.comparisons
    onSteps(count.comparisons * STEPS_PER_COMPARISON)
    return answer
  }
  return {
    covers: (wide, narrow) => ask(wide, narrow, ({ all }, from, count) => allFollow(all, from, count)),
    areDisjoint: (one, other) => ask(one, other, areApart),
  }
}

/** The comparisons of an answer so far. */
interface Count {
  comparisons: number
}

const sizeOf = (demand: Demand | undefined): number => (demand?.kind === 'one of' ? demand.values.size : 1)

const NONE: readonly Part[] = []
const NO_CHOICES: readonly (readonly Part[])[] = []

function areApart(one: Parts, other: Parts, count: Count): boolean {
  for (const part of one.all) {
    count.comparisons++
    for (const another of other.byValue.get(part.of) ?? NONE) {
      count.comparisons += sizeOf(part.demand) + sizeOf(another.demand)
      if (exclude(part, another)) return true
    }
  }
  return false
}

/** True where a part is met whenever all of these are. A failing part counts as met: both read the same value, so both fail. */
function follows(part: Part, from: Parts, count: Count): boolean {
  count.comparisons++
  for (const given of from.byValue.get(part.of) ?? NONE) {
    count.comparisons += sizeOf(given.demand)
    if (implies(given.demand, part.demand)) return true
  }
  for (const choice of part.either ?? NO_CHOICES) if (allFollow(choice, from, count)) return true
  return false
}

function allFollow(parts: readonly Part[], from: Parts, count: Count): boolean {
  for (const part of parts) if (!follows(part, from, count)) return false
  return true
}

function partsIn(node: ASTNode): Part[] {
  if (node.op === '&&') return node.args.flatMap(partsIn)
  const compared = comparisonOf(node)
  if (compared) return [compared]
  const either = node.op === '||' ? node.args.map(partsIn) : undefined
  return [{ of: textOf(node), demand: undefined, either }]
}

/** A text in quotes, which stays as it is, or space between others. */
const QUOTED_OR_SPACE = /("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|\s+/g

const textOf = ({ input, start, end }: ASTNode): string => input.slice(start, end).replaceAll(QUOTED_OR_SPACE, '$1')

const MIRRORED: Readonly<Record<string, string>> = { '<': '>', '<=': '>=', '>': '<', '>=': '<=', '==': '==', '!=': '!=' }

function comparisonOf(node: ASTNode): Part | undefined {
  if (node.op === 'in') {
    const [value, list] = node.args
    const values = list.op === 'list' ? list.args.map(literalOf) : []
    if (values.length === 0 || values.includes(undefined)) return undefined
    return partOf(value, { kind: 'one of', values: new Set(values.filter((each) => each !== undefined)) })
  }
  if (!(node.op in MIRRORED)) return undefined
  const [left, right] = node.args as [ASTNode, ASTNode]
  const [onRight, onLeft] = [literalOf(right), literalOf(left)]
  if (onRight !== undefined) return partOf(left, demandOf(node.op, onRight))
  return onLeft === undefined ? undefined : partOf(right, demandOf(MIRRORED[node.op] ?? '', onLeft))
}

const partOf = (value: ASTNode, demand: Demand | undefined): Part | undefined => demand && { of: textOf(value), demand, either: undefined }

function literalOf(node: ASTNode): Literal | undefined {
  if (node.op === '-_') {
    const value = literalOf(node.args)
    return typeof value === 'number' ? -value : undefined
  }
  if (node.op !== 'value') return undefined
  const value = typeof node.args === 'bigint' ? Number(node.args) : node.args
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : undefined
}

function demandOf(operator: string, value: Literal): Demand | undefined {
  if (operator === '==') return { kind: 'one of', values: new Set([value]) }
  if (operator === '!=') return { kind: 'other than', value }
  // Texts have an order, too, but nobody compares them so.
  if (typeof value !== 'number') return undefined
  const isIn = operator.endsWith('=')
  return operator.startsWith('<')
    ? { kind: 'between', from: Number.NEGATIVE_INFINITY, to: value, isFromIn: false, isToIn: isIn }
    : { kind: 'between', from: value, to: Number.POSITIVE_INFINITY, isFromIn: isIn, isToIn: false }
}

const allows = (demand: Demand, value: Literal): boolean => {
  if (demand.kind === 'one of') return demand.values.has(value)
  if (demand.kind === 'other than') return value !== demand.value
  return typeof value === 'number' && isAtLeast(value, demand) && isAtMost(value, demand)
}

const isAtLeast = (value: number, { from, isFromIn }: Range): boolean => (isFromIn ? value >= from : value > from)
const isAtMost = (value: number, { to, isToIn }: Range): boolean => (isToIn ? value <= to : value < to)

/** True where every value of the first demand meets the second. */
function implies(given: Demand | undefined, wanted: Demand | undefined): boolean {
  if (!given || !wanted) return given === wanted
  if (given.kind === 'one of') return [...given.values].every((value) => allows(wanted, value))
  // A value of another type fails in a comparison of numbers and in no other, so a range follows only from numbers.
  if (given.kind === 'other than') return wanted.kind === 'other than' && wanted.value === given.value
  if (wanted.kind !== 'between') return false
  const fromFits = given.from > wanted.from || (given.from === wanted.from && (wanted.isFromIn || !given.isFromIn))
  return fromFits && (given.to < wanted.to || (given.to === wanted.to && (wanted.isToIn || !given.isToIn)))
}

/** True where no value meets both parts, which are about the same value. */
function exclude(one: Part, other: Part): boolean {
  if (!one.demand || !other.demand) return false
  const [first, second] = [one.demand, other.demand]
  if (first.kind === 'one of') return ![...first.values].some((value) => allows(second, value))
  if (second.kind === 'one of') return ![...second.values].some((value) => allows(first, value))
  if (first.kind !== 'between' || second.kind !== 'between') return false
  return isApart(first, second) || isApart(second, first)
}

/** True where the first range ends before the second one begins. */
const isApart = (low: Range, high: Range): boolean => low.to < high.from || (low.to === high.from && !(low.isToIn && high.isFromIn))
