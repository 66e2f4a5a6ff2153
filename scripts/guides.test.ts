import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { repeatedSentences } from './docs/repeated.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const read = (pattern: string, exclude: RegExp) =>
  globSync(pattern, { cwd: ROOT, exclude: (path) => exclude.test(path) }).map((path) => ({
    path,
    text: readFileSync(join(ROOT, path), 'utf8'),
  }))

/** Words of libraries and protocols, and a message that is put together from parts: they are not in the source as they stand. */
const FROM_ELSEWHERE = ['Unknown variable: user', 'WWW-Authenticate']

/** The texts that a reader of a guide searches for: the code in the first column of the tables under "What can go wrong". */
function quotedTexts(page: string): string[] {
  const [, section = ''] = /^## What can go wrong\n(.*?)(?=^## |$(?![\s\S]))/ms.exec(page) ?? []
  const rows = section.split('\n').filter((line) => line.trimStart().startsWith('| '))
  const first = rows.map((row) => row.split(/(?<!\\)\|/)[1] ?? '')
  return first.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, quote = '']) => quote))
}

const missingIn = (source: string, page: string): string[] =>
  quotedTexts(page)
    .flatMap((quote) => quote.split('…').map((part) => part.replace(/^["\s]+|["\s]+$/g, '')))
    .filter((part) => part !== '' && !source.includes(part) && !FROM_ELSEWHERE.includes(part))

test('every message that a guide explains is a message of the program', () => {
  const source = read('{packages/*/src/**/*.{ts,tsx},clients/python/src/**/*.py,docker/*.mjs}', /node_modules|\.test\.ts/)
    .map(({ text }) => text)
    .join('\n')
  const pages = read('docs/guides/*.md', /node_modules/)
  expect(pages.flatMap(({ text }) => quotedTexts(text)).length).toBeGreaterThan(40)
  expect(pages.flatMap(({ path, text }) => missingIn(source, text).map((part) => `${path}: ${part}`))).toEqual([])
  // The check finds a message that is not there.
  expect(missingIn(source, '## What can go wrong\n\n| `no such … sentence in the program` | x |\n\n## Limits\n')).toContain(
    'sentence in the program',
  )
})

test('no two pages say the same sentence: one says it, the other links', () => {
  const pages = read('docs/{*,*/*}.md', /node_modules|generated/)
  expect(pages.length).toBeGreaterThan(60)
  expect(repeatedSentences(Object.fromEntries(pages.map(({ path, text }) => [path, text])))).toEqual([])
  // The check sees through links and marks.
  const twice = {
    'a.md': 'A key works for `one` [agent](x.md) and for nobody else.',
    'b.md': '- A key works for one agent and for nobody else',
  }
  expect(repeatedSentences(twice)).toEqual(['a.md, b.md: A key works for one agent and for nobody else'])
})

test('the guide to the card names every CSS variable of its style, and no other', () => {
  const variables = (texts: { text: string }[]) =>
    [...new Set(texts.flatMap(({ text }) => [...text.matchAll(/--cs-[a-z-]+/g)].map(([name]) => name)))].sort()
  const styled = variables(read('packages/react/src/**/*.css', /node_modules/))
  expect(styled).toContain('--cs-accent')
  expect(variables(read('docs/guides/embed-the-card.md', /node_modules/))).toEqual(styled)
})
