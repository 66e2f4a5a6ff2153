import { assert } from '@countersign/core'
import type { ASTNode } from '@marcbachmann/cel-js'

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

const SEARCHES = new Set(['contains', 'fits', 'indexOf', 'lastIndexOf'])
const LOOPS = new Set(['all', 'exists', 'exists_one', 'filter', 'map'])
/** These continue with the next element after an error: a later element may decide the result. */
const CARRIES_ON = new Set(['all', 'exists'])

type Evaluate = (evaluator: unknown, node: unknown, context: unknown) => unknown

/** The function that the evaluator calls on a node. The evaluator replaces it with a faster function on the first call. */
interface Evaluated {
  evaluate: Evaluate
}

/**
 * Charges every step of an expression. The evaluator has no limit of its own at run time, so the function of each node is wrapped; macros
 * are expanded into nodes of their own, but the parts they repeat are always nodes of the source.
 * @param meter Returns the meter of the running condition.
 */
export function meterNodes(node: ASTNode, meter: () => Meter): void {
  meterNode(node, meter, { isCompared: false, isLooped: false, onValue: undefined })
}

/** How a value is used, beyond being passed on. */
interface Use {
  /** It is scanned to its last element: an operand of `==`, `!=` or `in`. */
  isCompared: boolean
  /** A loop iterates over it, for which the keys of a map are listed first, however soon the loop ends. */
  isLooped: boolean
  /** Called with each value of the node. */
  onValue: ((value: unknown) => void) | undefined
}

function meterNode(node: ASTNode, meter: () => Meter, { isCompared, isLooped, onValue }: Use): void {
  const compares = node.op === '==' || node.op === '!=' || node.op === 'in'
  const loops = node.op === 'rcall' && LOOPS.has(node.args[0])
  const search = node.op === 'rcall' && SEARCHES.has(node.args[0]) ? meterSearch(node.args[0], meter) : undefined
  for (const [i, child] of childrenOf(node).entries()) {
    meterNode(child, meter, { isCompared: compares, isLooped: loops && i === 0, onValue: i === 0 ? search?.inText : search?.forText })
  }
  if (node.op === 'rcall' && CARRIES_ON.has(node.args[0])) endWithMeter(node, meter)
  const price = priceOf(node)
  wrap(node, meter, (value) => {
    meter().spend(price + sizeOf(value))
    if (isCompared) meter().spendOnAll(value)
    if (isLooped && value instanceof Map) meter().spend(value.size / KEYS)
    onValue?.(value)
  })
}

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
  return node.op === 'rcall' && node.args[2].length > 0 && node.args[0].startsWith('get') ? TIME_ZONE_COST : 1
}

function wrap(node: ASTNode, meter: () => Meter, pay: (value: unknown) => void): void {
  const evaluated = node as unknown as Evaluated
  let inner = evaluated.evaluate
  function evaluate(this: unknown, evaluator: unknown, ast: unknown, context: unknown): unknown {
    const called = inner
    let value: unknown
    try {
      value = called.call(node, evaluator, ast, context)
    } catch (error) {
      meter().spend(error === TOO_MUCH ? 0 : ERROR_COST)
      throw error
    }
    // The first call installs the faster function and calls it through here: it has been charged already.
    if (called === inner) pay(value)
    return value
  }
  Object.defineProperty(evaluated, 'evaluate', {
    get: (): Evaluate => evaluate,
    set: (faster: Evaluate) => {
      inner = faster
    },
  })
}

/** The expansion of such a call: before each element it checks whether to continue. */
interface Unfolded {
  meta: { alternate?: { args: { condition?: (soFar: unknown) => boolean } } }
}

/** Stops a loop once the meter has run out: otherwise an `all` over a long list would fail again for every remaining element. */
function endWithMeter(node: ASTNode, meter: () => Meter): void {
  const loop = (node as unknown as Unfolded).meta.alternate?.args
  const goesOn = loop?.condition
  assert(goesOn, 'all and exists are loops that ask whether to go on')
  loop.condition = (soFar) => {
    meter().check()
    return goesOn(soFar)
  }
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
