import { existsSync, globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { GUARANTEES } from './guarantees/guarantees.ts'
import { hasTest } from './testing/test-titles.ts'

const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')

const rows = read('verification/promises.md')
  .split('\n')
  .filter((line) => /^\| (?:[A-Z]\d|point )/.test(line))
  .map((line) => {
    const [id = '', file = ''] = line.slice(2).split(' | ')
    return { id, file: file.replaceAll('`', ''), name: line.slice(line.indexOf('` | ') + 4, -2).replaceAll('&#124;', '|') }
  })

test('every test that the table of promises names is there', () => {
  expect(rows.length).toBeGreaterThan(300)
  const texts = new Map<string, string>()
  for (const { id, file, name } of rows) {
    const text = texts.get(file) ?? read(file)
    texts.set(file, text)
    expect(text.includes(name), `${id}: ${file} has no test "${name}"`).toBe(true)
  }
})

test('every test that the list of guarantees names is there', () => {
  for (const { id, tests } of GUARANTEES) {
    for (const [file, names] of Object.entries(tests)) {
      if (names.length === 0) expect(existsSync(new URL(`../${file}/`, import.meta.url)), `${id}: ${file}`).toBe(true)
      else
        expect(
          names.filter((name) => !hasTest(read(file), name)),
          `${id}: ${file}`,
        ).toEqual([])
    }
  }
})

test('every test that the README names is there', () => {
  const named = [...read('README.md').matchAll(/`((?:verification|e2e|packages|bench)\/[\w/.-]+\.ts)`/g)].map(([, path = '']) => path)
  expect(named.length).toBeGreaterThan(8)
  expect(named.filter((path) => !existsSync(new URL(`../${path}`, import.meta.url)))).toEqual([])
})

test('every row of the mission has a test', () => {
  const held = new Set(rows.map(({ id }) => id))
  const mission = [
    ...[1, 2, 3, 4, 5, 6, 7, 8].map((n) => `D0.${n}`),
    ...[1, 2, 3, 4, 5, 6, 7].map((n) => `D1.${n}`),
    ...[1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => `D2.${n}`),
    ...[1, 2, 3, 4, 5, 6, 7, 8].map((n) => `D3.${n}`),
    ...[1, 2, 3, 4, 5].map((n) => `D4.${n}`),
  ]
  expect(mission.filter((id) => !held.has(id))).toEqual([])
})

test('no test is named with an id of the table', () => {
  const named = rows.filter(({ name }) => /^(?:\$\{\w+\}: )?(?:D[0-4]\.\d|[ITH]\d{1,2}) /.test(name))
  expect(named).toEqual([])
})

test('every test that the table of guarantees names is there, and the page of guarantees names every invariant', () => {
  const table = read('verification/guarantees.md').split('## Measurements')[0] ?? ''
  const named = [...table.matchAll(/`([\w-]+\/[\w/.*-]+)`/g)].map(([, path = '']) => path).filter((path) => !path.startsWith('docs/'))
  const places = (path: string) => ['', 'packages/', 'packages/server/src/'].map((folder) => `${folder}${path}`)
  const root = fileURLToPath(new URL('..', import.meta.url))
  expect(named.length).toBeGreaterThan(150)
  expect(named.filter((path) => globSync(places(path), { cwd: root }).length === 0)).toEqual([])
  const idsOf = (text: string) => [...text.matchAll(/^\| (I\d+) \|/gm)].map(([, id]) => id)
  expect(idsOf(read('docs/concepts/guarantees.md'))).toEqual(idsOf(table))
  // Five minutes to read.
  expect(read('docs/concepts/guarantees.md').split(/\s+/).length).toBeLessThan(1_000)
})
