import { expect, test } from 'vitest'
import { titleFrom } from './messages.ts'

test('a title is cut to 80 characters and never ends in half of one', () => {
  for (const [said, title] of [
    ['  Ship\n ORD-1  ', 'Ship ORD-1'],
    ['a'.repeat(81), `${'a'.repeat(79)}…`],
    [`${'a'.repeat(77)}😀 and more`, `${'a'.repeat(77)}😀…`],
    [`${'a'.repeat(78)}😀 and more`, `${'a'.repeat(78)}\ufffd…`],
  ] as const) {
    expect(titleFrom(said)).toBe(title)
    expect(title.length).toBeLessThanOrEqual(80)
  }
})
