import fc from 'fast-check'
import { expect, test } from 'vitest'
import { checkJson } from './check.ts'
import { parseJson } from './parse.ts'

const KEYS = ['__proto__', 'constructor', 'prototype', 'toString', 'polluted', 'a', '__defineGetter__', 'hasOwnProperty', '']
const spelled = (key: string) =>
  fc.constantFrom(JSON.stringify(key), `"${[...key].map((char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')}"`)

/** JSON text in which the names that reach a prototype stand anywhere, in any spelling. */
const { text } = fc.letrec<{ text: string }>((tie) => ({
  text: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom('1', 'true', '"x"', 'null', '{"polluted":true}'),
    fc.array(tie('text'), { maxLength: 3 }).map((items) => `[${items.join()}]`),
    fc
      .array(fc.tuple(fc.constantFrom(...KEYS).chain(spelled), tie('text')), { maxLength: 3 })
      .map((members) => `{${members.map(([key, value]) => `${key}:${value}`).join()}}`),
  ),
}))

/** Properties that every plain object would have if a prototype had been changed. */
const prototypes = () => [Object.prototype, Array.prototype, Function.prototype].map((one) => Reflect.ownKeys(one).length).join()

test('no JSON from outside changes a prototype, nor yields an object with another one', () => {
  const before = prototypes()
  let refused = 0
  fc.assert(
    fc.property(text, (given) => {
      const parsed = parseJson(given)
      const checked = checkJson(JSON.parse(given))
      if (!parsed.ok || !checked.ok) refused++
      for (const result of [parsed, checked]) {
        if (!result.ok) continue
        const copy: object = {}
        const merged: object = Object.assign(copy, result.value)
        expect(Reflect.get(merged, 'polluted') === undefined || Object.hasOwn(merged, 'polluted')).toBe(true)
        expect(JSON.stringify(result.value)).not.toContain('"__proto__"')
      }
      expect(Reflect.get({}, 'polluted')).toBeUndefined()
    }),
    { numRuns: 10_000 },
  )
  expect(prototypes()).toBe(before)
  expect(refused).toBeGreaterThan(1_000)
})
