import fc from 'fast-check'
import { expect, test } from 'vitest'
import { colourPieces } from './code.ts'
import { languageOf } from './code-part.ts'
import { markWords, piecesOf } from './mark-words.ts'

const coloured = (line: string, language: string) =>
  colourPieces(piecesOf(line), language).flatMap(({ code = [] }) => code.flatMap(({ text, colour }) => (colour ? [[colour, text]] : [])))

test('words, strings, numbers, comments and names of code have colours, and nothing in front of it has', () => {
  expect(coloured('+const total = sum(12, "a") // all', 'ts')).toEqual([
    ['word', 'const'],
    ['name', 'sum'],
    ['number', '12'],
    ['string', '"a"'],
    ['comment', '// all'],
  ])
  expect(coloured('-SELECT 1', 'sql')).toEqual([
    ['word', 'SELECT'],
    ['number', '1'],
  ])
})

test('the language is that of the file’s name; prose and names that say nothing have none', () => {
  const named = (name: string) => languageOf(`--- a/${name}\n+++ b/${name}\n@@ -1 +1 @@\n-a\n+b\n`)
  expect(['src/main.TS', 'a b.py', 'Dockerfile', 'x/y.yml'].map(named)).toEqual(['ts', 'py', 'docker', 'yaml'])
  for (const name of ['README.md', 'notes.txt', 'LICENSE', 'constructor', 'a.__proto__', '']) expect(named(name)).toBeUndefined()
  // A line of the file is not its name.
  expect(languageOf('--- a/x.md\n+++ b/x.md\n@@ -1 +1 @@\n+++ b/x.ts\n')).toBeUndefined()
})

const LANGUAGES = ['bash', 'c', 'css', 'docker', 'go', 'html', 'ini', 'java', 'js', 'json', 'py', 'rs', 'sql', 'toml', 'ts', 'xml', 'yaml']
const lines = fc.oneof(
  fc.string({ maxLength: 400 }),
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc
    .array(
      fc.constantFrom(
        '/*',
        '*/',
        '//',
        '"',
        "'",
        '`',
        '${',
        '}',
        '\\',
        '😀',
        '⟦U+202E⟧',
        '\u202e',
        '\t',
        '<a',
        'href=',
        '>',
        '#',
        'function ',
        ' ',
      ),
      { maxLength: 40 },
    )
    .map((parts) => parts.join('')),
)

test('colours change no letter of a line, drop none, and take no mark away, whatever the code is', () => {
  fc.assert(
    fc.property(lines, lines, fc.constantFrom(...LANGUAGES), (before, after, language) => {
      const sides = markWords(before, after) ?? [piecesOf(before), piecesOf(after)]
      for (const side of sides) {
        const pieces = [{ text: '+', isChanged: false, isSpace: false }, ...side]
        const result = colourPieces(pieces, language)
        expect(result.map(({ code, ...piece }) => piece)).toEqual(pieces)
        const parts = (code: (typeof result)[number]['code'] = []) => code.map(({ text }) => text)
        if (result !== pieces) expect(result.map(({ code }) => parts(code).join(''))).toEqual(pieces.map(({ text }) => text))
        expect(result.flatMap(({ code }) => parts(code)).every((text) => text.isWellFormed())).toBe(true)
      }
    }),
    { numRuns: 2_000 },
  )
})

test('a line of 20,000 letters is left as it is: no pattern runs over it', () => {
  const pieces = piecesOf(`+${'a'.repeat(20_000)}`)
  expect(colourPieces(pieces, 'ts')).toBe(pieces)
})
