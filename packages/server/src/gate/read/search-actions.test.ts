import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { openTempSqlite, raw, STORES } from '../../../../../verification/testing/temp-store.ts'
import { actions, principals, type Store } from '../../store/index.ts'
import { ask } from '../../store/query.ts'
import { anAction } from '../../store/testing/an-action.ts'
import { searchActions } from './search-actions.ts'

const DAY_MS = 24 * 60 * 60_000
const NOW = Date.parse('2026-11-26T12:00:00Z')
const TODAY = { settledAfter: NOW - DAY_MS / 2, settledBefore: NOW + DAY_MS / 2 }

const proposedAt = (ms: number, number: number): string => `${actions.lowestIdAt(ms).slice(0, -6)}${String(number).padStart(6, '0')}`

/** Writes declined actions, proposed at one time and settled at another. */
async function write(store: Store, from: number, count: number, createdMs: number, settledMs: number | null): Promise<string[]> {
  const ids = Array.from({ length: count }, (_, i) => proposedAt(createdMs, from + i))
  await store.transact(function* () {
    yield* principals.savePrincipal({ id: 'prn_ana', kind: 'person', name: 'Ana', roles: ['approver'] }, 1)
    for (const id of ids)
      yield* actions.insertAction.run({
        ...anAction(id, { state: settledMs === null ? 'proposed' : 'declined', created_at: createdMs, settled_at: settledMs }),
      })
  })
  return ids
}

test.each(STORES)('what was settled today is found however long before it was proposed, and nothing else: $database', async ({ open }) => {
  await using temp = await open()
  const [old = ''] = await write(temp.store, 0, 1, NOW - 7 * DAY_MS, NOW)
  await write(temp.store, 10, 1, NOW - 7 * DAY_MS, NOW - 6 * DAY_MS)
  const [first = ''] = await write(temp.store, 20, 1, NOW - DAY_MS, TODAY.settledAfter)
  await write(temp.store, 30, 1, NOW - DAY_MS, TODAY.settledAfter - 1)
  await write(temp.store, 40, 1, NOW, TODAY.settledBefore)
  await write(temp.store, 50, 1, NOW, null)
  const found = async (search: actions.ActionSearch, rest: Partial<actions.ActionFilter> = {}) =>
    (await searchActions(temp.store, { search, limit: 10, ...rest })).map(({ id }) => id)
  expect(await found(TODAY)).toEqual([first, old])
  expect(await found(TODAY, { limit: 1 })).toEqual([first])
  expect(await found(TODAY, { before: first })).toEqual([old])
  expect(await found({ ...TODAY, createdBefore: NOW - 2 * DAY_MS })).toEqual([old])
  expect(await found({ settledAfter: NOW + 2 * DAY_MS })).toEqual([])
  expect(await found({ settledBefore: NOW - 5 * DAY_MS })).toEqual([proposedAt(NOW - 7 * DAY_MS, 10)])
})

test('more than a piece was settled in a time: its pages have every action once', async () => {
  await using temp = await openTempSqlite()
  const ids = [
    ...(await write(temp.store, 0, 20_010, NOW - 7 * DAY_MS, NOW)),
    ...(await write(temp.store, 0, 2_010, NOW - DAY_MS, NOW)),
  ].reverse()
  await write(temp.store, 900_000, 1, NOW, TODAY.settledBefore)
  const found: string[] = []
  for (let before: string | undefined; ; before = found.at(-1)) {
    const page = await searchActions(temp.store, { search: TODAY, limit: 5_000, before })
    found.push(...page.map(({ id }) => id))
    if (page.length < 5_000) break
  }
  expect(found).toEqual(ids)
})

/** Reads the pages of what was settled, the last first. */
async function pagesOf(store: Store, search: actions.ActionSearch, limit: number): Promise<string[]> {
  const found: string[] = []
  for (let settled: actions.ActionFilter['settled'] = {}; ; ) {
    const rows = await searchActions(store, { search, settled, limit })
    found.push(...rows.map(({ id }) => id))
    const last = rows.at(-1)
    if (rows.length < limit || !last) return found
    settled = actions.placeAfter({ settled }, last).settled
  }
}

test.each(STORES)(
  'in the order of when they were settled, the pages have every settled action once, the last first: $database',
  async ({ open }) => {
    await using temp = await open()
    // Asked in one order, settled in another; several in the same millisecond.
    const [late = ''] = await write(temp.store, 0, 1, NOW - 7 * DAY_MS, NOW + 5)
    const same = await write(temp.store, 10, 3, NOW - 3 * DAY_MS, NOW)
    const [early = ''] = await write(temp.store, 20, 1, NOW - 60_000, NOW - 5)
    await write(temp.store, 30, 1, NOW, null)
    const [before = ''] = await write(temp.store, 40, 1, NOW - DAY_MS, TODAY.settledAfter - 1)
    const today = [late, ...same.toReversed(), early]
    for (const limit of [1, 2, 3, 10]) {
      expect(await pagesOf(temp.store, TODAY, limit)).toEqual(today)
      expect(await pagesOf(temp.store, {}, limit)).toEqual([...today, before])
    }
    expect(await pagesOf(temp.store, { ...TODAY, createdBefore: NOW - DAY_MS }, 2)).toEqual(today.slice(0, -1))
  },
)

test('what is rare among many settled actions is found piece by piece in their order', async () => {
  await using temp = await openTempSqlite()
  const [old = ''] = await write(temp.store, 900_000, 1, NOW - 9 * DAY_MS, NOW - 9 * DAY_MS)
  await write(temp.store, 0, 24_100, NOW - 7 * DAY_MS, NOW)
  const [newer = ''] = await write(temp.store, 900_001, 1, NOW - 8 * DAY_MS, NOW + 1)
  expect(await pagesOf(temp.store, { createdBefore: NOW - 7 * DAY_MS - 1 }, 1)).toEqual([newer, old])
})

const literal = (value: unknown): string => (typeof value === 'number' ? String(value) : `'${String(value)}'`)

test.each(STORES)(
  'the order of when they were settled comes from the index of these times, and nothing is sorted: $database',
  async ({ database, open }) => {
    await using temp = await open()
    for (let from = 0; from < 3_000; from += 300) await write(temp.store, from, 300, NOW - 7 * DAY_MS, NOW + from)
    await temp.store.read(() => raw(sql`analyze action`))
    const last = { id: 'act_~', settled_at: NOW + 3_000 }
    const states = ['succeeded', 'failed', 'declined', 'expired', 'cancelled', 'outcome_unknown'] as const
    for (const settled of [{}, { before: last }, { before: last, from: { id: 'act_0', settled_at: 1 } }]) {
      const filter = { states, search: TODAY, settled, limit: 50 }
      const plan = await temp.store.read(() =>
        ask((db, dialect) => ({
          compile: () => {
            const query = actions.narrowed(db.selectFrom('action').selectAll(), filter, dialect)
            const compiled = query.orderBy('settled_at', 'desc').orderBy('id', 'desc').limit(50).compile()
            if (database === 'sqlite')
              return { ...compiled, sql: `explain query plan ${compiled.sql}` } as typeof compiled & { sql: string }
            // Postgres explains no statement with parameters.
            const text = compiled.sql.replaceAll(/\$(\d+)/g, (_, number) => literal(compiled.parameters[number - 1]))
            return { ...compiled, sql: `explain ${text}`, parameters: [] } as typeof compiled & { sql: string }
          },
        })),
      )
      const text = JSON.stringify(plan)
      expect(text).toMatch(/action_settled/)
      expect(text).not.toMatch(/TEMP B-TREE|Sort/)
    }
  },
)

test('few actions of a time are found by the index of their times, and no other action is read', async () => {
  await using temp = await openTempSqlite()
  const filter = { states: ['declined', 'succeeded'] as const, search: TODAY, bySettled: true, from: 'act_0', before: 'act_~', limit: 50 }
  const plan = await temp.store.read(() =>
    ask((db, dialect) => ({
      compile: () => {
        const compiled = actions.narrowed(db.selectFrom('action').selectAll(), filter, dialect).orderBy('id', 'desc').limit(50).compile()
        return { ...compiled, sql: `explain query plan ${compiled.sql}` } as typeof compiled & { sql: string }
      },
    })),
  )
  const details = plan.map((row) => (row as unknown as { detail: string }).detail)
  expect(details.filter((detail) => /^(SEARCH|SCAN)/.test(detail))).toEqual([
    expect.stringMatching(/^SEARCH action USING INDEX \S+ \(id=\?\)/),
    expect.stringMatching(/^SEARCH settled USING COVERING INDEX action_settled \(settled_at>\? AND settled_at<\?\)/),
  ])
})
