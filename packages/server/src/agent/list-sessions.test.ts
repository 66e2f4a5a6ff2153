import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { openTempSqlite, raw, STORES } from '../../../../verification/testing/temp-store.ts'
import { withTurns } from '../../../../verification/testing/with-turns.ts'
import { principals, sessions } from '../store/index.ts'
import { listSessions } from './list-sessions.ts'

test('a search reads at most 2,000 sessions for a page, and the next page continues behind them', async () => {
  await using temp = await openTempSqlite()
  const { store } = temp
  const ana = { id: 'prn_ana', kind: 'person', name: 'Ana', roles: [] } as const
  await store.transact(function* () {
    yield* principals.savePrincipal({ ...ana, roles: [] }, 1)
    for (let n = 0; n < 2_010; n++) {
      const id = `ses_${String(n).padStart(5, '0')}`
      yield* sessions.insertSession.run({ id, agent: 'desk', title: n === 3 ? 'The refund' : 'Other', owner_id: ana.id, now: 1 })
    }
  })
  const find = (before: string | undefined) =>
    listSessions(store, { status: undefined, q: 'refund', before, limit: 10, isWanted: () => true }, { ...ana, roles: [] })
  const first = await find(undefined)
  expect(first).toEqual({ rows: [], next: 'ses_00010' })
  const second = await find(first.next)
  expect(second.rows.map(({ id }) => id)).toEqual(['ses_00003'])
  expect(second.next).toBeUndefined()
})

test.each(STORES)('a search in long sessions reads few of them in one statement, and finds what is there ($database)', async ({ open }) => {
  await using temp = await open()
  const { store } = temp
  const ana = { id: 'prn_ana', kind: 'person', name: 'Ana', roles: [] } as const
  // Of 99 sessions the newest are short, ten are long, and one is longer than what is read at once.
  await store.transact(function* () {
    yield* principals.savePrincipal({ ...ana, roles: [] }, 1)
    yield* raw(sql`with recursive n (i) as (select 1 union all select i + 1 from n where i < 99)
      insert into session (id, agent, title, status, owner_id, created_at, updated_at, last_seq)
      select 'ses_' || (1000 + i), 'desk', 'Other', 'idle', 'prn_ana', 1, 1, case when i > 11 then 20 when i = 5 then 50000 else 6000 end
      from n`)
    yield* raw(sql`insert into message (session_id, seq, id, role, kind, in_history, queued, content, created_at)
      select id, 1, 'msg_' || id, 'user', 'text', 1, 0, case when id in ('ses_1001', 'ses_1005', 'ses_1090') then 'A Refund' else 'x' end, 1
      from session`)
  })
  const statements: number[] = []
  const watched: typeof store = {
    ...store,
    read(work) {
      statements.push(0)
      return store.read(work)
    },
  }
  const find = async (limit: number, isWanted = () => true) => {
    statements.length = 0
    const query = { status: undefined, q: 'refund', before: undefined, limit, isWanted }
    const { result, turns } = await withTurns(() => listSessions(watched, query, { ...ana, roles: [] }))
    return { ids: result.rows.map(({ id }) => id), next: result.next, turns, searches: statements.length - 1 }
  }
  const all = await find(10)
  expect(all).toMatchObject({ ids: ['ses_1090', 'ses_1005', 'ses_1001'], next: undefined, searches: 11 })
  expect(all.turns).toBeGreaterThanOrEqual(11)
  expect(await find(2)).toMatchObject({ ids: ['ses_1090', 'ses_1005'], next: 'ses_1005' })
  // Once nobody waits any more, it ends where it is.
  let asked = 0
  expect((await find(10, () => ++asked < 5)).searches).toBeLessThan(5)
})

test.each(STORES)('whoever sees few of many sessions gets these, and other work has its turn meanwhile ($database)', async ({ open }) => {
  await using temp = await open()
  const { store } = temp
  const ben = { id: 'prn_ben', kind: 'person', name: 'Ben', roles: [] } as const
  await store.transact(function* () {
    yield* principals.savePrincipal({ id: 'prn_ana', kind: 'person', name: 'Ana', roles: [] }, 1)
    yield* principals.savePrincipal({ ...ben, roles: [], personId: ben.id }, 1)
    yield* raw(sql`with recursive n (i) as (select 1 union all select i + 1 from n where i < 9000)
      insert into session (id, agent, title, status, owner_id, created_at, updated_at)
      select 'ses_' || (10000 + i), 'desk', 'Other', 'idle', case when i in (5, 2201, 8990) then 'prn_ben' else 'prn_ana' end, 1, 1 from n`)
  })
  const list = async (rest: { q?: string; before?: string; limit?: number }) => {
    const query = { status: undefined, q: undefined, before: undefined, limit: 10, isWanted: () => true, ...rest }
    const { result, turns } = await withTurns(() => listSessions(store, query, { ...ben, roles: [] }))
    return { ids: result.rows.map(({ id }) => id), next: result.next, turns }
  }
  const all = await list({})
  expect(all).toMatchObject({ ids: ['ses_18990', 'ses_12201', 'ses_10005'], next: undefined })
  expect(all.turns).toBeGreaterThanOrEqual(4)
  const found = await list({ q: 'other' })
  expect(found).toMatchObject({ ids: all.ids, next: undefined })
  expect(found.turns).toBeGreaterThanOrEqual(4)
  expect(await list({ limit: 2 })).toMatchObject({ ids: ['ses_18990', 'ses_12201'], next: 'ses_12201' })
  expect(await list({ limit: 2, before: 'ses_12201' })).toMatchObject({ ids: ['ses_10005'], next: undefined })
})
