import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { openTempPostgres, openTempSqlite, raw } from '../../testing/temp-store.ts'
import { judgeSoak } from './judge.ts'
import { runSoak, type Sample, type SoakReport } from './run-soak.ts'
import { TABLES } from './tables.ts'

async function tablesOfSqlite(): Promise<string[]> {
  await using temp = await openTempSqlite()
  const rows = await temp.store.read(() =>
    raw(sql<{ name: string }>`select name from sqlite_schema where type = 'table' and name not like 'sqlite%'`),
  )
  return rows.map(({ name }) => name)
}

async function tablesOfPostgres(): Promise<string[]> {
  await using temp = await openTempPostgres()
  const rows = await temp.store.read(() =>
    raw(sql<{ name: string }>`select case when table_schema = 'public' then '' else table_schema || '.' end || table_name as name
      from information_schema.tables where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`),
  )
  return rows.map(({ name }) => name)
}

test('every table of both databases has an owner, whom the page on retention names', async () => {
  const tables = new Set([...(await tablesOfSqlite()), ...(await tablesOfPostgres())])
  expect([...tables].sort()).toEqual(Object.keys(TABLES).sort())
})

const MINUTE_MS = 60_000

/** An hour of one sample a minute. */
const reportOf = (given: (minute: number) => Partial<Sample>): SoakReport => ({
  database: 'sqlite',
  deeds: {},
  failures: [],
  cpuSeconds: 0,
  samples: Array.from({ length: 61 }, (_, minute) => ({
    ...{ atMs: minute * MINUTE_MS, rssBytes: 180e6, heapBytes: 50e6, resources: 8, loopDelayP99Ms: 30, handles: 32 },
    ...{ walBytes: 16e6, databaseBytes: 0, rows: { action: minute * 100, once: 500 } },
    ...given(minute),
  })),
})

test('the soak notices memory, open files, timers, a log and rows that grow, and a table that nobody owns', () => {
  expect(judgeSoak(reportOf(() => ({})))).toEqual([])
  // Beginnings are let be, and so is what SQLite keeps of its file.
  expect(judgeSoak(reportOf((minute) => ({ rssBytes: minute < 9 ? 60e6 : 180e6 })))).toEqual([])
  expect(judgeSoak(reportOf((minute) => ({ rssBytes: 180e6 + minute * 1e6, databaseBytes: minute * 1e6 })))).toEqual([])
  const seen = (given: (minute: number) => Partial<Sample>) => judgeSoak(reportOf(given))[0] ?? ''
  expect(seen((minute) => ({ rssBytes: 180e6 + minute * 1e6 }))).toContain('memory went from')
  expect(seen((minute) => ({ handles: 32 + minute }))).toContain('open files went from')
  expect(seen((minute) => ({ resources: 8 + minute }))).toContain('timers and sockets went from')
  expect(seen(() => ({ walBytes: 40e6 }))).toContain('the write-ahead log reached')
  expect(seen((minute) => ({ rows: { once: minute * 50 } }))).toContain('the table once went from')
  expect(seen(() => ({ rows: { surprise: 1 } }))).toContain('nobody owns the table surprise')
})

// A small part of `npm run test:campaign -- --only soak`.
test('a few seconds of the soak: all that clients do succeeds', async () => {
  const report = await runSoak({ database: 'sqlite', seed: 1, durationMs: 6_000, perSecond: 8, sampleEveryMs: 3_000, say: () => undefined })
  expect(report.failures).toEqual([])
  expect(Object.keys(report.deeds)).toHaveLength(11)
  expect(report.samples.length).toBeGreaterThanOrEqual(2)
  expect(judgeSoak(report).filter((violation) => violation.includes('nobody owns'))).toEqual([])
})
