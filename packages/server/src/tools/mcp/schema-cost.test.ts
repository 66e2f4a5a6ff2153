import { expect, test } from 'vitest'
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
