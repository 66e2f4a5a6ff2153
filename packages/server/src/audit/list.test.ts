import type { AuditListQuery } from '@countersign/core'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { sealToTheEnd } from '../../../../verification/testing/seal-to-the-end.ts'
import { openTempSqlite, raw, STORES } from '../../../../verification/testing/temp-store.ts'
import { withTurns } from '../../../../verification/testing/with-turns.ts'
import type { Store } from '../store/index.ts'
import { exportCsv } from './export.ts'
import { openAuditKey } from './key.ts'
import { listAudit } from './list.ts'
import { recordAudit } from './record.ts'
import { SYSTEM } from './row.ts'

const DAY_MS = 24 * 3_600_000
const MONDAY = Date.UTC(2026, 10, 2)
const after = (days: number): string => new Date(MONDAY + days * DAY_MS).toISOString()

/** Lists the `what` of the rows, the newest first. */
const listed = async (store: Store, query: Partial<AuditListQuery>, before?: number) =>
  (await listAudit(store, { limit: 50, ...query }, before, 51)).map(({ data }) => JSON.parse(data ?? '').what).join('')

test.each(STORES)(
  'a period lists every row of it, also those before and after rows that a wrong clock wrote ($database)',
  async ({ open }) => {
    await using temp = await open()
    const { store } = temp
    const key = await openAuditKey(store, undefined)
    async function write(what: string, atMs: number, isSealed = true): Promise<void> {
      await store.transact((outbox) => recordAudit(outbox, { kind: 'signed_in', actor: SYSTEM, data: { what } }, atMs))
      if (isSealed) await sealToTheEnd(store, key, () => atMs)
    }
    await write('A', MONDAY)
    await write('B', MONDAY + DAY_MS)
    await write('C', Date.UTC(2000, 0, 1))
    await write('D', MONDAY + 2 * DAY_MS)
    await write('E', Date.UTC(2036, 0, 1))
    await write('F', MONDAY + 3 * DAY_MS)
    await write('G', MONDAY + 4 * DAY_MS)
    await write('H', MONDAY + 4 * DAY_MS, false)
    expect(await listed(store, {})).toBe('HGFEDCBA')
    expect(await listed(store, { since: after(0) })).toBe('HGFEDBA')
    expect(await listed(store, { until: after(5) })).toBe('HGFDCBA')
    expect(await listed(store, { since: after(0), until: after(5) })).toBe('HGFDBA')
    expect(await listed(store, { since: after(4), until: after(5) })).toBe('HG')
    expect(await listed(store, { since: after(1), until: after(2) })).toBe('B')
    expect(await listed(store, { since: after(6), until: after(7) })).toBe('')
    let csv = ''
    for await (const part of exportCsv({ store, key, nowMs: MONDAY, since: MONDAY, until: MONDAY + 5 * DAY_MS })) csv += part
    // A header, and the sealed rows.
    expect(csv.trim().split('\n')).toHaveLength(1 + 5)
  },
)

test('a row that is sealed while its period is listed is listed once', async () => {
  await using temp = await openTempSqlite()
  const { store } = temp
  const key = await openAuditKey(store, undefined)
  for (const what of ['A', 'B'])
    await store.transact((outbox) => recordAudit(outbox, { kind: 'signed_in', actor: SYSTEM, data: { what } }, MONDAY))
  let reads = 0
  const sealing: Store = {
    ...store,
    async read(work) {
      const found = await store.read(work)
      if (++reads === 2) await sealToTheEnd(store, key, () => MONDAY)
      return found
    },
  }
  expect(await listed(sealing, { since: after(0) })).toBe('BA')
  expect(reads).toBeGreaterThan(2)
})

test('a period is looked up among a few thousand heads at a time, and other work has its turn in between', async () => {
  await using temp = await openTempSqlite()
  const { store } = temp
  await store.transact(function* () {
    yield* raw(sql`with recursive n (i) as (select 1 union all select i + 1 from n where i < 25000)
      insert into audit_head (number, prev, at, first_id, last_id, row_count, first_at, last_at, rows_hash, key, hash, signature, format)
      select i, '', i, i * 10, i * 10 + 9, 1, i, i, '', '', i, '', 2 from n`)
    // The rows of the first head, of the last one, and of two that are looked at in different pieces.
    for (const head of [1, 9_000, 21_000, 25_000])
      yield* raw(sql`insert into audit (id, scope, seq, prev, at, kind, actor, data, salt, data_hash, hash)
        values (${head * 10 + 1}, ${`act_${head}`}, 1, '', ${head}, 'signed_in', 'system', ${JSON.stringify({ what: `${head} ` })}, '', '', '')`)
  })
  const period = { since: new Date(9_000).toISOString(), until: new Date(25_000).toISOString() }
  const { result, turns } = await withTurns(() => listed(store, period))
  expect(result).toBe('21000 9000 ')
  expect(turns).toBeGreaterThanOrEqual(2)
  expect(await listed(store, period, 210_001)).toBe('9000 ')
  expect(await listed(store, { since: period.since })).toBe('25000 21000 9000 ')
  expect(await listed(store, { until: period.until })).toBe('21000 9000 1 ')
})

test('a filter that finds little lets other work have its turn while it goes through the record', async () => {
  await using temp = await openTempSqlite()
  const { store } = temp
  const what = '{"what":"x"}'
  await store.transact(() =>
    raw(sql`with recursive n (i) as (select 1 union all select i + 1 from n where i < 20000)
      insert into audit (id, scope, seq, prev, at, kind, actor, data, salt, data_hash, hash)
      select i, 'act_' || i, 1, '', 1, case i when 7 then 'redacted' else 'signed_in' end, 'system', ${what}, '', '', '' from n`),
  )
  const { result, turns } = await withTurns(() => listed(store, { kind: 'redacted' }))
  expect(result).toBe('x')
  expect(turns).toBeGreaterThanOrEqual(3)
})
