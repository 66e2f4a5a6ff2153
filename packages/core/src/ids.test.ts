import fc from 'fast-check'
import { expect, test } from 'vitest'
import { makeId } from './ids.ts'

const random = (): Uint8Array => crypto.getRandomValues(new Uint8Array(16))

test('an id is its prefix, 9 characters of time and 16 of randomness, safe in a URL and in a file name', () => {
  expect(makeId('act', 1_795_000_000_000, new Uint8Array(16))).toMatch(/^act_[0-9a-hjkmnp-tv-z]{9}0{16}$/)
  expect(makeId('ses', 0, new Uint8Array(16).fill(255))).toBe('ses_000000000zzzzzzzzzzzzzzzz')
})

test('ids sort as text in the order of their making, for a thousand years', () => {
  const time = fc.integer({ min: 0, max: Date.UTC(3_000, 0) })
  fc.assert(
    fc.property(time, time, (a, b) => {
      fc.pre(a !== b)
      expect(makeId('msg', a, random()) < makeId('msg', b, random())).toBe(a < b)
    }),
    { numRuns: 500 },
  )
})

test('twenty thousand ids of one millisecond are all different', () => {
  const ids = new Set(Array.from({ length: 20_000 }, () => makeId('run', 1_795_000_000_000, random())))
  expect(ids.size).toBe(20_000)
})

test('too little randomness or an impossible time is a broken promise, not a weak id', () => {
  expect(() => makeId('key', Date.now(), new Uint8Array(15))).toThrow(/16 random bytes/)
  for (const nowMs of [Number.NaN, -1, 1.5, Infinity]) expect(() => makeId('key', nowMs, random())).toThrow(/whole milliseconds/)
})
