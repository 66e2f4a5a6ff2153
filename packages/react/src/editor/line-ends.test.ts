import { expect, test } from 'vitest'
import { fieldText, withLineEnds } from './line-ends.ts'

const FILE = 'one\r\ntwo\r\nthree\r\n'

test.each([
  { name: 'a word that is changed', typed: 'one\n2\nthree\n', expected: 'one\r\n2\r\nthree\r\n' },
  { name: 'a new line', typed: 'one\ntwo\nnew\nthree\n', expected: 'one\r\ntwo\r\nnew\r\nthree\r\n' },
  { name: 'a line that is taken out', typed: 'one\nthree\n', expected: 'one\r\nthree\r\n' },
  { name: 'what is written at the end', typed: 'one\ntwo\nthree\nfour', expected: 'one\r\ntwo\r\nthree\r\nfour' },
  { name: 'two lines that become one', typed: 'one two\nthree\n', expected: 'one two\r\nthree\r\n' },
  { name: 'nothing', typed: 'one\ntwo\nthree\n', expected: FILE },
  { name: 'all that goes', typed: '', expected: '' },
])('a text of Windows keeps its line ends with $name', ({ typed, expected }) => {
  expect(withLineEnds(FILE, typed)).toBe(expected)
})

test('in a text with several kinds of line ends, those of unchanged lines stay', () => {
  expect(withLineEnds('a\nb\r\nc\rd\n\r\n', 'a\nb\nX\nd\n\n')).toBe('a\nb\r\nX\rd\n\r\n')
})

test('a text without carriage returns is what was typed', () => {
  expect(withLineEnds('one\ntwo', 'one\n2\n')).toBe('one\n2\n')
  expect(fieldText('a\r\nb\rc\nd')).toBe('a\nb\nc\nd')
})
