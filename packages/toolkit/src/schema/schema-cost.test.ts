import fc from 'fast-check'
import { RE2JS } from 're2js'
import { expect, inject, test } from 'vitest'
import { patternSize } from './pattern-cost.ts'
import { costFault } from './schema-cost.ts'

const withPatterns = (patterns: readonly string[]) => ({
  type: 'object',
  properties: { a: { type: 'string', anyOf: patterns.map((pattern) => ({ pattern })) } },
})
const many = (count: number, pattern: string) => Array.from({ length: count }, (_, at) => `${pattern}${at}`)

test('a schema of a server whose patterns take seconds to read is refused before one of them is read', () => {
  for (const patterns of [many(3_000, 'x[xy]{1000}z'), many(3_000, '((a{30}){30})'), many(1_000, 'a{9}b{9}c{9}d{9}e{1,9}f{9}g{9}')]) {
    const schema = withPatterns(patterns)
    expect(JSON.stringify(schema).length, 'it is small enough to be a definition').toBeLessThan(100_000)
    expect(costFault(schema)).toMatch(/patterns that count too far/)
  }
})

test('patterns as servers have them are taken', () => {
  const uuid = '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$'
  expect(costFault(withPatterns([uuid, '^.{1,255}$', '^\\d{4}-\\d{2}-\\d{2}$', '(a+)+$']))).toBeUndefined()
  expect(costFault(withPatterns(Array.from({ length: 3_000 }, () => 'x[xy]{1000}z')))).toBeUndefined()
  expect(costFault(withPatterns(many(1_000, '^[a-z]+-')))).toBeUndefined()
})

test('what a pattern is said to cost is not less than what the engine writes out', () => {
  const atom = fc.constantFrom('a', '.', '[xy]', '[^\\]]', '\\d', '\\p{L}', '\\(', '[(){2}]')
  const count = fc.constantFrom('', '?', '*', '+', '{3}', '{2,9}', '{0,20}', '{5,}')
  const { pattern } = fc.letrec<{ pattern: string; piece: string }>((tie) => ({
    piece: fc.oneof(
      { maxDepth: 3 },
      fc.tuple(atom, count).map((parts) => parts.join('')),
      fc.tuple(tie('pattern'), count).map(([inner, times]) => `(?:${inner})${times}`),
    ),
    pattern: fc.array(tie('piece'), { minLength: 1, maxLength: 4 }).chain((pieces) => fc.constantFrom(pieces.join(''), pieces.join('|'))),
  }))
  fc.assert(
    fc.property(pattern, (written) => {
      try {
        // Each step is at most a few instructions of the engine: a choice around it, a jump after it.
        expect(RE2JS.compile(written).programSize()).toBeLessThanOrEqual(5 * patternSize(written) + 10)
      } catch (error) {
        // Counts inside of counts that the engine itself refuses.
        if (!(error instanceof Error) || error.name !== 'RE2JSSyntaxException') throw error
      }
    }),
    { seed: inject('propertySeed') },
  )
})
