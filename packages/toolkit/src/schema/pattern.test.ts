import type { JsonObject } from '@countersign/core'
import { expect, test } from 'vitest'
import { cpuTimeMs } from '../../../../verification/testing/cpu-time.ts'
import { openJsonSchema } from './json-schema.ts'
import { isPlainPattern, openPattern } from './pattern.ts'

/** Patterns that people wrote in good faith, or to hang somebody: each takes a backtracking engine exponential or high polynomial time. */
const CATASTROPHIC = [
  '^(a+)+$',
  '^(a|a)*$',
  '^(a|aa)+$',
  '^(a*)*$',
  '(x+x+)+y',
  '^(.*a){20}$',
  '^(([a-z])+.)+[A-Z]([a-z])+$',
  '^([a-zA-Z0-9])(([.-]|[_]+)?([a-zA-Z0-9]+))*(@){1}[a-z0-9]+[.]{1}(([a-z]{2,3})|([a-z]{2,3}[.]{1}[a-z]{2,3}))$',
  '(a*)*b',
  '(a|b|ab)*c',
  '^(\\w+\\s?)*$',
  '(.*)*=',
  '^\\s+|\\s+$',
  '(\\p{L}+)*\\d',
  '^(a?){100}a{100}$',
  '([^]+)*x',
  '(?:(?:a{0,50}){0,10})*b',
  '^.*.*.*.*.*x$',
  '(a{1,100}){1,9}b',
  '[\\w-]+(\\.[\\w-]+)*@',
  '^(?:.*a.*b.*c.*d)+$',
  '^(?:a(?:b|c|bc)*)*d$',
  '^((\\d+,)*\\d+;)*$',
  '(\\s*,\\s*)+;',
]
const TEXTS = ['a'.repeat(49_000), 'ab'.repeat(24_000), ' '.repeat(49_000), 'aB1-_.'.repeat(8_000), '1,'.repeat(24_000)]

test('no pattern of a schema takes more than 50 ms for the longest text there is', () => {
  const slow: string[] = []
  for (const pattern of CATASTROPHIC) {
    const matches = openPattern(pattern)
    matches('a!')
    for (const text of TEXTS) {
      // The better of two: what is measured is the pattern, not another test on the same machine.
      const times = [1, 2].map(() => {
        const startedAt = cpuTimeMs()
        matches(`${text}!`)
        return cpuTimeMs() - startedAt
      })
      if (Math.min(...times) > 50) slow.push(`${pattern}: ${Math.min(...times)} ms`)
    }
  }
  expect(slow).toEqual([])
  expect(openPattern('^a*$')('a'.repeat(50_001))).toBe(false)
})

test('a pattern means what it means in JavaScript', () => {
  const texts = ['', 'a', 'A', 'ab-cd', '2026-11-22', 'x@y.zz', 'ä', '😀', 'a\nb', '\u00a0', 'a/b', '1234567890']
  const patterns = [
    '^[a-z]+(-[a-z]+)*$',
    '^\\d{4}-\\d{2}-\\d{2}$',
    '^\\p{L}+$',
    '^.$',
    '\\u0061',
    '^[^/]*$',
    '^(?<name>\\w+)@',
    '^[\\w.-]{1,10}$',
    '\\/',
  ]
  for (const pattern of patterns) {
    const matches = openPattern(pattern)
    for (const text of texts) expect([pattern, text, matches(text)]).toEqual([pattern, text, new RegExp(pattern, 'u').test(text)])
  }
})

test('what only a backtracking engine can match is refused when the schema is read', () => {
  for (const pattern of ['(?=a)b', '(?<!a)b', '(a)\\1', '^.{1,2000}$', '(?:a{0,1000}){0,1000}']) {
    expect(() => openJsonSchema({ type: 'object', properties: { a: { type: 'string', pattern } } }), pattern).toThrow(/bounded time/)
  }
  expect(() => openJsonSchema({ type: 'object', properties: { a: { pattern: '(' } } })).toThrow(/not a regular expression/)
})

test('names are held only against patterns without groups, and only when they are short', () => {
  for (const pattern of ['^x-', '^[a-z_]+$', '^x-[a-z]{1,20}$', '\\.json$', '^\\w+$', '.', ''])
    expect(isPlainPattern(pattern), pattern).toBe(true)
  for (const pattern of ['(a+)+', 'a*a*', 'a|b', '^(?:x)', '[a-z]+[0-9]+', 'a{2,}b+', 'a**', '\\1', '[', '\\p{L}'])
    expect(isPlainPattern(pattern), pattern).toBe(false)
  expect(() => openJsonSchema({ type: 'object', patternProperties: { '^(a+)+$': {} } })).toThrow(/is not plain/)
  const check = openJsonSchema({ type: 'object', patternProperties: { '^x-': { type: 'string' } }, additionalProperties: false })
  expect([check({ 'x-a': 'b' }).ok, check({ 'x-a': 1 }).ok, check({ y: 'b' }).ok, check({ [`x-${'a'.repeat(2_000)}`]: 'b' }).ok]).toEqual([
    true,
    false,
    false,
    false,
  ])
})

test('a pattern is held wherever it stands, and its neighbours too', () => {
  const check = openJsonSchema({
    type: 'object',
    properties: {
      id: { type: 'string', pattern: '^ORD-\\d+$', allOf: [{ maxLength: 8 }] },
      pattern: { type: 'string', default: { pattern: 'data' } as never },
      list: { type: 'array', items: { $ref: '#/$defs/code' } },
    },
    $defs: { code: { anyOf: [{ type: 'integer' }, { type: 'string', pattern: '^[A-Z]+$' }] } },
  })
  expect(check({ id: 'ORD-1', pattern: 'any', list: ['AB', 7] }).ok).toBe(true)
  expect(check({ id: 'XRD-1' })).toEqual({ ok: false, issues: [{ path: '/id', message: 'id does not have the form that is asked for.' }] })
  const wrong: JsonObject[] = [{ id: 'ORD-12345678' }, { list: ['ab'] }, { pattern: 1 }]
  for (const args of wrong) expect(check(args).ok, JSON.stringify(args)).toBe(false)
})

test('a property that is called like a keyword is held like any other, and data stays data', () => {
  const data = { pattern: '(', $ref: '#/nowhere', patternProperties: { '(a+)+': {} } }
  for (const name of ['default', 'const', 'enum', 'examples', 'pattern', 'properties', 'plain']) {
    for (const keyword of ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependencies']) {
      const open = (inner: JsonObject) => openJsonSchema({ type: 'object', default: data, examples: [data], [keyword]: { [name]: inner } })
      expect(() => open({ enum: [data], default: data }), `${keyword}/${name}`).not.toThrow(/pattern at|\$ref/)
      expect(() => open({ pattern: '(?=a)b' }), `${keyword}/${name}`).toThrow(/bounded time/)
      expect(() => open({ patternProperties: { '^(a+)+$': {} } }), `${keyword}/${name}`).toThrow(/is not plain/)
      expect(() => open({ not: { $ref: '#/nowhere' } }), `${keyword}/${name}`).toThrow(`at /${keyword}/${name}/not that does not resolve`)
    }
    // Only the linear engine refuses a text of this length.
    const check = openJsonSchema({ type: 'object', properties: { [name]: { type: 'string', pattern: '^a*$' } } })
    expect([check({ [name]: 'a'.repeat(50_000) }).ok, check({ [name]: 'a'.repeat(50_001) }).ok], name).toEqual([true, false])
  }
})

test('a long text against many patterns is refused in bounded time, and many short ones are checked', () => {
  // Without a period: a text that repeats itself is matched from what is remembered.
  let seed = 1
  const letter = () => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % 1_000 < 500 ? 'x' : 'y'
  }
  const letters = Array.from({ length: 49_000 }, letter).join('')
  const patterns = Array.from({ length: 100 }, (_, at) => ({ pattern: `x[xy]{${50 + at}}[zw]` }))
  const check = openJsonSchema({ type: 'object', properties: { a: { type: 'string', anyOf: patterns } } })
  const startedAt = cpuTimeMs()
  expect(check({ a: letters })).toEqual({
    ok: false,
    issues: [{ path: '', message: 'The whole of the arguments holds more text than can be matched with the patterns of this tool.' }],
  })
  expect(cpuTimeMs() - startedAt, 'all of them took 40 s').toBeLessThan(5_000)
  expect(check({ a: `x${'y'.repeat(100)}z` }).ok, 'the next call has all of its time').toBe(true)

  const uuid = '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$'
  const ids = openJsonSchema({ type: 'object', properties: { ids: { type: 'array', items: { type: 'string', pattern: uuid } } } })
  expect(ids({ ids: Array.from({ length: 2_000 }, () => '123e4567-e89b-12d3-a456-426614174000') }).ok).toBe(true)
})
