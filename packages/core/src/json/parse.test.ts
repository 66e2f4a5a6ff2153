import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseJson } from './parse.ts'

test('a text that JSON.parse takes and that breaks no rule reads to the same value', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 8 }), (text) => {
      const result = parseJson(text)
      if (result.ok) expect(result.value).toEqual(JSON.parse(text, (_key, value) => (Object.is(value, -0) ? 0 : value)))
      else expect(result.reason).toMatch(/beyond|__proto__/)
    }),
    { numRuns: 500 },
  )
})
