import { expect, test } from 'vitest'
import { keyOf, openNames } from './identify.ts'

const nameIn = (source: string, expression: string) => {
  const index = source.indexOf(expression)
  const before = source.slice(0, index).split('\n')
  const line = before.length
  const column = (before.at(-1) ?? '').length + 1
  const location = { start: { line, column }, end: { line, column: column + expression.length } }
  return openNames('a.ts', source)({ mutator: 'ConditionalExpression', replacement: 'true', location })
}

const SOURCE = `export function mayStart(row: Row, now: number) {
  if (row.state === 'approved') return now > 1
}
`

test('a mutant is named by its function and its expression', () => {
  expect(nameIn(SOURCE, "row.state === 'approved'")).toEqual({
    file: 'a.ts',
    in: 'mayStart',
    mutator: 'ConditionalExpression',
    text: "_.state === 'approved'",
    becomes: 'true',
  })
})

test('its name stays when a local is renamed and when lines move', () => {
  const before = nameIn(SOURCE, "row.state === 'approved'")
  const after = nameIn(`\n\n${SOURCE.replaceAll('row', 'found')}`, "found.state === 'approved'")
  expect(keyOf(after)).toBe(keyOf(before))
})

test('its name changes with what is compared and with the function', () => {
  const before = keyOf(nameIn(SOURCE, "row.state === 'approved'"))
  expect(keyOf(nameIn(SOURCE.replace('row.state', 'row.verdict'), "row.verdict === 'approved'"))).not.toBe(before)
  expect(keyOf(nameIn(SOURCE.replace('mayStart', 'mayEnd'), "row.state === 'approved'"))).not.toBe(before)
})

test('a function that a variable holds, and one in a class, give their names; a callback gives that of the function around it', () => {
  expect(nameIn('const decide = (a: number) => a > 1', 'a > 1').in).toBe('decide')
  expect(nameIn('class A { run(a: number) { return a > 1 } }', 'a > 1').in).toBe('run')
  expect(nameIn('function all(rows: number[]) { return rows.filter((one) => one > 1) }', 'one > 1').in).toBe('all')
  expect(nameIn('export const LIMIT = 4 > 3', '4 > 3').in).toBe('module')
})
