import fc from 'fast-check'
import { expect, test } from 'vitest'
import { areAlike, isPlain } from './ascii.ts'
import { findLookAlikes, tellApart } from './look-alike.ts'
import { showInvisible, showLines } from './show-invisible.ts'
import { spellUnseen } from './spell-unseen.ts'

const ascii = fc.string({ unit: 'binary-ascii', maxLength: 40 })
/** Addresses, and the letters that look alike: what random text rarely has. */
const pieces = fc
  .array(
    fc.constantFrom(
      '1',
      'l',
      'I',
      '|',
      '0',
      'O',
      'rn',
      'm',
      '`',
      "'",
      ' ',
      '\n',
      '\t',
      'XN--',
      'xn--mnchen-3ya',
      'ada@',
      'http://',
      '.de',
      '/',
    ),
    {
      maxLength: 8,
    },
  )
  .map((list) => list.join(''))
const anyText = fc.oneof(
  ascii,
  pieces,
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom('аdmin', 'ada@müller.de', 'é1', 'a\u200Bb'),
)

test('in a plain text there is no name to mark: every character that cannot be seen is spelled out, and nothing else', () => {
  fc.assert(
    fc.property(anyText, anyText, (one, other) => {
      const text = `${one} ${other}`
      fc.pre(isPlain(text))
      expect(spellUnseen(text)).toBe(showInvisible(text))
      expect(text.split('\n').map(spellUnseen).join('\n')).toBe(showLines(text))
      expect(findLookAlikes([text])).toEqual([])
    }),
  )
})

test('a name with a letter beyond ASCII, a host in other letters, and one spelled xn-- are not plain', () => {
  for (const text of ['аdmin', 'José', '€', 'a\u200Bb', 'https://xn--pple-43d.com', 'ada@XN--pple-43d.com'])
    expect(isPlain(text), text).toBe(false)
  for (const text of ['', 'Refund 40.00 to ada@example.com', 'a\tb\u0000']) expect(isPlain(text), text).toBe(true)
})

test('two plain texts are alike exactly where they have to be told apart', () => {
  fc.assert(
    fc.property(fc.oneof(ascii, pieces), fc.oneof(ascii, pieces), (one, other) => {
      fc.pre(isPlain(one + other))
      expect(areAlike(one, other)).toBe(tellApart(one, other) !== undefined)
    }),
  )
  fc.assert(
    fc.property(ascii, fc.constantFrom(['1', 'l'], ['I', '|'], ['0', 'O'], ['rn', 'm'], ['`', "'"], [' ', '']), (text, pair) => {
      const [one, other] = pair.map((piece) => text + piece) as [string, string]
      fc.pre(isPlain(one + other))
      expect(areAlike(one, other)).toBe(tellApart(one, other) !== undefined)
    }),
  )
})
