import { closeSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { openTempSqlite, raw } from '../../../../verification/testing/temp-store.ts'
import { findSetting, insertSetting } from './tables/settings.ts'

type TempStore = Awaited<ReturnType<typeof openTempSqlite>>

const readDamaged = () => raw(sql`select count(arguments) from action`)
const put = ({ store }: TempStore, name: string) => store.transact(() => insertSetting.run({ name, value: '' }))
const settingOf = async ({ store }: TempStore, name: string) => (await store.read(() => findSetting.first({ name })))?.value

const REFUSED = { status: 'rejected', reason: { code: 'not_ready', message: expect.stringMatching(/countersign\.db is damaged/) } }

/** Overwrites the first page of a table under a running store, and makes the store read the page again. */
function damageTable({ dataDir }: TempStore, table: string): void {
  const file = join(dataDir, 'countersign.db')
  const db = new DatabaseSync(file, { timeout: 240_000 })
  const page = Number(db.prepare('select rootpage from sqlite_schema where name = ?').get(table)?.rootpage)
  db.exec('pragma wal_checkpoint(truncate)')
  const handle = openSync(file, 'r+')
  writeSync(handle, new Uint8Array(4096).fill(0x5a), 0, 4096, (page - 1) * 4096)
  closeSync(handle)
  // A commit of another connection empties the cache of the store's connection.
  db.exec("insert into setting (name, value) values ('of another connection', '')")
  db.close()
}

test('when one transaction finds damage, every transaction of its batch is refused and none is stored', async () => {
  await using temp = await openTempSqlite()
  damageTable(temp, 'action')
  const found = temp.store.transact(readDamaged)
  const results = await Promise.allSettled([put(temp, 'before'), found, put(temp, 'after')])
  expect(results).toMatchObject([REFUSED, REFUSED, REFUSED])
  expect([await settingOf(temp, 'before'), await settingOf(temp, 'after')]).toEqual([undefined, undefined])
})

test('when a read finds damage, transactions that are queued already are refused too', async () => {
  await using temp = await openTempSqlite()
  damageTable(temp, 'action')
  const queued = put(temp, 'queued')
  const results = await Promise.allSettled([temp.store.read(readDamaged), queued])
  expect(results).toMatchObject([REFUSED, REFUSED])
  expect(await settingOf(temp, 'queued')).toBeUndefined()
})

test('damage is told once, and every later transaction is refused with the same sentence', async () => {
  await using temp = await openTempSqlite()
  damageTable(temp, 'action')
  const results = await Promise.allSettled([temp.store.transact(readDamaged), put(temp, 'beside')])
  const later = await put(temp, 'later').catch((error) => error)
  expect(results).toMatchObject([{ reason: { message: later.message } }, { reason: { message: later.message } }])
  expect(later).toMatchObject({ code: 'not_ready', message: temp.store.health.damage })
})
