import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readCondition } from './condition.ts'
import { Facts } from './facts.ts'
import { Meter } from './meter.ts'

const TOOL = { name: 'pay', group: 'own', effect: 'write' as const, destination: 'local' }
const REQUESTER = { id: 'prn_bot', kind: 'agent' as const, name: 'bot', roles: [] }

interface Args {
  a: number
  b: number
  list: number[]
}

/** Evaluates a condition about numbers: true, false, or an object with the reason for neither. */
function ask(when: string, args: Args) {
  const read = readCondition(when)
  if ('problem' in read) return read
  const call = { tool: TOOL, arguments: { ...args }, agent: 'desk', session: null, requester: REQUESTER, nowMs: 0 }
  return read.condition(new Facts(call), new Meter())
}

/** A number as JavaScript has it. CEL divides whole numbers without a remainder, and has `%` for them alone. */
interface Value {
  number: number
  isWhole: boolean
}
/** A part of a condition, and what it gives; undefined where it has to fail. */
interface Sum {
  text: string
  of: (args: Args) => Value | undefined
}

const whole = (number: number): Value => ({ number, isWhole: true })
const decimal = (number: number): Value => ({ number, isWhole: false })

const OPERATORS: Record<string, (left: Value, right: Value) => Value | undefined> = {
  '+': ({ number: a, isWhole }, { number: b, isWhole: isAlso }) => ({ number: a + b, isWhole: isWhole && isAlso }),
  '-': ({ number: a, isWhole }, { number: b, isWhole: isAlso }) => ({ number: a - b, isWhole: isWhole && isAlso }),
  '*': ({ number: a, isWhole }, { number: b, isWhole: isAlso }) => ({ number: a * b, isWhole: isWhole && isAlso }),
  '/': ({ number: a, isWhole }, { number: b, isWhole: isAlso }) => {
    if (b === 0) return undefined
    return isWhole && isAlso ? whole(Math.trunc(a / b)) : decimal(a / b)
  },
  '%': ({ number: a, isWhole }, { number: b, isWhole: isAlso }) => (isWhole && isAlso && b !== 0 ? whole(a % b) : undefined),
}

// Few numbers, so that both sides are often equal.
const NUMBER = fc.constantFrom(0, 1, 2, 3, 5, 10, 20, 0.5, 2.5)

const LEAF: fc.Arbitrary<Sum> = fc.oneof(
  fc.constantFrom(0, 1, 2, 3, 5, 10, 20).map((number) => ({ text: `${number}`, of: () => whole(number) })),
  // A whole number as other languages with CEL write it.
  fc.constantFrom('2u', '5u', '10U', '0xau').map((text) => ({ text, of: () => whole(Number(text.slice(0, -1))) })),
  fc.constantFrom('0.0', '0.5', '2.0', '2.5', '5.0', '10.0').map((text) => ({ text, of: () => decimal(Number(text)) })),
  fc.constantFrom('a', 'b').map((name) => ({ text: `args.${name}`, of: (args: Args) => decimal(args[name as 'a' | 'b']) })),
  fc.constantFrom<Sum>(
    { text: 'size(args.list)', of: ({ list }) => whole(list.length) },
    { text: 'int(args.a)', of: ({ a }) => whole(Math.trunc(a)) },
    { text: 'double(args.b)', of: ({ b }) => decimal(b) },
    { text: 'args.list[1]', of: ({ list }) => (list[1] === undefined ? undefined : decimal(list[1])) },
    { text: '[1, 2.5][0]', of: () => whole(1) },
  ),
)

const { sum } = fc.letrec<{ sum: Sum }>((tie) => ({
  sum: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    LEAF,
    fc.record({ left: tie('sum'), operator: fc.constantFrom(...Object.keys(OPERATORS)), right: tie('sum') }).map(calculationOf),
    tie('sum').map(({ text, of }) => ({ text: `-(${text})`, of: (args: Args) => negated(of(args)) })),
    fc.record({ one: tie('sum'), other: tie('sum') }).map(({ one, other }) => ({
      text: `(args.a > 2 ? ${one.text} : ${other.text})`,
      of: (args: Args) => (args.a > 2 ? one : other).of(args),
    })),
  ),
}))

const negated = (value: Value | undefined): Value | undefined => value && { ...value, number: -value.number }

function calculationOf({ left, operator, right }: { left: Sum; operator: string; right: Sum }): Sum {
  return {
    text: `(${left.text} ${operator} ${right.text})`,
    of(args) {
      const one = left.of(args)
      const other = right.of(args)
      return one && other && OPERATORS[operator]?.(one, other)
    },
  }
}

const ARGS: fc.Arbitrary<Args> = fc.record({ a: NUMBER, b: NUMBER, list: fc.array(NUMBER, { maxLength: 3 }) })

/** Compares two parts of a condition. One that is refused when it is saved tells its author, so only those that are taken are looked at. */
function comparesAs(write: (left: string, right: string) => string, compare: (left: number, right: number) => boolean) {
  return fc.property(sum, sum, ARGS, (left, right, args) => {
    const when = write(left.text, right.text)
    const answer = ask(when, args)
    fc.pre(typeof answer === 'boolean' || 'failed' in answer)
    const one = left.of(args)
    const other = right.of(args)
    const truth = one && other && compare(one.number, other.number)
    expect(typeof answer === 'boolean' ? answer : undefined, `${when}: ${JSON.stringify(answer)}`).toBe(truth)
  })
}

test.each<[string, (left: number, right: number) => boolean]>([
  ['==', (a, b) => a === b],
  ['!=', (a, b) => a !== b],
  ['<', (a, b) => a < b],
  ['<=', (a, b) => a <= b],
  ['>', (a, b) => a > b],
  ['>=', (a, b) => a >= b],
])('whole numbers and decimals compare by %s as in JavaScript, wherever they stand', (comparison, compare) => {
  fc.assert(
    comparesAs((left, right) => `${left} ${comparison} ${right}`, compare),
    { numRuns: 300 },
  )
})

test.each<[string, (left: string, right: string) => string]>([
  ['a list', (left, right) => `${left} in [${right}]`],
  ['a list of several', (left, right) => `${left} in [-1000, ${right}, -1000.5]`],
  ['lists', (left, right) => `[${left}] == [${right}]`],
  ['lists that are not unlike', (left, right) => `!([${left}] != [${right}])`],
  ['maps', (left, right) => `{"a": ${left}} == {"a": ${right}}`],
  ['a loop', (left, right) => `[1].exists(n, ${left} == ${right})`],
  ['calculations with the variable of a loop', (left, right) => `[args.b].all(n, 2 * n - n + ${left} == n + ${right})`],
])('whole numbers and decimals are equal in %s where JavaScript has them equal', (_where, write) => {
  // Sums with further decimals may differ in the last one.
  fc.assert(
    comparesAs(write, (a, b) => Math.abs(a - b) < 1e-9),
    { numRuns: 300 },
  )
})

test.each(['args.a in [5u, 22u]', '5u in args.list', 'args.list == [2, 5u]', 'args.a in [5u, "x"]', 'args.a == 5u', 'args.a + 5u == 10u'])(
  '%s: a whole number that is written with a u is the number',
  (when) => {
    expect(ask(when, { a: 5, b: 0, list: [2, 5] })).toBe(true)
    expect(ask(when, { a: 6, b: 0, list: [2, 6] })).toBe(false)
  },
)
