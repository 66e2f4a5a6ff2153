import type { JsonValue } from '@countersign/core'
import { evaluate } from '@marcbachmann/cel-js'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readCondition } from './condition.ts'
import { Facts } from './facts.ts'
import { Meter } from './meter.ts'

const TOOL = { name: 'pay', group: 'own', effect: 'write' as const, destination: 'local' }
const REQUESTER = { id: 'prn_bot', kind: 'agent' as const, name: 'bot', roles: [] }

/** Evaluates a condition with `args.x`: true, false, or an object with the reason for neither. */
function ask(when: string, x: JsonValue) {
  const read = readCondition(when)
  if ('problem' in read) return read
  return read.condition(
    new Facts({ tool: TOOL, arguments: { x }, agent: 'desk', session: null, requester: REQUESTER, nowMs: 0 }),
    new Meter(),
  )
}

test('a number or text in a condition means exactly what is written', () => {
  // A whole number above 2^53 is exact in a condition and rounded in JSON.
  const number = fc.double({ noNaN: true, noDefaultInfinity: true }).filter((value) => !/^-?\d{16,}$/.test(JSON.stringify(value)))
  const written = fc.oneof(number, fc.string({ unit: 'binary' }))
  fc.assert(
    fc.property(written, (value) => {
      expect(ask(`args.x == ${JSON.stringify(value)}`, value)).toBe(true)
    }),
    { numRuns: 500 },
  )
})

test.each([
  ['args.x > 0.0000000001', 0.000_000_000_05, false],
  ['args.x == "\\U0001F600"', '😀', true],
  ['args.x == "😀"', '😀', true],
  ["args.x == '''a\nb'''", 'a\nb', true],
  ["args.x == r'\\d'", '\\d', true],
  ['args.x <= 1e300', 1, true],
  ['args.x > -9223372036854775808', 1, true],
])('%s of %j is %j', (when, x, result) => {
  expect(ask(when, x)).toBe(result)
})

test('a condition gives what the library gives, however its operators are nested', () => {
  const { expression } = fc.letrec((tie) => ({
    number: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom('x', '1.5', '-2.0', '1e3', 'l[0]', '{"k": 3.0}.k', 'double(size("ab"))'),
      fc.tuple(tie('number'), fc.constantFrom('+', '-', '*', '/'), tie('number')).map(([a, operator, b]) => `(${a} ${operator} ${b})`),
      fc.tuple(tie('number'), fc.constantFrom('+', '-', '*', '/'), tie('number')).map(([a, operator, b]) => `${a} ${operator} ${b}`),
      tie('number').map((a) => `-(${a})`),
      fc.tuple(tie('expression'), tie('number'), tie('number')).map(([a, b, c]) => `(${a} ? ${b} : ${c})`),
    ),
    expression: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom('true', 'x > 1.0', '!(x == 2.0)', '2.0 in l', 'l.exists(e, e > x)', 'has(o.k)', '!has(o.k) || o.k == "v"'),
      fc.tuple(tie('expression'), fc.constantFrom('&&', '||'), tie('expression')).map(([a, operator, b]) => `${a} ${operator} ${b}`),
      fc.tuple(tie('expression'), fc.constantFrom('&&', '||'), tie('expression')).map(([a, operator, b]) => `(${a} ${operator} ${b})`),
      tie('expression').map((a) => `!(${a})`),
      fc.tuple(tie('number'), fc.constantFrom('<', '>=', '==', '!='), tie('number')).map(([a, operator, b]) => `${a} ${operator} ${b}`),
    ),
  })) as { expression: fc.Arbitrary<string> }
  let decided = 0
  fc.assert(
    fc.property(expression, fc.constantFrom(1, 2, -0.5), (text, x) => {
      const named = { x, l: [2, 4], o: { k: 'v' } }
      const condition = text.replace(/\b[xlo]\b/g, (name) => `args.x.${name}`)
      let direct: unknown
      try {
        direct = evaluate(text, named)
      } catch {
        direct = 'error'
      }
      const metered = ask(condition, named)
      if (typeof metered === 'boolean') decided++
      expect(typeof metered === 'boolean' ? metered : 'error', condition).toBe(direct)
    }),
    { numRuns: 500 },
  )
  expect(decided).toBeGreaterThan(200)
})
