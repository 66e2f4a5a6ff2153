import { expect, test } from 'vitest'
import { openTempPostgres, openTempSqlite } from '../../testing/temp-store.ts'
import { everyOrder, everySequence, type Op, TABLES, type Table } from './model.ts'
import { runTables } from './table.ts'

/** Every `nth` of these, beginning with another one each day would be no test of the same thing: always with the first. */
function* every<T>(nth: number, values: Iterable<T>): Generator<T> {
  let at = 0
  for (const value of values) if (at++ % nth === 0) yield value
}

function* cases(length: number): Generator<{ table: Table; ops: Op[] }> {
  for (const table of TABLES) {
    for (const ops of everyOrder(table)) yield { table, ops }
    for (const ops of everySequence(table, length)) yield { table, ops }
  }
}

test('n of m votes come to what the rules say, in any order, with double and changed votes, demotions and new revisions in between', async () => {
  await using temp = await openTempSqlite()
  const run = await runTables({ store: temp.store, cases: every(11, cases(3)) })
  expect(run.violations).toEqual([])
  expect(run.sequences).toBeGreaterThan(1_500)
  for (const [answer, count] of Object.entries(run.answers)) expect(count, answer).toBeGreaterThan(100)
})

test('so they do on Postgres', async () => {
  await using temp = await openTempPostgres()
  const run = await runTables({ store: temp.store, cases: every(131, cases(3)), workers: 16 })
  expect(run.violations).toEqual([])
  expect(run.sequences).toBeGreaterThan(100)
})
