import { type ASTNode, EvaluationError } from '@marcbachmann/cel-js'
import { CONVERSIONS } from './conversions.ts'
import { type Charge, CONDITION_FUNCTIONS } from './functions.ts'

/**
 * Limits the cost of conditions, in units of roughly 25 ns. CEL has no endless loops, but nested lists come close: 100,000 elements in the
 * arguments and three nested `all` would take years.
 */
const MAX_PER_CONDITION = 16_000
const MAX_PER_CALL = 160_000

/** Characters that are scanned per unit. */
const CHARACTERS = 16
/** Characters of a searched text, or of a pattern, that are split per unit. */
const SOUGHT = 2
/** Searching for a text of up to this many characters costs no more than scanning the other text. */
const SHORT = 16
/** Pairs of characters that are compared per unit in a search for a longer text, forwards and from the end. */
const PAIRS = 32
const PAIRS_BACKWARDS = 12
/** Keys of a map that are listed per unit. */
const KEYS = 2
/** An error carries its position and a stack. */
const ERROR_COST = 400
/** Conversions between kinds of values: a time from a text, a text from a number. */
const CALL_COST = 25
/** Reading the time of day in a time zone. */
const TIME_ZONE_COST = 2_000

class TooMuch extends Error {
  override readonly name = 'TooMuch'
}

// Created once: inside `all` and `exists` it is thrown for every remaining element.
const TOO_MUCH = new TooMuch('it would take too long for arguments of this size')

const NO_NUMBER = 'a calculation gave no number'

/** Counts the cost of the conditions of one call. */
export class Meter {
  #leftOfCall = MAX_PER_CALL
  #left = 0

  /** Begins the next condition. */
  begin(): void {
    this.#left = Math.min(MAX_PER_CONDITION, this.#leftOfCall)
    this.#leftOfCall -= this.#left
  }

  /**
   * Ends the condition and returns its remaining units to the others. Returns false when it ran out, even if its error was swallowed on the
   * way.
   */
  end(): boolean {
    if (this.#left < 0) return false
    this.#leftOfCall += this.#left
    return true
  }

  spend(units: number): void {
    this.#left -= units
    this.check()
  }

  check(): void {
    if (this.#left < 0) throw TOO_MUCH
  }

  /** Charges for a value that is compared as a whole. */
  spendOnAll(value: unknown): void {
    if (typeof value === 'string') this.spend(value.length / CHARACTERS)
    else if (Array.isArray(value)) {
      for (const one of value) this.spendOnAll(one)
    } else if (value instanceof Map) {
      for (const one of value.values()) this.spendOnAll(one)
    }
    this.spend(1)
  }
}

type FunctionName = keyof typeof CONDITION_FUNCTIONS

/** Returns how a call of a function is charged; undefined for a function that a condition cannot call. */
export const chargeOf = (name: string): Charge | undefined =>
  Object.hasOwn(CONDITION_FUNCTIONS, name) ? CONDITION_FUNCTIONS[name as FunctionName].charge : undefined

/** The result of one element that decides these loops. They continue after an error, because a later element may decide them. */
const DECIDES: Readonly<Record<string, boolean>> = { all: false, exists: true } satisfies Partial<Record<FunctionName, boolean>>

/** How a value is used, beyond being passed on. */
export interface Use {
  /** The cost of the value before its size counts. */
  price: number
  /** It is scanned to its last element: an operand of `==`, `!=` or `in`. */
  isCompared: boolean
  /** A loop goes over it. The keys of a map are made into a list first, however soon the loop ends. */
  isLooped: boolean
  /** Receives each of its values; may refuse one by an error. */
  onValue: ((value: unknown) => void) | undefined
  isQuotient: boolean
  /** The value once the meter has ended, which ends the loop around it. Without one, the part throws. */
  whenEnded: boolean | undefined
}

/**
 * Returns how each part of an expression is used, with the parts that are never charged left out: the variable of a loop, and what stands in
 * `has()`, which must be a plain path.
 * @param meter Returns the meter of the running condition.
 */
export function usesOf(node: ASTNode, meter: () => Meter): Map<ASTNode, Use> {
  const uses = new Map<ASTNode, Use>()
  addUses(node, { uses, meter }, {})
  return uses
}

function addUses(
  node: ASTNode,
  to: { uses: Map<ASTNode, Use>; meter: () => Meter },
  { isCompared = false, isLooped = false, onValue, whenEnded }: Partial<Omit<Use, 'price' | 'isQuotient'>>,
): void {
  to.uses.set(node, { price: priceOf(node), isCompared, isLooped, onValue, isQuotient: node.op === '/', whenEnded })
  if (node.op === 'call' && node.args[0] === 'has') return
  const compares = node.op === '==' || node.op === '!=' || node.op === 'in'
  const loops = node.op === 'rcall' && chargeOf(node.args[0]) === 'loop'
  const search = node.op === 'rcall' && chargeOf(node.args[0]) === 'search' ? meterSearch(node.args[0], to.meter) : undefined
  const converts = node.op === 'call' ? CONVERSIONS.get(node.args[0]) : undefined
  for (const [i, child] of childrenOf(node).entries()) {
    // The first argument of a loop is its variable.
    if (loops && i === 1) continue
    addUses(child, to, {
      isCompared: compares,
      isLooped: loops && i === 0,
      onValue: converts ?? (i === 0 ? search?.inText : search?.forText),
      whenEnded: loops && i === 2 ? DECIDES[node.args[0]] : undefined,
    })
  }
}

/**
 * Evaluates a part of an expression and charges for it. The evaluator has no limit of its own at run time.
 * @throws what the part throws, and an error once the meter has ended.
 */
export function charge(meter: Meter, use: Use, evaluate: () => unknown): unknown {
  try {
    return chargePart(meter, use, evaluate)
  } catch (error) {
    // Without this, a loop over a long list would meet the end of the meter once for every element that is left.
    if (error === TOO_MUCH && use.whenEnded !== undefined) return use.whenEnded
    throw error
  }
}

function chargePart(meter: Meter, { price, isCompared, isLooped, onValue, isQuotient }: Use, evaluate: () => unknown): unknown {
  meter.check()
  let value: unknown
  try {
    value = evaluate()
  } catch (error) {
    meter.spend(error === TOO_MUCH ? 0 : ERROR_COST)
    throw error
  }
  if (isNoNumber(value, isQuotient)) {
    meter.spend(ERROR_COST)
    throw new EvaluationError(NO_NUMBER)
  }
  meter.spend(price + sizeOf(value))
  if (isCompared) meter.spendOnAll(value)
  if (isLooped && value instanceof Map) meter.spend(value.size / KEYS)
  onValue?.(value)
  return value
}

/**
 * True for 0/0 and for the difference of two infinities: no comparison with it is true, so a rule that asks above a limit would not match.
 * True also for a division by zero, which fails for integers and would be above every limit here.
 */
const isNoNumber = (value: unknown, isQuotient: boolean): boolean =>
  Number.isNaN(value) || (isQuotient && typeof value === 'number' && !Number.isFinite(value))

/**
 * Charges for a search of one text in another. A short text costs as much as scanning; a long one may be compared again at each position,
 * so both lengths count: 1,000 characters in 250,000 similar ones would take 155 ms.
 */
function meterSearch(name: string, meter: () => Meter) {
  let text: string | undefined
  let sought: string | undefined
  // Once both are known, whichever is evaluated first.
  function pay(): void {
    if (text === undefined || sought === undefined) return
    const longest = name === 'fits' ? longestPiece(sought) : sought.length
    const pairs = longest > SHORT ? text.length * longest : 0
    const units = sought.length / SOUGHT + pairs / (name === 'lastIndexOf' ? PAIRS_BACKWARDS : PAIRS)
    text = undefined
    sought = undefined
    meter().spend(units)
  }
  return {
    inText(value: unknown): void {
      text = typeof value === 'string' ? value : undefined
      pay()
    },
    forText(value: unknown): void {
      sought = typeof value === 'string' ? value : undefined
      pay()
    },
  }
}

const longestPiece = (glob: string): number => glob.split('*').reduce((longest, { length }) => Math.max(longest, length), 0)

function priceOf(node: ASTNode): number {
  if (node.op === 'call') return CALL_COST
  return node.op === 'rcall' && node.args[2].length > 0 && chargeOf(node.args[0]) === 'time' ? TIME_ZONE_COST : 1
}

/** Returns the cost of scanning a value once. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length / CHARACTERS
  return Array.isArray(value) ? value.length / CHARACTERS : 0
}

/** Returns the direct children of a node. */
export function childrenOf(node: ASTNode): ASTNode[] {
  switch (node.op) {
    case 'value':
    case 'id':
      return []
    case '.':
    case '.?':
      return [node.args[0]]
    case 'call':
      return node.args[1]
    case 'rcall':
      return [node.args[1], ...node.args[2]]
    case 'map':
      return node.args.flat()
    case '!_':
    case '-_':
      return [node.args]
    default:
      return [...node.args]
  }
}
