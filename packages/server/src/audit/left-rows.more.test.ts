import { setImmediate as turn } from 'node:timers/promises'
import { Client } from 'pg'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { openTempPostgres, openTempSqlite, STORES, type TempStore } from '../../../../verification/testing/temp-store.ts'
import { type Clock, systemClock } from '../clock.ts'
import { audit, principals, type Store, type Tx } from '../store/index.ts'
import { openAuditKey } from './key.ts'
import { recordAudit } from './record.ts'
import { createSealer, type SealerWork } from './sealer.ts'

// Rows that a head could not cover yet get the next one, although nothing more is written.

const log = pino({ level: 'silent' })

async function openRecord({ store }: TempStore) {
  const key = await openAuditKey(store, undefined)
  await store.transact(() => principals.savePrincipal({ id: 'prn_a', kind: 'person', name: 'Ana', roles: [] }, 1))
  return {
    write: () => store.transact((outbox) => recordAudit(outbox, { kind: 'signed_in', actor: 'prn_a', data: {} }, Date.now())),
    start(work: Partial<SealerWork> = {}, clock: Clock = systemClock) {
      const sealer = createSealer(clock)
      sealer.start({ store, key, log, ...work })
      return sealer
    },
    async leftRows() {
      const last = await store.read(() => audit.lastHead.first({}))
      return store.read(() => audit.rowsToSeal.all({ after: last?.last_id ?? 0, limit: 10 }))
    },
  }
}

/** Runs a transaction to which no row is final. */
function* withoutFinalRows<T>(tx: Tx<T>): Tx<T> {
  let step = tx.next([])
  while (!step.done) {
    const rows = yield step.value
    step = tx.next(rows.map((row) => ('is_final' in row ? { ...row, is_final: 0 } : row)))
  }
  return step.value
}

test.each(STORES)('a row that is not final any more when its head is signed is sealed by the next one ($database)', async ({ open }) => {
  await using temp = await open()
  const { write, start, leftRows } = await openRecord(temp)
  await write()
  let writes = 0
  // On Postgres a transaction of another database that ends in between has this effect.
  const store: Store = {
    ...temp.store,
    transact: (work) => temp.store.transact((outbox) => (++writes === 1 ? withoutFinalRows(work(outbox)) : work(outbox))),
  }
  const sealer = start({ store })
  await expect.poll(() => sealer.status.signed).toBe(1)
  expect(await leftRows()).toEqual([])
  await sealer.finish()
})

test('a row behind a transaction that ends without one is sealed when that has ended', async () => {
  await using temp = await openTempPostgres()
  const { write, start, leftRows } = await openRecord(temp)
  const other = new Client({ connectionString: temp.url })
  await other.connect()
  await using _end = { [Symbol.asyncDispose]: () => other.end() }
  await write()
  await other.query('begin; select pg_current_xact_id()')
  await write()
  const sealer = start()
  await expect.poll(() => sealer.status.signed).toBe(1)
  expect(await leftRows()).toHaveLength(1)
  await other.query('rollback')
  await expect.poll(() => sealer.status.signed).toBe(2)
  expect(await leftRows()).toEqual([])
  await sealer.finish()
})

test('whoever reports new rows at any moment while a head is finished is heard', async () => {
  await using temp = await openTempSqlite()
  const { write, start } = await openRecord(temp)
  for (let turns = 0; turns < 10; turns++) {
    await write()
    let waits = 0
    const asked = Promise.withResolvers<void>()
    const reportLater = async () => {
      for (let done = 0; done < turns; done++) await undefined
      sealer.wake()
      asked.resolve()
    }
    const clock: Clock = {
      nowMs: () => Date.now() + turns * 5_000,
      after() {
        waits++
        return () => {}
      },
    }
    const sealer = start({ onHead: () => void reportLater() }, clock)
    await asked.promise
    await turn()
    expect([turns, waits]).toEqual([turns, 1])
    await sealer.finish()
  }
})
