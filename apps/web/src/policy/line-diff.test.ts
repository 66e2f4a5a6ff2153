import fc from 'fast-check'
import { expect, test } from 'vitest'
import { aroundChanges, diffLines } from './line-diff.ts'

test('a diff holds every line of both texts in their order', () => {
  const text = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12 }).map((lines) => lines.join('\n'))
  fc.assert(
    fc.property(text, text, (before, after) => {
      const lines = diffLines(before, after)
      const without = (kind: string) => lines.filter((line) => line.kind !== kind).map((line) => line.text)
      expect(without('added').join('\n')).toBe(before)
      expect(without('removed').join('\n')).toBe(after)
    }),
  )
})

test('equal texts have no changes; of long ones only what is near a change is shown', () => {
  expect(aroundChanges(diffLines('a\nb', 'a\nb'))).toEqual([])
  const near = aroundChanges(diffLines('1\n2\n3\n4\n5\n6\n7', '1\n2\n3\n4\n5\n6\n8'))
  expect(near.map((line) => line?.text)).toEqual(['5', '6', '7', '8'])
})
