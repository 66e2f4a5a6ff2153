import { sql } from 'kysely'
import { Client } from 'pg'
import { expect, test } from 'vitest'
import { openTempPostgres, raw, STORES } from '../../../../../verification/testing/temp-store.ts'
import { openTestDatabase } from '../../../../../verification/testing/test-database.ts'
import { openPostgres } from '../postgres/postgres.ts'
import { lock, type Tx } from '../query.ts'
import type { Store } from '../store.ts'
import * as events from './events.ts'

const update = (name: string) =>
  ({
    seq: null,
    event: { type: 'action_update', data: { proposalId: name, state: 'approved', revision: 1, updatedAt: '2026-01-01T00:00:00.000Z' } },
  }) as const

/** Writes events about the actions of these names. */
const say = (...names: string[]): Tx<unknown> => events.insertEvents({ sessionId: null, events: names.map(update), nowMs: 1 })

/** A reader that continues from its last place, a few rows at a time. */
function openReader(store: Store, after: number) {
  let place = after
  return async () => {
    const rows = await store.read(() => events.inboxRowsAfter.all({ after: place, limit: 2, known: 0 }))
    const found = rows.flatMap(events.readEvents).filter(({ id }) => id > place)
    place = found.at(-1)?.id ?? place
    return found.map(({ event }) => 'proposalId' in event.data && event.data.proposalId)
  }
}

/** Returns what a reader finds until `last`, in as many pages as it takes. */
async function readUntil(last: string, read: ReturnType<typeof openReader>) {
  const said: unknown[] = []
  await expect.poll(async () => said.push(...(await read())) && said.at(-1)).toBe(last)
  return said
}

test.each(STORES)('every event has a place of its own in the log, in the order in which they were said ($database)', async ({ open }) => {
  await using temp = await open()
  const read = openReader(temp.store, await temp.store.read(events.lastPlace))
  await temp.store.transact(function* () {
    yield* say('a', 'b')
    yield* say('c')
  })
  await temp.store.transact(() => say('d'))
  // A transaction of another database that has just ended may be taken for one of ours: then a read ends before its place, and a reader
  // that begins then has what stands after it once more.
  expect(await readUntil('d', read)).toEqual(['a', 'b', 'c', 'd'])
  expect(await read()).toEqual([])
  const late = openReader(temp.store, await temp.store.read(events.lastPlace))
  await temp.store.transact(() => say('e'))
  const said = await readUntil('e', late)
  expect(said).toEqual(['a', 'b', 'c', 'd', 'e'].slice(-said.length))
  expect(await readUntil('e', read)).toEqual(['e'])
})

test('a reader of the log misses nothing that is committed out of order, and has it in order', async () => {
  await using temp = await openTempPostgres()
  const writer = new Client({ connectionString: temp.url })
  await writer.connect()
  const from = await temp.store.read(events.lastPlace)
  const read = openReader(temp.store, from)
  // A writer that has its place before the next one, and commits after it.
  const first = await temp.store.read(() =>
    raw<{ value: number }>(sql`select value::bigint from setting where name = 'log.first_transaction'`),
  )
  await writer.query('begin')
  const { rows } = await writer.query('select pg_current_xact_id()::text as id')
  await temp.store.transact(() => say('second'))
  expect(await read()).toEqual([])
  // A concurrent transaction begins before both.
  const late = openReader(temp.store, await temp.store.read(events.lastPlace))
  expect(await late()).toEqual([])
  await writer.query(`insert into event (id, inbox, events, created_at) values ($1, 1, $2, 1)`, [
    (Number(rows[0].id) - Number(first[0]?.value)) * 10_000 + 1,
    JSON.stringify([[null, 'action_update', update('first').event.data]]),
  ])
  expect(await read()).toEqual([])
  await writer.query('commit')
  await writer.end()
  for (const reader of [read, late]) expect(await readUntil('second', reader)).toEqual(['first', 'second'])
})

test('what was handed over once stays in the log where a transaction that has just ended is taken for one under way', async () => {
  await using temp = await openTempPostgres()
  const from = await temp.store.read(events.lastPlace)
  const other = new Client({ connectionString: temp.url })
  await other.connect()
  // Like a read that sees a transaction of another database just before its end.
  await other.query('begin')
  await other.query('select pg_current_xact_id()')
  const [said] = await temp.store.transact(() => events.insertEvents({ sessionId: null, events: [update('a')], nowMs: 1 }))
  const known = Number(said?.id)
  const readAfter = (place: number) => temp.store.read(() => events.inboxRowsAfter.all({ after: from, limit: 2, known: place }))
  expect(await readAfter(0)).toEqual([])
  expect(await readAfter(known)).toMatchObject([{ id: known }])
  expect([await temp.store.read(() => events.isWithinLog(known)), await temp.store.read(() => events.isWithinLog(known + 1))]).toEqual([
    true,
    false,
  ])
  await other.end()
})

test('what waits for the same lock stands in the log in the order of the commits', async () => {
  await using temp = await openTempPostgres()
  const read = openReader(temp.store, await temp.store.read(events.lastPlace))
  let nth = 0
  await Promise.all(
    Array.from({ length: 60 }, () =>
      temp.store.transact(function* () {
        yield* lock('act_1')
        const [row] = yield* raw<{ n: number }>(sql`insert into setting values ('nth', '1') on conflict (name)
          do update set value = (setting.value::int + 1)::text returning value::int as n`)
        nth++
        yield* say(String(row?.n))
      }),
    ),
  )
  const said: unknown[] = []
  await expect.poll(async () => said.push(...(await read()))).toBe(60)
  expect(said).toEqual(Array.from({ length: 60 }, (_, n) => String(n + 1)))
  expect(nth).toBeGreaterThanOrEqual(60)
})

test('a database that was restored into a younger cluster goes on behind its last event', async () => {
  await using database = await openTestDatabase()
  const open = () => openPostgres({ url: database.url, onCommitted: () => undefined })
  const old = await open()
  const aMillionLater = 1_000_000 * 10_000
  await old.transact(() => raw(sql`insert into event (id, inbox, events, created_at) values (${aMillionLater}, 1, '[]', 1)`))
  await old.close()
  const restored = await open()
  // A transaction of another database that has just ended may still be taken for one of ours.
  await expect.poll(() => restored.read(events.lastPlace)).toBe(aMillionLater)
  const read = openReader(restored, aMillionLater)
  await restored.transact(() => say('new'))
  await expect.poll(read).toEqual(['new'])
  await restored.close()
})
