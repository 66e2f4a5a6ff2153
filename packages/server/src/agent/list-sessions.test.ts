import { expect, test } from 'vitest'
import { openTempSqlite } from '../../../../verification/testing/temp-store.ts'
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
