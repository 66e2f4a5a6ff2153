import fc from 'fast-check'
import { expect, test } from 'vitest'
import { findText } from './find-text.ts'

test('a text is found where indexOf finds it, also where both repeat themselves', () => {
  const repeats = fc.stringMatching(/^[ab]{0,80}$/)
  const wanted = fc.stringMatching(/^[ab]{1,40}$/)
  fc.assert(fc.property(repeats, wanted, fc.nat(50), (text, part, from) => findText(text, part, from) === text.indexOf(part, from)))
  fc.assert(
    fc.property(fc.string(), fc.string({ minLength: 16 }), fc.string(), (head, part, tail) => {
      const text = head + part + tail
      return findText(text, part) === text.indexOf(part)
    }),
  )
})

test('texts that the engine’s own search takes a minute for are searched as fast as others', () => {
  const text = 'a'.repeat(1_000_000)
  expect(findText(text, `${'a'.repeat(100_000)}b${'a'.repeat(100_000)}`)).toBe(-1)
  expect(findText(`${text}b`, `${'a'.repeat(100_000)}b`)).toBe(900_000)
})
