import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test as base, expect, onTestFinished, vi } from 'vitest'
import { temporaryFolder } from '../../../../verification/testing/test-server.ts'
import { checkFor, checkPagesBeside } from './check-pages.ts'
import { openSqlite } from './sqlite/sqlite.ts'
import { addEvent } from './testing/add-event.ts'

// The process that checks is found in /proc.
const test = base.skipIf(process.platform !== 'linux')

function makeDatabase(): string {
  const folder = temporaryFolder()
  onTestFinished(() => folder[Symbol.dispose]())
  const file = join(folder.path, 'countersign.db')
  const db = new DatabaseSync(file)
  db.exec('create table t (a)')
  db.close()
  return file
}

/** Locks a database: a check of it waits until the test ends, so it is still there when the test looks. Unlocked, one takes 40 ms. */
function lock(file: string): void {
  const db = new DatabaseSync(file)
  onTestFinished(() => db.close())
  db.exec('begin exclusive')
}

/** Returns the processes that check a file. */
function checkersOf(file: string): number[] {
  const commandOf = (pid: string): string => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
    } catch {
      return ''
    }
  }
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid) && commandOf(pid).includes(file))
    .map(Number)
}

for (const signal of ['SIGTERM', 'SIGINT', 'SIGKILL'] as const) {
  test(`a check of the pages that ${signal} ends finds no damage, says why it ended, and is made again`, async () => {
    const file = makeDatabase()
    lock(file)
    const ended = Promise.withResolvers<string>()
    const onDamage = vi.fn((damage: string) => ended.resolve(`damage: ${damage}`))
    const end = checkPagesBeside(file, { onDamage, onUnfinished: ended.resolve, againMs: 0 })
    onTestFinished(end)
    const [pid] = checkersOf(file)
    process.kill(pid ?? Number.NaN, signal)
    expect(await ended.promise).toBe(`it was ended by ${signal}`)
    expect(onDamage).not.toHaveBeenCalled()
    await expect.poll(() => checkersOf(file).filter((again) => again !== pid)).toHaveLength(1)
  })
}

test('a check of the pages that was ended with the server says nothing', async () => {
  const file = makeDatabase()
  const [onDamage, onUnfinished] = [vi.fn(), vi.fn()]
  checkPagesBeside(file, { onDamage, onUnfinished, againMs: 0 })()
  await expect.poll(() => checkersOf(file)).toEqual([])
  expect([onDamage, onUnfinished].map(({ mock }) => mock.calls)).toEqual([[], []])
})

test('a file that the check of the pages may not open is not called damaged', async () => {
  const file = join(makeDatabase(), '..', 'missing', 'countersign.db')
  expect(checkFor(file, 60_000)).toBe('')
  const ended = Promise.withResolvers<string>()
  const end = checkPagesBeside(file, { onDamage: (damage) => ended.resolve(`damage: ${damage}`), onUnfinished: ended.resolve })
  onTestFinished(end)
  expect(await ended.promise).toBe('unable to open database file')
})

test('a server whose check of a large file is killed goes on writing', async () => {
  using folder = temporaryFolder()
  const ended = Promise.withResolvers<string>()
  const open = (checkMs?: number) =>
    openSqlite({ dataDir: folder.path, onCommitted: () => undefined, onDamage: ended.resolve, onUnchecked: ended.resolve, checkMs })
  await open().close()
  const file = join(folder.path, 'countersign.db')
  const db = new DatabaseSync(file)
  // Rows with an index take eight times as long to check as one value of that size: the check is still there when the test looks.
  db.exec(`create table large (n integer, text text); create index of_large on large (text);
    with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 700000)
    insert into large select n, printf('%040d', n) from numbers`)
  db.close()
  const store = open(1)
  onTestFinished(() => store.close())
  const [pid] = checkersOf(file)
  process.kill(pid ?? Number.NaN, 'SIGKILL')
  expect(await ended.promise).toBe('it was ended by SIGKILL')
  await store.transact((outbox) => addEvent(outbox, 'first'))
  expect(store.health.damage).toBeUndefined()
})
