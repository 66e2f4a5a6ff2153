import fc from 'fast-check'
import { expect, test } from 'vitest'
import { differenceOf } from './difference.ts'

test('the difference of two numbers is that of their digits as they are shown', () => {
  const cases: [number, number, string | undefined][] = [
    [10, 12.5, '+2.5'],
    [0.1, 0.3, '+0.2'],
    [0.3, 0.1, '-0.2'],
    [-0.5, 0.25, '+0.75'],
    [5, -5, '-10'],
    [1234567890.12, 1234567890.13, '+0.01'],
    [1_000_000_000_001, 2_000_000_000_000.5, '+999999999999.5'],
    [0, 9007199254740991, '+9007199254740991'],
    [1, 100_000_000_000_000_000_000, '+99999999999999999999'],
    [0.000001, 0.000002, '+0.000001'],
    // Nobody reads a number with an exponent beside one that has all its digits.
    [0, 1e21, undefined],
    [1e-7, 1, undefined],
  ]
  for (const [from, to, text] of cases) expect(differenceOf(from, to), `${from} → ${to}`).toBe(text)
})

test('the new number less the difference is the old one, digit by digit', () => {
  // A double keeps 15 digits.
  const scaled = fc.integer({ min: -999_999_999_999_999, max: 999_999_999_999_999 })
  fc.assert(
    fc.property(scaled, scaled, fc.integer({ min: 0, max: 6 }), (was, is, places) => {
      fc.pre(was !== is)
      const text = differenceOf(Number(`${was}e-${places}`), Number(`${is}e-${places}`)) ?? ''
      expect(text).toMatch(/^[-+]\d+(\.\d*[1-9])?$/)
      const [whole = '', fraction = ''] = text.split('.')
      expect(BigInt(whole.replace('+', '') + fraction.padEnd(places, '0'))).toBe(BigInt(is) - BigInt(was))
    }),
  )
})
