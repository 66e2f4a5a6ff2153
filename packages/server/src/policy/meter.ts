import { assert } from '@countersign/core'
import type { ASTNode } from '@marcbachmann/cel-js'

/**
 * What conditions may cost, in units of roughly 25 ns. CEL has no endless loops, but a list in a list in a list is as good as one: 100,000
 * elements in the arguments and three nested `all` would take years.
 */
const MAX_PER_CONDITION = 16_000
const MAX_PER_CALL = 160_000

/** Characters that are looked through in a unit. */
const CHARACTERS = 16
/** Characters of a text that is searched for, or of a pattern, that are taken apart in a unit. */
const SOUGHT = 2
/** A text of so many characters is found, or not, as fast as the other one is read. */
const SHORT = 16
/** Pairs of characters that are compared in a unit when a longer one is looked for, and when it is from the end. */
const PAIRS = 32
const PAIRS_BACKWARDS = 12
/** Keys of a map that are listed in a unit. */
const KEYS = 2
/** An error carries its place and a stack. */
const ERROR_COST = 400
/** Making one kind of value of another: a time of a text, a text of a number. */
const CALL_COST = 25
/** Asking for the time of day somewhere in the world. */
const TIME_ZONE_COST = 2_000

class TooMuch extends Error {
  override readonly name = 'TooMuch'
}

// Made once: inside `all` and `exists` it is thrown for every element that is left.
const TOO_MUCH = new TooMuch('it would take too long for arguments of this size')

/** Counts what the conditions of one call cost. */
export class Meter {
  #leftOfCall = MAX_PER_CALL
  #left = 0

  /** Begins the next condition. */
  begin(): void {
    this.#left = Math.min(MAX_PER_CONDITION, this.#leftOfCall)
    this.#leftOfCall -= this.#left
  }

  /** Ends it: what it left is for the others. False when it ran out, whatever became of the error on its way. */
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

  /** The price of a value that is compared as a whole. */
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
/** These go on with the next element after an error: one that is true, or false, may make up for it. */
const CARRIES_ON = new Set(['all', 'exists'])

type Evaluate = (evaluator: unknown, node: unknown, context: unknown) => unknown

/** What the evaluator calls on a node. It puts a faster function in its place when it is first called. */
interface Evaluated {
  evaluate: Evaluate
}

/**
 * Makes every step of an expression pay. The evaluator has no limit of its own at run time, so the function of each node is wrapped; macros
 * are unfolded into nodes of their own, but what they repeat are always nodes that were written.
 * @param meter The one that counts at the moment.
 */
export function meterNodes(node: ASTNode, meter: () => Meter): void {
  meterNode(node, meter, { isCompared: false, isLooped: false, onValue: undefined })
}

/** What is done with a value, beyond handing it on. */
interface Use {
  /** It is looked through to its last element: an operand of `==`, `!=` or `in`. */
  isCompared: boolean
  /** A loop goes over it, for which the keys of a map are made into a list first, however soon the loop ends. */
  isLooped: boolean
  /** Is told each value that it has. */
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
 * The price of looking for one text in another. A short one costs what reading costs; a long one may be compared anew at each place, so
 * both lengths count: 1,000 characters in 250,000 that are like them would take 155 ms.
 */
function meterSearch(name: string, meter: () => Meter) {
  let text: string | undefined
  let sought: string | undefined
  // Once both are known, whichever of them is worked out first.
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
    // The first call puts the faster function in place and comes back here with it: that one has paid.
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

/** What such a call was unfolded into: the question whether to go on is asked before each element. */
interface Unfolded {
  meta: { alternate?: { args: { condition?: (soFar: unknown) => boolean } } }
}

/** Without this an `all` over a long list would meet the end of the meter once for every element that is left. */
function endWithMeter(node: ASTNode, meter: () => Meter): void {
  const loop = (node as unknown as Unfolded).meta.alternate?.args
  const goesOn = loop?.condition
  assert(goesOn, 'all and exists are loops that ask whether to go on')
  loop.condition = (soFar) => {
    meter().check()
    return goesOn(soFar)
  }
}

/** What it may cost to look through a value once. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length / CHARACTERS
  return Array.isArray(value) ? value.length / CHARACTERS : 0
}

/** The nodes right below one. */
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
