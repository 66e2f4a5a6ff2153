import fc from 'fast-check'
import { expect, test } from 'vitest'
import { checkJson } from './check.ts'
import { parseJson } from './parse.ts'

test('a value is taken exactly when its JSON text is, and reads the same', () => {
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false, maxDepth: 70 }), (value) => {
      const checked = checkJson(value)
      const parsed = parseJson(JSON.stringify(value))
      expect(checked.ok).toBe(parsed.ok)
      if (checked.ok && parsed.ok) expect(checked.value).toEqual(parsed.value)
    }),
    { numRuns: 300 },
  )
})

class Order {
  readonly total = 1
}

const inItself: { list: unknown[] } = { list: [] }
inItself.list.push({ again: inItself })

const revoked = Proxy.revocable({}, {})
revoked.revoke()

const hidden = Object.defineProperty({ a: 1, [Symbol('note')]: 2 }, 'hidden', { value: () => {}, enumerable: false })

test.each<[string, unknown, string]>([
  ['NaN', [Number.NaN], 'NaN is not JSON (at /0)'],
  ['an infinity', { a: -Infinity }, '-Infinity is not JSON (at /a)'],
  ['an unsafe integer', 2 ** 53, 'the number 9007199254740992 is beyond ±9007199254740991'],
  ['undefined', undefined, 'undefined is not JSON'],
  ['an undefined member', { a: { b: undefined } }, 'undefined is not JSON (at /a/b)'],
  // biome-ignore lint/suspicious/noSparseArray: the hole is what is tested
  ['a hole', [1, , 3], 'undefined is not JSON (at /1)'],
  ['a function', { run: () => 1 }, 'function is not JSON (at /run)'],
  ['toJSON', { toJSON: () => 1 }, 'function is not JSON (at /toJSON)'],
  ['a bigint', [1n], 'bigint is not JSON (at /0)'],
  ['a symbol', Symbol('x'), 'symbol is not JSON'],
  ['a cycle', inItself, 'the value contains itself (at /list/0/again)'],
  ['a date', { at: new Date(0) }, 'only plain objects and arrays are JSON (at /at)'],
  ['a map', new Map(), 'only plain objects and arrays are JSON'],
  ['bytes', new Uint8Array(2), 'only plain objects and arrays are JSON'],
  ['a boxed string', Object('x'), 'only plain objects and arrays are JSON'],
  ['an error', new Error('x'), 'only plain objects and arrays are JSON'],
  ['an object of a class', new Order(), 'only plain objects and arrays are JSON'],
  ['an own __proto__', JSON.parse('{"a":{"__proto__":1}}'), 'the key "__proto__" is not allowed (at /a/__proto__)'],
  ['constructor.prototype', { constructor: { prototype: 1 } }, '"constructor" holding "prototype" is not allowed (at /constructor)'],
  ['half a pair in a value', ['\ud800'], 'half of a surrogate pair (\\ud800 to \\udfff) stands alone in a string (at /0)'],
  ['a path with / and ~', { 'a/b': { 'c~d': Number.NaN } }, 'NaN is not JSON (at /a~1b/c~0d)'],
  [
    'a throwing getter',
    Object.defineProperty({}, 'a', {
      enumerable: true,
      get: () => {
        throw new Error('boom')
      },
    }),
    'the value could not be read (at /a)',
  ],
  ['a revoked proxy', [revoked.proxy], 'the value could not be read (at /0)'],
])('%s is refused with its place', (_name, value, reason) => {
  expect(checkJson(value)).toMatchObject({ ok: false, reason, tooLarge: false })
})

test('a key with half a surrogate pair is refused, and the reason can be shown', () => {
  const result = checkJson({ '\udc00': 1 })
  expect(result.ok).toBe(false)
  expect(!result.ok && result.reason.isWellFormed() && result.path.isWellFormed()).toBe(true)
})

test('-0 becomes 0; members that JSON.stringify would not see are left out', () => {
  expect(checkJson([-0])).toEqual({ ok: true, value: [0] })
  expect(checkJson(hidden)).toEqual({ ok: true, value: { a: 1 } })
  expect(checkJson(Object.create(null))).toEqual({ ok: true, value: {} })
})

test('what was checked cannot be changed afterwards through the caller’s own value', () => {
  const mine = { items: [{ quantity: 1 }] }
  const result = checkJson(mine)
  mine.items[0] = { quantity: 100 }
  expect(result).toEqual({ ok: true, value: { items: [{ quantity: 1 }] } })
})

test('the same object twice, side by side, is no cycle', () => {
  const address = { city: 'Oslo' }
  expect(checkJson({ from: address, to: address })).toEqual({ ok: true, value: { from: { city: 'Oslo' }, to: { city: 'Oslo' } } })
})

test('the size is that of the written text, to the byte', () => {
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
      const checked = checkJson(value)
      if (!checked.ok) return
      const bytes = new TextEncoder().encode(JSON.stringify(checked.value)).length
      expect(checkJson(value, { maxBytes: bytes }).ok).toBe(true)
      expect(checkJson(value, { maxBytes: bytes - 1 })).toMatchObject({ ok: false, tooLarge: true })
    }),
    { numRuns: 500 },
  )
})

test('values without an end are answered: endless depth, endless length, a huge string', () => {
  const endless: object = new Proxy([], { get: (_target, key) => (key === 'length' ? Infinity : key === '0' ? endless : 1) })
  expect(checkJson(endless).ok).toBe(false)
  expect(checkJson(new Proxy([], { get: (_target, key) => (key === 'length' ? Infinity : 1) }))).toMatchObject({
    ok: false,
    tooLarge: true,
  })
  expect(checkJson('x'.repeat(100_000_000))).toMatchObject({ ok: false, tooLarge: true })
  let deep: unknown = 1
  for (let i = 0; i < 100_000; i++) deep = [deep]
  expect(checkJson(deep)).toMatchObject({ ok: false, tooLarge: false })
})
