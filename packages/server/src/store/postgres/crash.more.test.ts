import { expect, test } from 'vitest'
import { COMMIT, openFaultProxy, throughProxy } from '../../../../../verification/testing/fault-proxy.ts'
import { createDatabase, startPostgres } from '../../../../../verification/testing/postgres.ts'
import { stillClock } from '../../../../../verification/testing/shifted-clock.ts'
import { openTempPostgres } from '../../../../../verification/testing/temp-store.ts'
import type { Tx } from '../query.ts'
import type { Outbox } from '../store.ts'
import { findRow, inboxRowsAfter, insertEvents } from '../tables/events.ts'
import { openPostgres } from './postgres.ts'

/** Commits one event about one action, in the log alone. */
const say = (actionId: string, onSaid = () => {}) =>
  function* (outbox: Outbox): Tx<void> {
    const event = { type: 'approval_overdue', data: { actionId, waitedMs: 1 } } as const
    outbox.events.push(...(yield* insertEvents({ sessionId: null, events: [{ seq: null, event }], nowMs: 1 })))
    // Awaited, so that the COMMIT is sent alone, after the writes.
    yield* findRow.first({ id: 0 })
    onSaid()
  }

test('what a crash of the database lost is done again, also when another transaction has its number now', async () => {
  // No row is visible before a commit.
  await using postgres = await startPostgres({ settings: { wal_writer_delay: 10_000 } })
  const url = await createDatabase(postgres.url('postgres'))
  await using proxy = await openFaultProxy({ host: '127.0.0.1', port: postgres.port })
  // However slow the restart of the database is, the store goes on asking what became of the transaction.
  const store = await openPostgres({ url: throughProxy(url, proxy), onCommitted: () => undefined, clock: stillClock() })
  // The COMMIT is sent and never arrives; the writes exist only in the memory of the server.
  const sent = Promise.withResolvers<void>()
  proxy.onRequest = (bytes) => {
    if (!bytes.includes(COMMIT)) return 'pass'
    sent.resolve()
    return 'hold'
  }
  let runs = 0
  const said = store.transact(say('act_lost', () => runs++))
  await sent.promise
  proxy.refuse(true)
  await postgres.stop('crash')
  await postgres.start()
  proxy.onRequest = () => 'pass'
  {
    // Other transactions get these numbers after the crash.
    await using others = await openTempPostgres(url)
    for (let n = 0; n < 20; n++) await others.store.transact(say(`act_${n}`))
  }
  proxy.refuse(false)
  await said
  expect(runs).toBe(2)
  const rows = await store.read(() => inboxRowsAfter.all({ after: -1, limit: 100, known: 0 }))
  expect(rows.filter(({ events }) => events.includes('act_lost'))).toHaveLength(1)
  await store.close()
})
