import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { FAILURES } from './failures.ts'
import { notOurRows, ourRows } from './table.ts'

const BUGS = FAILURES.flatMap(({ bugs }) => bugs)
const read = (file: string): Promise<string> => readFile(fileURLToPath(new URL(`../../../${file}`, import.meta.url)), 'utf8')

test('every bug in the list has a name of its own', () => {
  expect(new Set(BUGS.map(({ bug }) => bug)).size).toBe(BUGS.length)
})

test('the test that every planted failure names is there', async () => {
  for (const { bug, test } of BUGS) {
    const text = await read(test.file)
    const titles = [/'([^'\n]+)'/g, /`([^`\n]+)`/g, /"([^"\n]+)"/g].flatMap((quoted) =>
      [...text.matchAll(quoted)].map(([, title = '']) => title),
    )
    expect(
      titles.some((title) => patternOf(title).test(test.name)),
      `${bug}: ${test.name}`,
    ).toBe(true)
  }
})

test('the table of docs/concepts/guarantees.md is the list that is planted', async () => {
  const lines = (await read('docs/concepts/guarantees.md')).split('\n')
  const table = (heading: string): string[] => {
    const rows = lines.slice(lines.indexOf(heading) + 2)
    return rows.slice(0, rows.indexOf(''))
  }
  expect(table('| whose | what went wrong | what of ours prevents it | planted here | noticed by |')).toEqual(ourRows())
  expect(table('| whose | what went wrong | why it cannot happen here |')).toEqual(notOurRows())
})

/** What a title may read as when it runs: words stand for themselves, what is filled in for anything. */
const patternOf = (title: string): RegExp => {
  const words = title.split(/\$\{[^}]*\}|\$\w+|%s/)
  return words.join('').length < 5 ? /$./ : new RegExp(`^${words.map((text) => RegExp.escape(text)).join('.+')}$`)
}
