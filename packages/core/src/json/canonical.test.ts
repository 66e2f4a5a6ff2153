import canonicalize from 'canonicalize'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalJson, isSameJson } from './canonical.ts'
import { checkJson } from './check.ts'
import { parseJson } from './parse.ts'
import type { JsonValue } from './value.ts'

function double(hex: string): number {
  const view = new DataView(new ArrayBuffer(8))
  view.setBigUint64(0, BigInt(`0x${hex}`))
  return view.getFloat64(0)
}

// The samples of RFC 8785, appendix B.
test.each([
  ['0000000000000000', '0'],
  ['8000000000000000', '0'],
  ['0000000000000001', '5e-324'],
  ['8000000000000001', '-5e-324'],
  ['7fefffffffffffff', '1.7976931348623157e+308'],
  ['ffefffffffffffff', '-1.7976931348623157e+308'],
  ['4340000000000000', '9007199254740992'],
  ['c340000000000000', '-9007199254740992'],
  ['4430000000000000', '295147905179352830000'],
  ['44b52d02c7e14af5', '9.999999999999997e+22'],
  ['44b52d02c7e14af6', '1e+23'],
  ['44b52d02c7e14af7', '1.0000000000000001e+23'],
  ['444b1ae4d6e2ef4e', '999999999999999700000'],
  ['444b1ae4d6e2ef4f', '999999999999999900000'],
  ['444b1ae4d6e2ef50', '1e+21'],
  ['3eb0c6f7a0b5ed8c', '9.999999999999997e-7'],
  ['3eb0c6f7a0b5ed8d', '0.000001'],
  ['41b3de4355555553', '333333333.3333332'],
  ['41b3de4355555554', '333333333.33333325'],
  ['41b3de4355555555', '333333333.3333333'],
  ['41b3de4355555556', '333333333.3333334'],
  ['41b3de4355555557', '333333333.33333343'],
  ['becbf647612f3696', '-0.0000033333333333333333'],
  ['43143ff3c1cb0959', '1424953923781206.2'],
])('the double %s is written %s', (hex, text) => expect(canonicalJson(double(hex))).toBe(text))

test('NaN, infinities and half surrogate pairs have no canonical form', () => {
  for (const value of [Number.NaN, Infinity, -Infinity, '\ud800', { '\udc00': 1 }])
    expect(() => canonicalJson(value)).toThrow(/not allowed/)
})

test('keys are sorted by UTF-16 code unit (RFC 8785, 3.2.3)', () => {
  const value = { '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\u{1f600}': 5, '\u0080': 6, '\u00f6': 7 }
  expect(canonicalJson(value)).toBe('{"\\r":2,"1":4,"\u0080":6,"\u00f6":7,"\u20ac":1,"\u{1f600}":5,"\ufb33":3}')
})

test('strings escape only what must be escaped (RFC 8785, 3.2.2)', () => {
  expect(canonicalJson('\u20ac$\u000f\u000aA\'B"\\\\"/\u007f\u2028')).toBe('"\u20ac$\\u000f\\nA\'B\\"\\\\\\\\\\"/\u007f\u2028"')
  expect(canonicalJson('\b\t\n\f\r\u0000\u001f')).toBe('"\\b\\t\\n\\f\\r\\u0000\\u001f"')
})

const taken = (): fc.Arbitrary<JsonValue> =>
  fc
    .jsonValue({ noUnicodeString: false })
    .map((value) => checkJson(value))
    .filter((result) => result.ok)
    .map((result) => result.value)

test('what is canonical reads back to the same value and is canonical already', () => {
  fc.assert(
    fc.property(taken(), (value) => {
      const text = canonicalJson(value)
      const result = parseJson(text)
      expect(result).toEqual({ ok: true, value })
      expect(result.ok && canonicalJson(result.value)).toBe(text)
    }),
    { numRuns: 300 },
  )
})

const shuffled = (value: JsonValue, seed: number): JsonValue => {
  if (Array.isArray(value)) return value.map((item) => shuffled(item, seed))
  if (value === null || typeof value !== 'object') return value
  const members = Object.entries(value).map(([key, item]) => [key, shuffled(item, seed)] as const)
  return Object.fromEntries(members.sort(([a], [b]) => ((a.length * 7 + seed) % 5) - ((b.length * 7 + seed) % 5) || (seed % 2 ? -1 : 1)))
}

test('the order of keys and white space make no difference', () => {
  fc.assert(
    fc.property(taken(), fc.nat(), (value, seed) => {
      const result = parseJson(JSON.stringify(shuffled(value, seed), null, seed % 4))
      expect(result.ok && canonicalJson(result.value)).toBe(canonicalJson(value))
    }),
    { numRuns: 500 },
  )
})

const sortedByHand = (value: JsonValue): string => {
  if (Array.isArray(value)) return `[${value.map(sortedByHand).join()}]`
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const keys = Object.keys(value).sort((a, b) => (a < b ? -1 : 1))
  return `{${keys.map((key) => `${JSON.stringify(key)}:${sortedByHand(value[key] ?? null)}`).join()}}`
}

test('it agrees with the ten lines that say the same', () => {
  fc.assert(
    fc.property(taken(), (value) => {
      expect(canonicalJson(value)).toBe(sortedByHand(value))
    }),
    { numRuns: 300 },
  )
})

test('it writes what the reference library writes', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(canonicalJson(value as JsonValue)).toBe(canonicalize(value))
    }),
  )
})

test('values are the same in any order of their keys, at every depth; lists in another order are not', () => {
  expect(isSameJson({ a: 1, b: { c: [{ d: 2, e: 3 }] } }, { b: { c: [{ e: 3, d: 2 }] }, a: 1 })).toBe(true)
  expect(isSameJson({ a: [1, 2] }, { a: [2, 1] })).toBe(false)
  expect(isSameJson({ a: null }, {})).toBe(false)
  expect(isSameJson(1, '1')).toBe(false)
})
