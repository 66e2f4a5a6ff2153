import { expect, test } from 'vitest'
import { say } from './say.ts'

test('the terminal marks names that look alike, and spells out what cannot be seen', () => {
  const written: string[] = []
  say('Added аdmin@example.com\u001B[2K', { write: (text) => written.push(text) > 0 })
  expect(written).toEqual(['Added аdmin⟦U+0430 Cyrillic⟧@example.com⟦U+001B⟧[2K\n'])
})
