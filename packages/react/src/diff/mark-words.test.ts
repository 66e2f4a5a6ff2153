import { showInvisible } from '@countersign/core/text'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cpuTimeMs } from '../../../../verification/testing/cpu-time.ts'
import { markWords, type Piece, piecesOf } from './mark-words.ts'

const LINE = 'The refund of order ORD-100 goes to the card that paid for it, within three days. '.repeat(25)
const marksOf = (pieces: readonly Piece[] = []) => pieces.filter(({ isChanged }) => isChanged).map(({ text }) => text)
const textOf = (pieces: readonly Piece[] = []) => pieces.map(({ text }) => text).join('')

test('one changed word of a long line is marked, and nothing else', () => {
  const words = markWords(LINE, LINE.replace('three days', 'nine days'))
  expect([marksOf(words?.[0]), marksOf(words?.[1])]).toEqual([['three'], ['nine']])
  expect(textOf(words?.[1])).toBe(LINE.replace('three days', 'nine days'))
})

test('a letter that looks the same is marked in a line of 2,000 characters, with what it is', () => {
  const forged = LINE.replace('paid', 'pаid')
  expect(marksOf(markWords(LINE, forged)?.[1])).toEqual(['pаid⟦U+0430 Cyrillic⟧'])
  // A whole word in another script has no mark of its own.
  const words = markWords(LINE.replace('paid', 'coco'), LINE.replace('paid', 'сосо'))
  expect(marksOf(words?.[1])).toEqual(['сосо'])
  expect(words?.[1].find(({ isChanged }) => isChanged)?.alike).toMatch(/^look alike, differ in character 1: U\+0063 .* Cyrillic$/)
  expect(markWords('send ORD-100 to the shop', 'send ORD-1O0 to the shop')?.[1].find(({ isChanged }) => isChanged)?.alike).toMatch(
    /U\+0030 → U\+004F/,
  )
})

test('what cannot be seen stays spelled out inside a mark', () => {
  expect(marksOf(markWords(LINE, LINE.replace('paid', 'pa\u200bid'))?.[1])).toEqual(['pa⟦U+200B⟧id'])
  expect(marksOf(markWords(LINE, LINE.replace('paid', '\u202epaid'))?.[1])).toEqual(['⟦U+202E⟧paid'])
  const spaced = markWords('one two three', 'one\ttwo three  ')?.[1]
  expect(spaced?.filter(({ isSpace, isChanged }) => isSpace && isChanged).map(({ text }) => text)).toEqual(['\t', '  '])
})

test('lines that have little in common are marked as a whole, as are lines with brackets of their own', () => {
  expect(markWords('one', 'three')).toBeUndefined()
  expect(markWords('pay admin today', 'pay аdmin⟦U+0430 Cyrillic⟧ today')).toBeUndefined()
  const words = (from: number) => Array.from({ length: 60_000 }, (_, at) => from + at).join(' ')
  expect(markWords(words(0), words(500_000))).toBeUndefined()
})

test('the pieces of any two lines show both of them whole, and what is not marked is the same in both', () => {
  const line = fc
    .array(fc.constantFrom('pay', 'pаy', 'coco', 'сосо', ' ', '\t', '.', '\u200b', '\u202e', 'ü', '1', 'l', '//', '@', 'xn--pple-43d.com'))
    .map((parts) => parts.join(''))
  fc.assert(
    fc.property(line, line, line, (head, one, other) => {
      const words = markWords(head + one, head + other)
      if (words === undefined) return
      const shown = (text: string) =>
        text
          .split(/(\t+|(?<=.) +$)/)
          .map((part, at) => (at % 2 ? part : showInvisible(part)))
          .join('')
      expect(words.map(textOf)).toEqual([shown(head + one), shown(head + other)])
      const same = (pieces: readonly Piece[]) => textOf(pieces.filter(({ isChanged }) => !isChanged))
      expect(same(words[0])).toBe(same(words[1]))
    }),
  )
})

test('a line takes no longer for the spaces or the brackets in it', () => {
  for (const line of [`x${' '.repeat(250_000)}y`, ' '.repeat(250_000), '⟦'.repeat(80_000)]) {
    const startedAt = cpuTimeMs()
    expect(textOf(piecesOf(line))).toBe(line)
    expect(cpuTimeMs() - startedAt).toBeLessThan(3_000)
  }
  expect(piecesOf('   ').map(({ text }) => text)).toEqual([' ', '  '])
  expect(piecesOf('a  b  ').map(({ text }) => text)).toEqual(['a  b', '  '])
})
