import type { JsonObject, JsonValue, Principal } from '@countersign/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readCondition } from './condition.ts'
import { openRelations } from './condition-relation.ts'
import { Facts } from './facts.ts'
import { Meter } from './meter.ts'

const { covers, areDisjoint } = openRelations()

test.each([
  ['args.amount > 100', 'args.amount > 500'],
  ['args.amount > 100', '500 < args.amount'],
  ['args.amount >= 100', 'args.amount > 100 && args.kind == "x"'],
  ['args.amount > 100', 'args.amount == 500'],
  ['args.kind in ["a", "b"]', 'args.kind == "a"'],
  ['args.kind != "c"', 'args.kind in ["a", "b"]'],
  ['args.kind != "c"', 'args.kind != "c" && args.kind != "d"'],
  ['args.amount > 100 || args.kind == "x"', 'args.amount > 200'],
  ['args.path.startsWith("/etc/")', 'args.path.startsWith( "/etc/" ) && args.force'],
  ['size(args.lines) > 3', 'size(args.lines) > 5'],
  ['args.amount > -5', 'args.amount > -2.5'],
  ['args.amount > args.limit', 'args.amount  >  args.limit && args.force'],
  ['args.amount > 100 && args.kind == "x" || args.force', 'args.amount > 200 && args.kind == "x"'],
  ['args.force == true', 'true == args.force'],
  ["args.path.startsWith('/a  b')", "args.path.startsWith(  '/a  b'  )"],
])('%s holds for every call for which this holds: %s', (wide, narrow) => {
  expect(covers(wide, narrow)).toBe(true)
  expect(areDisjoint(wide, narrow)).toBe(false)
})

test.each([
  ['args.amount > 500', 'args.amount > 100'],
  ['args.amount > 500', 'args.amount >= 500'],
  ['args.amount > 100', 'args.total > 500'],
  ['args.amount > 100', 'args.amount != 50'],
  ['args.amount != 50', 'args.amount > 100'],
  ['args.amount > 100 && args.kind == "x"', 'args.amount > 500'],
  ['has(args.amount) && args.amount > 100', 'args.amount > 500'],
  ['args.kind in ["a"]', 'args.kind in ["a", "b"]'],
  ['args.kind == "5"', 'args.kind == 5'],
  ['args.path.startsWith("/a b")', 'args.path.startsWith("/ab")'],
  ["args.path.startsWith('/a b c')", "args.path.startsWith('/ab c')"],
  ['args.amount > 100', 'not a condition ('],
  ['not a condition (', 'args.amount > 100'],
  ['not a condition (', 'nor this ('],
  ['args.amount > 100 && args.kind == "x" || args.force', 'args.amount > 200'],
  ['args.kind in args.kinds', 'args.kind == "a"'],
  ['args.kind == "a"', 'args.kind in args.kinds'],
  ['args.kind in args.kinds', 'args.kind in args.names'],
  ['"force" in args', 'args.force == true'],
  ['args.amount == 1', 'args.amount in [1, args.limit]'],
  ['args.amount > 1', 'args.amount in []'],
  ['args.amount > 1', 'args.amount > args.limit'],
  ['args.amount > args.limit', 'args.amount > 1'],
  ['args.kind > "a"', 'args.kind > "b"'],
  ['-args.amount > 1', 'args.amount > 1'],
  ['args.amount == args.limit', 'args.count == args.limit'],
  ['args.amount == -args.limit', 'args.amount == -args.count'],
  ['args.kind == "session"', 'args.kind == session'],
  ['args.data != b"x"', 'args.data == b"x"'],
  ['args.force == true', 'args.force'],
  ['args.force', 'args.force == true'],
  ['args.force', '!args.force'],
])('nothing is claimed where a call may meet only one of them: %s does not hold wherever this does: %s', (wide, narrow) => {
  expect(covers(wide, narrow)).toBe(false)
})

test.each([
  ['args.amount > 500', 'args.amount <= 500'],
  ['args.amount > 500 && args.kind == "x"', 'args.amount < 100'],
  ['args.kind == "a"', 'args.kind != "a"'],
  ['args.kind in ["a", "b"]', 'args.kind == "c"'],
  ['args.amount == 5', 'args.amount > 5'],
])('no call meets both: %s and %s', (one, other) => {
  expect([areDisjoint(one, other), areDisjoint(other, one)]).toEqual([true, true])
})

test.each([
  ['args.amount >= 500', 'args.amount <= 500'],
  ['args.amount > 5', 'args.total < 5'],
  ['args.kind != "a"', 'args.kind != "b"'],
  ['args.kind == "a" || args.amount > 5', 'args.kind == "b"'],
])('a call may meet both: %s and %s', (one, other) => {
  expect([areDisjoint(one, other), areDisjoint(other, one)]).toEqual([false, false])
})

test('after very many comparisons nothing more is claimed of any conditions', () => {
  const limited = openRelations(undefined, 10)
  const many = Array.from({ length: 20 }, (_, n) => `args.a != ${n}`).join(' && ')
  expect(limited.covers('args.amount > 100', 'args.amount > 500')).toBe(true)
  expect(limited.covers(many, many)).toBe(true)
  expect(limited.covers('args.amount > 100', 'args.amount > 500')).toBe(false)
  expect(limited.areDisjoint('args.amount > 500', 'args.amount < 100')).toBe(false)
})

const PARTS = fc.oneof(
  fc.tuple(
    fc.constantFrom('args.a', 'args.b'),
    fc.constantFrom('<', '<=', '>', '>=', '==', '!='),
    fc.constantFrom('1', '2', '2.5', '-1', '"x"'),
  ),
  fc.tuple(fc.constantFrom('args.a', 'args.b'), fc.constant('in'), fc.constantFrom('[1, 2]', '["x", 1]', '["y"]')),
  fc.constantFrom(['has(args.a)'], ['args.b.startsWith("x")']),
)
const CONDITIONS = fc
  .array(
    PARTS.map((part) => part.join(' ')),
    { minLength: 1, maxLength: 3 },
  )
  .chain((parts) => fc.constantFrom(parts.join(' && '), parts.join(' || ')))
const VALUES = fc.constantFrom(-2, -1, 0, 1, 1.5, 2, 2.5, 3, 'x', 'xy', 'y', true, null, undefined)

const somebody: Principal = { id: 'prn_ana', kind: 'person', name: 'Ana', roles: [] }

/** What the condition of a rule says of arguments: a failure counts as true for a rule that asks or denies. */
function isMet(when: string, args: JsonObject): boolean {
  const read = readCondition(when)
  // The type checker refuses some comparisons, which are in no rule then.
  if ('problem' in read) return true
  const tool = { name: 'x', group: 'x', effect: 'write' as const, destination: '' }
  return (
    read.condition(new Facts({ tool, arguments: args, agent: '', session: null, requester: somebody, nowMs: 0 }), new Meter()) !== false
  )
}

test('what is claimed of two conditions holds for every call, also for one in which a field is missing or has another type', () => {
  let claims = 0
  fc.assert(
    fc.property(CONDITIONS, CONDITIONS, VALUES, VALUES, (one, other, a, b) => {
      const args = { ...(a !== undefined && { a }), ...(b !== undefined && { b }) }
      if (!covers(one, other)) return
      claims++
      if (isMet(other, args)) expect(isMet(one, args), `${other} → ${one} of ${JSON.stringify(args)}`).toBe(true)
    }),
    { numRuns: 3_000 },
  )
  expect(claims).toBeGreaterThan(50)
})

/** True, false, or `fails` for a value that the condition cannot be evaluated for. */
function resultOf(when: string, a: JsonValue): boolean | 'fails' {
  const read = readCondition(when)
  if ('problem' in read) throw new Error(`${when}: ${read.problem}`)
  const tool = { name: 'x', group: 'x', effect: 'write' as const, destination: '' }
  const said = read.condition(new Facts({ tool, arguments: { a }, agent: '', session: null, requester: somebody, nowMs: 0 }), new Meter())
  return typeof said === 'boolean' ? said : 'fails'
}

const LIMITS = ['-1', '1', '2', '2.5']
const OPERATORS = ['<', '<=', '>', '>=']
const RANGES = LIMITS.flatMap((limit) => OPERATORS.flatMap((is) => [`args.a ${is} ${limit}`, `${limit} ${is} args.a`]))
const EXCEPTIONS = ['args.a != 1', 'args.a != 2.5', '"x" != args.a', 'args.a != true']
const CHOICES = [
  'args.a == 1',
  '2.5 == args.a',
  'args.a == "x"',
  'args.a == true',
  'args.a in [1, 2]',
  'args.a in ["x", 1]',
  'args.a in ["y"]',
]
/** Every value that a condition names, one between each two, one beyond them, and a text that none names. */
const EVERY_VALUE = [-2, -1, 0, 1, 1.5, 2, 2.25, 2.5, 3, 'x', 'y', 'z', true]

test('of two comparisons of one value, everything is claimed that holds for every value, and nothing else', () => {
  const conditions = [...RANGES, ...EXCEPTIONS, ...CHOICES]
  const results = new Map(conditions.map((when) => [when, EVERY_VALUE.map((value) => resultOf(when, value))]))
  const wrong: string[] = []
  for (const one of conditions) {
    for (const other of conditions) {
      const both = EVERY_VALUE.map((_, at) => [results.get(one)?.[at], results.get(other)?.[at]])
      // Nothing is claimed of a value that only the wide one fails for, although a failure counts as met.
      const isCovered = both.every(([wide, narrow]) => narrow === false || wide === true || (wide === 'fails' && narrow === 'fails'))
      // A range is never taken to mean that a value outside of it is not there: that would need the type of the value.
      const isClaimed = isCovered && !(EXCEPTIONS.includes(one) && RANGES.includes(other))
      if (covers(one, other) !== isClaimed) wrong.push(`${other} → ${one} is ${isClaimed}`)
      const isApart = !both.some(([first, second]) => first === true && second === true)
      if (areDisjoint(one, other) !== isApart) wrong.push(`no call meets both ${one} and ${other} is ${isApart}`)
    }
  }
  expect(wrong).toEqual([])
})
