import { RiskLevel, SETTLED_ORDERS, type SettledOrder } from '@countersign/core'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { cpuTimeMs } from '../../../../../verification/testing/cpu-time.ts'
import { openTempSqlite, raw, STORES } from '../../../../../verification/testing/temp-store.ts'
import { type ActionRow, actions, principals, type Store, stored } from '../../store/index.ts'
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
    for (const [i, id] of ids.entries())
      yield* actions.insertAction.run({
        ...anAction(id, {
          state: settledMs === null ? 'proposed' : 'declined',
          ...{ created_at: createdMs, settled_at: settledMs },
          ...{ risk: i % 10 === 0 ? '{"level":"critical"}' : '{"level":"low"}', policy: '{"verdict":"ask"}' },
        }),
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

type Ordered = NonNullable<actions.ActionFilter['ordered']>

/** Reads the pages of an order; by default what was settled, the last first. */
async function pagesOf(store: Store, search: actions.ActionSearch, limit: number, order: SettledOrder = 'settled'): Promise<string[]> {
  const found: string[] = []
  for (let ordered: Ordered = { order }; ; ) {
    const rows = await searchActions(store, { search, ordered, limit })
    found.push(...rows.map(({ id }) => id))
    const last = rows.at(-1)
    if (rows.length < limit || !last) return found
    ordered = actions.placeAfter({ ordered }, last).ordered ?? ordered
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

const ORDERS = Object.keys(SETTLED_ORDERS) as SettledOrder[]

/** Writes an action for each mix of risk and wait; several have the same, and some waited for nobody. */
async function writeMixed(store: Store): Promise<ActionRow[]> {
  const rows: ActionRow[] = []
  for (const [number, level] of [...RiskLevel.options, ...RiskLevel.options, ...RiskLevel.options].entries()) {
    const created_at = NOW - (number % 5) * DAY_MS
    const decided_at = number % 3 === 0 ? null : created_at + (number % 4) * 1_000
    rows.push(
      anAction(proposedAt(created_at, number), {
        state: decided_at === null ? 'expired' : 'succeeded',
        ...{ created_at, decided_at, settled_at: NOW + (number % 2) * 60_000 },
        risk: JSON.stringify({ level, reason: 'says "level":"critical"' }),
        policy: JSON.stringify({ verdict: number % 4 === 0 ? 'allow' : 'ask', rule: 'r', reason: '' }),
      }),
    )
  }
  await store.transact(function* () {
    yield* principals.savePrincipal({ id: 'prn_ana', kind: 'person', name: 'Ana', roles: ['approver'] }, 1)
    for (const row of rows) yield* actions.insertAction.run(row)
    yield* actions.insertAction.run(anAction(proposedAt(NOW, 99), { created_at: NOW }))
  })
  return rows
}

/** The sort keys of each order, written again for this test, the most important one first. Null comes after every number. */
const SORTED_BY: Readonly<Record<SettledOrder, (row: ActionRow) => (number | null)[]>> = {
  settled: ({ settled_at }) => [settled_at],
  settled_oldest: ({ settled_at }) => [-(settled_at ?? 0)],
  waited: (row) => [stored.wasAsked(row) ? (row.decided_at ?? row.settled_at ?? 0) - row.created_at : null, row.settled_at],
  risk: (row) => [RiskLevel.options.indexOf(stored.riskOf(row).level), row.settled_at],
}

function sorted(rows: readonly ActionRow[], order: SettledOrder): string[] {
  const valuesOf = (row: ActionRow) => SORTED_BY[order](row).map((value) => value ?? Number.NEGATIVE_INFINITY)
  return rows
    .toSorted((a, b) => {
      const [of, to] = [valuesOf(a), valuesOf(b)]
      const by = (at: number): number => (to[at] ?? 0) - (of[at] ?? 0) || 0
      // Of two with nothing to sort by, the difference of infinities is no number.
      const main = of[0] === to[0] ? 0 : by(0)
      const up = order === 'settled_oldest' ? 1 : -1
      // The second value decides among equal ones only where the first says nothing, or says a risk.
      const second = of[0] === Number.NEGATIVE_INFINITY || order === 'risk' ? by(1) : 0
      return main || second || (a.id < b.id ? -up : up)
    })
    .map(({ id }) => id)
}

test.each(STORES)(
  'in every order the pages have each settled action once, also those with nothing to order by: $database',
  async ({ open }) => {
    await using temp = await open()
    const rows = await writeMixed(temp.store)
    for (const order of ORDERS) {
      for (const limit of [1, 5, 50]) expect([order, await pagesOf(temp.store, {}, limit, order)]).toEqual([order, sorted(rows, order)])
      const late = rows.filter(({ settled_at }) => settled_at === NOW + 60_000)
      const times = { settledAfter: NOW + 1, settledBefore: NOW + 60_001 }
      expect([order, await pagesOf(temp.store, times, 2, order)]).toEqual([order, sorted(late, order)])
    }
  },
)

const literal = (value: unknown): string => (typeof value === 'number' ? String(value) : `'${String(value)}'`)
const INDEXES: Readonly<Record<SettledOrder, RegExp>> = {
  settled: /action_settled/,
  settled_oldest: /action_settled/,
  waited: /action_waited/,
  risk: /action_risk/,
}

test.each(STORES)(
  'every order of settled actions comes from an index of it, and no more than a piece is ever sorted: $database',
  async ({ database, open }) => {
    await using temp = await open()
    for (let from = 0; from < 3_000; from += 300) await write(temp.store, from, 300, NOW - 7 * DAY_MS, NOW + from)
    await temp.store.read(() => raw(sql`analyze action`))
    const states = ['succeeded', 'failed', 'declined', 'expired', 'cancelled', 'outcome_unknown'] as const
    const end = { stretch: 0, key: NOW + 3_000, id: 'act_~' }
    const begin = { stretch: 0, key: 1, id: 'act_0' }
    for (const order of ORDERS) {
      const [after, upTo] = order === 'settled_oldest' ? [begin, end] : [end, begin]
      // Along other keys the times of a search bound no index: a piece does.
      const search = order.startsWith('settled') ? TODAY : {}
      for (const place of [{}, { after }, { after, upTo }]) {
        const filter = { states, search, piece: { order, stretch: 0, ...place }, limit: 50 }
        const plan = await temp.store.read(() =>
          ask((_, dialect) => ({
            compile: () => {
              const compiled = actions.listActionsQuery(filter, dialect).compile()
              if (database === 'sqlite')
                return { ...compiled, sql: `explain query plan ${compiled.sql}` } as typeof compiled & { sql: string }
              // Postgres explains no statement with parameters.
              const text = compiled.sql.replaceAll(/\$(\d+)/g, (_, number) => literal(compiled.parameters[number - 1]))
              return { ...compiled, sql: `explain ${text}`, parameters: [] } as typeof compiled & { sql: string }
            },
          })),
        )
        const text = JSON.stringify(plan)
        expect(text).toMatch(INDEXES[order])
        // Between two places are at most as many as are looked through in one piece: Postgres may sort these.
        if (database === 'sqlite' || order.startsWith('settled') || !('upTo' in place)) expect(text).not.toMatch(/TEMP B-TREE|Sort/)
      }
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

/** Measures how long the longest turn of the event loop computes meanwhile. */
async function longestTurn<T>(search: () => Promise<T>): Promise<{ found: T; longestMs: number }> {
  let [longestMs, lastMs, isDone] = [0, cpuTimeMs(), false]
  const look = () => {
    const nowMs = cpuTimeMs()
    longestMs = Math.max(longestMs, nowMs - lastMs)
    lastMs = nowMs
    if (!isDone) setImmediate(look)
  }
  setImmediate(look)
  const found = await search()
  isDone = true
  look()
  return { found, longestMs }
}

test('a search for a text by an agent with large arguments leaves the event loop to others: sqlite', async () => {
  await using temp = await openTempSqlite()
  const ids = Array.from({ length: 20 }, (_, i) => proposedAt(NOW, i))
  await temp.store.transact(function* () {
    yield* principals.savePrincipal({ id: 'prn_ana', kind: 'person', name: 'Ana', roles: ['approver'] }, 1)
    for (const [i, id] of ids.entries())
      yield* actions.insertAction.run(anAction(id, { created_at: NOW, arguments: JSON.stringify({ text: 'a'.repeat(250_000), i }) }))
  })
  for (const text of [`${'a'.repeat(190)}é`, `${'a'.repeat(199)}b`]) {
    for (const rest of [{ text }, { search: { words: [text] } }, { text, states: ['proposed'] as const }]) {
      const { found, longestMs } = await longestTurn(() => searchActions(temp.store, { limit: 50, ...rest }))
      expect(found).toEqual([])
      // In one piece, all of it took 12 s with é and 3 s without.
      expect(longestMs).toBeLessThan(1_000)
    }
  }
})

test.each(STORES)('a search for a text finds each action once, however much text there is: $database', async ({ open }) => {
  await using temp = await open()
  const large = { arguments: JSON.stringify({ text: `${'ab'.repeat(120_000)} Größe` }), description: 'Large' }
  const ids = Array.from({ length: 40 }, (_, i) => proposedAt(NOW - i * DAY_MS, i))
  await temp.store.transact(function* () {
    yield* principals.savePrincipal({ id: 'prn_ana', kind: 'person', name: 'Ana', roles: ['approver'] }, 1)
    for (const [i, id] of ids.entries()) {
      const isOpen = i % 8 === 0
      const rest = { created_at: NOW - i * DAY_MS, settled_at: isOpen ? null : NOW, state: isOpen ? 'proposed' : 'declined' } as const
      yield* actions.insertAction.run(
        anAction(id, { ...rest, ...(i % 2 === 0 && large), policy: '{"verdict":"ask"}', risk: '{"level":"low"}' }),
      )
    }
  })
  const wanted = ids.filter((_, i) => i % 2 === 0)
  const settled = wanted.filter((_, i) => i % 4 !== 0)
  const found = async (rest: Partial<actions.ActionFilter>) =>
    (await searchActions(temp.store, { text: 'gRÖSSE'.replace('SS', 'ß'), limit: 50, ...rest })).map(({ id }) => id)
  expect(await found({})).toEqual(wanted)
  expect(await found({ text: undefined, search: { words: ['large', 'ABAB'] } })).toEqual(wanted)
  expect(await found({ states: ['proposed'] })).toEqual(wanted.filter((_, i) => i % 4 === 0))
  expect(await found({ search: TODAY })).toEqual(settled)
  expect(await found({ limit: 3, before: wanted[4] })).toEqual(wanted.slice(5, 8))
  for (const order of ORDERS) {
    const pages = await pagesOf(temp.store, { words: ['größe'] }, 3, order)
    expect([order, pages.toSorted()]).toEqual([order, settled.toSorted()])
    expect(await pagesOf(temp.store, { ...TODAY, words: ['größe'] }, 50, order)).toHaveLength(settled.length)
  }
})
