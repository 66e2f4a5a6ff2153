import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')
const namesIn = (text: string, pattern: RegExp) => [...new Set([...text.matchAll(pattern)].map(([name]) => name))].sort()

test('the guide names every variable by which a page themes card and inbox, and no other', () => {
  const named = namesIn(read('../../../docs/guides/embed-the-card.md'), /--cs-[a-z]+(?:-[a-z]+)*/g)
  expect(named).toEqual(namesIn(read('./card.css'), /(?<=var\()--cs-[a-z]+(?:-[a-z]+)*/g))
})
