import { expect, test } from 'vitest'
import { safeJson, say } from './say.ts'

test('the terminal marks names that look alike, and spells out what cannot be seen', () => {
  const written: string[] = []
  say('Added аdmin@example.com\u001B[2K', { write: (text) => written.push(text) > 0 })
  expect(written).toEqual(['Added аdmin⟦U+0430 Cyrillic⟧@example.com⟦U+001B⟧[2K\n'])
})

test('JSON for a terminal or a program holds no character that a terminal obeys, and is the same value', () => {
  const value = { text: 'a\u001b[2J\u009b2J\u202eb\u{e0041}\u007f' }
  expect(safeJson(value)).not.toMatch(/[\p{Cc}\p{Cf}]/u)
  expect(JSON.parse(safeJson(value))).toEqual(value)
})
