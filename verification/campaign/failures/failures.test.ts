import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { hasTest } from '../../testing/test-titles.ts'
import { FAILURES } from './failures.ts'
import { withTables } from './table.ts'

const BUGS = FAILURES.flatMap(({ bugs }) => bugs)
const read = (file: string): Promise<string> => readFile(fileURLToPath(new URL(`../../../${file}`, import.meta.url)), 'utf8')

test('every bug in the list has a name of its own', () => {
  expect(new Set(BUGS.map(({ bug }) => bug)).size).toBe(BUGS.length)
})

test('the test that every planted failure names is there', async () => {
  for (const { bug, test } of BUGS) {
    const text = await read(test.file)
    expect(hasTest(text, test.name), `${bug}: ${test.name}`).toBe(true)
  }
})

test('the tables of verification/guarantees.md are written from the list: npm run docs:guarantees does it', async () => {
  const page = await read('verification/guarantees.md')
  expect(page).toBe(withTables(page))
})

test('a row that was changed by hand, added or lost is written anew', async () => {
  const page = await read('verification/guarantees.md')
  const row = page.split('\n').find((line) => line.includes('D2.5') || line.startsWith('|  |  |  | a program decides'))
  expect(row).toBeDefined()
  for (const by of ['', `${row}\n${row}`, '| by hand |']) {
    const changed = page.replace(`${row}`, by === '' ? '| gone |' : by)
    expect(changed).not.toBe(page)
    expect(withTables(changed)).toBe(page)
  }
})
