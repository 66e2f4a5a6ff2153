import fc from 'fast-check'
import { expect, test } from 'vitest'
import { asName, asTitle } from './headline.ts'

test('whatever a target calls something, it is one quoted line that ends where the quotes end', () => {
  const unit = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('“', '”', '\n', '\r', '\u2028', '\u2029', '\x85', '\t', ' ', '\ud83d'),
  )
  const text = fc.array(unit, { maxLength: 120 }).map((parts) => parts.join(''))
  fc.assert(
    fc.property(text, (given) => {
      const title = asTitle(given)
      expect(title.slice(1, -1)).not.toMatch(/[“”\n\r\v\f\t\x85\u2028\u2029]/)
      expect(title.length).toBeLessThanOrEqual(82)
      expect(asName(asName(given))).toBe(asName(given))
    }),
    { seed: 8, numRuns: 300 },
  )
})

test('names that differ by what nobody sees stay two, for who shows them to say so', () => {
  const hidden = fc.constantFrom('\u200b', '\u202e', '\u00ad', '\ufeff', '\u2060', '\0', '\u00a0')
  const plain = fc.string({ unit: fc.constantFrom('a', 'b', 'Б', 'é'), minLength: 1, maxLength: 20 })
  fc.assert(
    fc.property(plain, hidden, plain, (before, char, after) => {
      expect(asName(before + char + after)).toBe(before + char + after)
    }),
    { seed: 8, numRuns: 300 },
  )
})
