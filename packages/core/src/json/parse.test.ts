import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cpuTimeMs } from '../../../../verification/testing/cpu-time.ts'
import { parseJson } from './parse.ts'

const reasonOf = (text: string): string => {
  const result = parseJson(text)
  if (result.ok) throw new Error(`taken: ${text.slice(0, 80)}`)
  return result.reason
}

const withoutMinusZero = (_key: string, value: unknown): unknown => (Object.is(value, -0) ? 0 : value)

/** JSON texts with every kind of white space, escape and number spelling that the grammar allows. */
const looseJson = (): fc.Arbitrary<string> => {
  const space = fc.stringMatching(/^[ \t\n\r]{0,2}$/)
  const number = fc.stringMatching(/^-?(0|[1-9][0-9]{0,12})(\.[0-9]{1,14})?([eE][+-]?[0-9]{1,3})?$/)
  const string = fc.stringMatching(/^"([^"\\\x00-\x1f\ud800-\udfff]|\\["\\/bfnrt]|\\u00[0-9a-fA-F]{2}|\\ud83d\\ude00){0,8}"$/)
  const { value } = fc.letrec<{ value: string; array: string; object: string }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small', maxDepth: 5 },
      number,
      string,
      fc.constantFrom('true', 'false', 'null'),
      tie('array'),
      tie('object'),
    ),
    array: fc
      .tuple(space, fc.array(fc.tuple(space, tie('value'), space), { maxLength: 4 }))
      .map(([pad, items]) => `[${pad}${items.map((item) => item.join('')).join(',')}]`),
    object: fc
      .tuple(space, fc.array(fc.tuple(space, string, space, tie('value'), space), { maxLength: 4 }))
      .map(([pad, members]) => `{${pad}${members.map(([a, key, b, item, c]) => `${a}${key}${b}:${item}${c}`).join(',')}}`),
  }))
  return fc.tuple(space, value, space).map((parts) => parts.join(''))
}

test('a text that breaks no rule reads to what JSON.parse makes of it', () => {
  fc.assert(
    fc.property(fc.oneof(fc.json({ maxDepth: 8 }), looseJson()), (text) => {
      const result = parseJson(text)
      const expected: unknown = JSON.parse(text, withoutMinusZero)
      if (result.ok) expect(result.value).toEqual(expected)
      else expect(result.reason).toMatch(/beyond|digits|close to zero|twice|__proto__/)
    }),
    { numRuns: 2_000 },
  )
})

test('a text that JSON.parse refuses is refused, at a place inside it', () => {
  const broken = fc
    .tuple(
      looseJson(),
      fc.nat(),
      fc.nat(3),
      fc.constantFrom('', ',', ':', '"', '\\', '{', ']', '0', '.', '-', 'e', '\u0000', '\u00a0', '\ud800', "'", '/*', 'NaN'),
    )
    .map(([text, at, remove, put]) => `${text.slice(0, at % (text.length + 1))}${put}${text.slice((at % (text.length + 1)) + remove)}`)
  fc.assert(
    fc.property(fc.oneof(broken, fc.string()), (text) => {
      const result = parseJson(text)
      let value: unknown
      try {
        value = JSON.parse(text, withoutMinusZero)
      } catch {
        expect(result.ok).toBe(false)
      }
      if (result.ok) {
        expect(result.value).toEqual(value)
        return
      }
      expect(result.at).toBeGreaterThanOrEqual(0)
      expect(result.at).toBeLessThanOrEqual(text.length)
      expect(result.reason.isWellFormed()).toBe(true)
    }),
    { numRuns: 3_000 },
  )
})

test('what is refused says so in plain words and names the place', () => {
  expect(parseJson('{"a": 1, "a": 2}')).toEqual({
    ok: false,
    reason: 'the key "a" appears twice in one object (at 9)',
    tooLarge: false,
    at: 9,
  })
  expect(reasonOf('')).toBe('expected a value, found the end (at 0)')
  expect(reasonOf('{"a":1,}')).toBe('expected a key in double quotes, found "}" (at 7)')
  expect(reasonOf('[1 2]')).toBe('expected "," or "]", found "2" (at 3)')
  expect(reasonOf('{"a" 1}')).toBe('expected ":", found "1" (at 5)')
  expect(reasonOf('[1] x')).toBe('expected the end, found "x" (at 4)')
  expect(reasonOf('"a\nb"')).toBe('a control character in a string must be escaped (at 2)')
  expect(reasonOf('["abc')).toBe('a string has no closing quote (at 1)')
  expect(reasonOf('"\\x41"')).toBe('a backslash in a string begins no escape that JSON knows (at 1)')
  expect(reasonOf('\ufeff{}')).toBe('begins with a byte order mark (at 0)')
})

describe('keys', () => {
  test.each([
    '{"a":1,"a":1}',
    '{"a":1,"b":2,"\\u0061":3}',
    '{"":1,"":2}',
    '{"x":{"k":1,"k":2}}',
    '{"1":1,"1":2}',
    '[{"toString":1,"toString":2}]',
  ])('a key twice in one object is refused, also behind an escape: %s', (text) => expect(reasonOf(text)).toMatch(/appears twice/))

  test('the same key in two objects, and names that every object inherits, are fine', () => {
    expect(parseJson('[{"a":1},{"a":{"a":2}}]').ok).toBe(true)
    expect(parseJson('{"toString":1,"hasOwnProperty":2,"valueOf":3}')).toEqual({
      ok: true,
      value: { toString: 1, hasOwnProperty: 2, valueOf: 3 },
    })
  })

  test.each(['{"__proto__":1}', '{"a":[{"__proto__":{}}]}', '{"\\u005f_proto__":null}'])('__proto__ is refused: %s', (text) =>
    expect(reasonOf(text)).toMatch(/"__proto__" is not allowed/),
  )

  test('constructor is refused only when it holds a prototype', () => {
    expect(reasonOf('{"constructor":{"prototype":{"a":1}}}')).toMatch(/"constructor" holding "prototype"/)
    expect(reasonOf('{"a":{"constructor":{"b":1,"prototyp\\u0065":1}}}')).toMatch(/"constructor" holding "prototype"/)
    for (const text of ['{"constructor":"ACME"}', '{"constructor":null}', '{"constructor":{"name":"x"}}', '{"prototype":{}}']) {
      expect(parseJson(text).ok).toBe(true)
    }
  })
})

describe('numbers', () => {
  test.each([
    ['0', 0],
    ['-0', 0],
    ['-0.0e5', 0],
    ['0e999999', 0],
    ['0.1', 0.1],
    ['1.50', 1.5],
    ['2e-3', 0.002],
    ['-2.50E-3', -0.0025],
    ['0.002', 0.002],
    ['20e-4', 0.002],
    ['0.0002e1', 0.002],
    ['1E+2', 100],
    ['0.30000000000000004', 0.30000000000000004],
    ['0.10000000000000001', 0.1],
    ['1.0000000000000000000000000000', 1],
    ['9007199254740991', Number.MAX_SAFE_INTEGER],
    ['-9007199254740991', Number.MIN_SAFE_INTEGER],
    ['9.007199254740991e15', Number.MAX_SAFE_INTEGER],
    ['5e-324', 5e-324],
    [`0.${'0'.repeat(1_000)}1e1001`, 1],
  ])('%s stands for itself', (text, value) => {
    const result = parseJson(text)
    expect(result).toEqual({ ok: true, value })
    expect(Object.is(result.ok && result.value, -0)).toBe(false)
  })

  test.each([
    ['9007199254740992', 'beyond'],
    ['9007199254740993', 'beyond'],
    ['-9007199254740992', 'beyond'],
    ['1e400', 'beyond'],
    ['-1e400', 'beyond'],
    ['1e20', 'beyond'],
    ['12345678901234567890', 'beyond'],
    ['1e-400', 'close to zero'],
    [`0.${'0'.repeat(400)}1`, 'close to zero'],
    ['3.14159265358979323846', 'more digits'],
    ['0.1000000000000000001', 'more digits'],
    ['9007199254740990.5', 'more digits'],
    ['1.00000000000000000001', 'more digits'],
    [`0.${'1'.repeat(10_000)}`, 'more digits'],
  ])('%s loses something in a double and is refused, or kept as its text where that is asked for', (text, reason) => {
    expect(reasonOf(text)).toContain(reason)
    expect(parseJson(`{"a":[${text},1]}`, { keepsNumbers: true })).toEqual({ ok: true, value: { a: [text, 1] } })
  })

  test('every double that JSON.stringify writes, up to the limit, is taken and unchanged', () => {
    const safe = Number.MAX_SAFE_INTEGER
    fc.assert(
      fc.property(fc.double({ min: -safe, max: safe, noNaN: true }), (value) => {
        expect(parseJson(JSON.stringify(value))).toEqual({ ok: true, value: value === 0 ? 0 : value })
      }),
      { numRuns: 2_000 },
    )
  })

  test('every double printed with up to 17 digits, as other languages do, is taken', () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-300, max: 1e15, noNaN: true }), fc.integer({ min: 1, max: 17 }), (value, digits) => {
        const text = value.toPrecision(digits)
        expect(parseJson(text)).toEqual({ ok: true, value: Number(text) })
      }),
      { numRuns: 2_000 },
    )
  })

  test.each(['01', '+1', '.5', '1.', '1e', '1e+', '-', '--1', '0x10', '1_000', 'NaN', 'Infinity', '-Infinity', '1n', '１'])(
    '%s is no number',
    (text) => expect(parseJson(text).ok).toBe(false),
  )
})

describe('half surrogate pairs', () => {
  test.each([
    '"\ud800"',
    '"a\udfffb"',
    '{"\ud83d":1}',
    '"\ude00\ud83d"',
    '"\\ud800"',
    '"\\uDFFF"',
    '{"\\ud83d":1}',
    '"\\ude00\\ud83d"',
    '"\ud83d\\ude00"',
  ])('are refused in values and keys, raw or escaped: %j', (text) => expect(reasonOf(text)).toMatch(/half of a surrogate pair/))

  test('whole pairs are fine, raw or escaped', () => {
    expect(parseJson('["\u{1f600}", "\\ud83d\\ude00"]')).toEqual({ ok: true, value: ['\u{1f600}', '\u{1f600}'] })
  })
})

describe('limits', () => {
  const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)

  test('64 levels are taken and 65 refused', () => {
    expect(parseJson(nested(64)).ok).toBe(true)
    expect(reasonOf(nested(65))).toBe('nested deeper than 64 levels (at 64)')
    expect(reasonOf(`${'{"a":'.repeat(65)}1${'}'.repeat(65)}`)).toMatch(/^nested deeper/)
    expect(parseJson(nested(3), { maxDepth: 2 }).ok).toBe(false)
    expect(parseJson('1', { maxDepth: 0 }).ok).toBe(true)
    expect(parseJson('[]', { maxDepth: 0 }).ok).toBe(false)
  })

  test('a caller cannot raise the depth to where the stack ends', () => {
    expect(parseJson(nested(100_000), { maxDepth: Infinity, maxBytes: Infinity })).toMatchObject({ ok: false, at: 1_000 })
  })

  test('256 KB of UTF-8 are taken and one byte more is too large', () => {
    const quoted = (text: string): string => `"${text}"`
    expect(parseJson(quoted('x'.repeat(262_142))).ok).toBe(true)
    expect(parseJson(quoted('x'.repeat(262_143)))).toEqual({ ok: false, reason: 'larger than 262144 bytes', tooLarge: true, at: 0 })
    // 3 bytes for one unit, 4 bytes for two.
    expect(parseJson(quoted('€'.repeat(87_381))).ok).toBe(false)
    expect(parseJson(quoted('€'.repeat(87_380))).ok).toBe(true)
    expect(parseJson(quoted('\u{1f600}'.repeat(65_536))).ok).toBe(false)
    expect(parseJson(quoted('\u{1f600}'.repeat(65_535))).ok).toBe(true)
    expect(parseJson('[1,2]', { maxBytes: 4 })).toMatchObject({ ok: false, tooLarge: true })
  })
})

test('hostile texts are answered at once', () => {
  const size = 262_000
  const texts = [
    '['.repeat(100_000),
    '{"a":'.repeat(50_000),
    '9'.repeat(size),
    `1${'0'.repeat(size)}`,
    `1${'0'.repeat(200_000)}e-200000`,
    `0.${'0'.repeat(200_000)}1`,
    `1e${'9'.repeat(size)}`,
    `[${'0,'.repeat(130_000)}0]`,
    `"${'\\n'.repeat(130_000)}"`,
    `"${'\\ud800'.repeat(40_000)}"`,
    `"${'x'.repeat(10_000_000)}"`,
    ' '.repeat(size),
    '"'.repeat(size),
    '\\'.repeat(size),
    `{${Array.from({ length: 20_000 }, (_, i) => `"${i}":${i}`).join()}}`,
    `{${Array.from({ length: 12_000 }, (_, i) => `"k${i}":{"a":${i}}`).join()}}`,
    `{${Array.from({ length: 16_000 }, (_, i) => `"${4_294_967_295 - i}":1`).join()}}`,
  ]
  const startedAt = cpuTimeMs()
  for (const text of texts) expect(typeof parseJson(text).ok).toBe('boolean')
  // Together well under a second; anything quadratic takes minutes.
  expect(cpuTimeMs() - startedAt).toBeLessThan(5_000)
})

test('what is read is plain: no getter, no inherited member, nothing shared', () => {
  const result = parseJson('{"a":{"b":[1]},"c":{"b":[1]}}')
  if (!result.ok) throw new Error(result.reason)
  expect(Object.getPrototypeOf(result.value)).toBe(Object.prototype)
  expect(structuredClone(result.value)).toEqual(result.value)
  expect(({} as Record<string, unknown>).b).toBeUndefined()
})

test('a text may hold as many values as its limit, containers included, and not one more', () => {
  const limits = { maxValues: 4 }
  expect(parseJson('[1,2,3]', limits)).toMatchObject({ ok: true })
  expect(parseJson('[1,2,3,4]', limits)).toMatchObject({ ok: false, tooLarge: true, reason: expect.stringContaining('more than 4 values') })
  expect(parseJson('{"a":1,"b":[2,3]}', limits)).toMatchObject({ ok: false, tooLarge: true })
})

test('only "constructor" may not hold "prototype"', () => {
  expect(parseJson('{"a":{"prototype":1}}')).toMatchObject({ ok: true })
  expect(reasonOf('{"constructor":{"prototype":1}}')).toContain('"constructor" holding "prototype" is not allowed')
})

test('a refusal quotes at most 40 characters of a key', () => {
  const twice = (key: string) => reasonOf(`{"${key}":1,"${key}":2}`)
  expect(twice('k'.repeat(40))).toContain(`the key "${'k'.repeat(40)}" appears twice`)
  expect(twice('k'.repeat(41))).toContain(`the key "${'k'.repeat(40)}…" appears twice`)
})
