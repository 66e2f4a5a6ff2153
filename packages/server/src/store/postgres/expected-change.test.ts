import { expect, test } from 'vitest'
import { openTempPostgres } from '../../../../../verification/testing/temp-store.ts'
import { ahead, lock, question } from '../query.ts'
import { findPrincipal, savePrincipal } from '../tables/principals.ts'

const ana = (name: string) => ({ id: 'prn_ana', kind: 'person' as const, name, roles: [] })
const rename = question<{ from: string; to: string }>((db, p) => db.updateTable('principal').set({ name: p.to }).where('name', '=', p.from))

function* nameOfAna() {
  return (yield* findPrincipal.first({ id: 'prn_ana' }))?.name
}

test('a transaction whose expected change happens runs once', async () => {
  await using temp = await openTempPostgres()
  const { store } = temp
  await store.transact(() => savePrincipal(ana('Ana'), 1))
  let runs = 0
  const seen = await store.transact(function* () {
    runs++
    const changes = yield* rename.expectChange({ from: 'Ana', to: 'Anna' })
    return { changes, name: yield* nameOfAna() }
  })
  expect({ runs, seen }).toEqual({ runs: 1, seen: { changes: 1, name: 'Anna' } })
})

test('a transaction whose expected change finds no row commits nothing, and runs again with the number', async () => {
  await using temp = await openTempPostgres()
  const { store, committed } = temp
  await store.transact(() => savePrincipal(ana('Ana'), 1))
  committed.length = 0
  const runs: number[] = []
  const name = await store.transact(function* (outbox) {
    outbox.sessions.add(`ses_${runs.length}`)
    yield* lock('ses_1')
    const changes = yield* rename.expectChange({ from: 'Bo', to: 'Bob' })
    runs.push(changes)
    if (changes === 1) yield* savePrincipal(ana('only in the first run'), 1)
    return yield* nameOfAna()
  })
  expect({ runs, name }).toEqual({ runs: [1, 0], name: 'Ana' })
  expect(committed.map(({ sessions }) => [...sessions])).toEqual([['ses_1']])
  expect(await store.read(nameOfAna)).toBe('Ana')
})

test('an error that a transaction throws because of an expected change that did not happen is not told', async () => {
  await using temp = await openTempPostgres()
  const { store } = temp
  const name = await store.transact(function* () {
    if ((yield* rename.expectChange({ from: 'Bo', to: 'Bob' })) === 0) return 'nobody'
    throw new Error('Bob has no session')
  })
  expect(name).toBe('nobody')
})

test('a query that was sent ahead is asked again when the transaction has written or locked since', async () => {
  await using temp = await openTempPostgres()
  const { store } = temp
  const nameIs = question<{ name: string }, { id: string }>((db, p) => db.selectFrom('principal').select('id').where('name', '=', p.name))
  const found = await store.transact(function* () {
    yield* ahead(nameIs.all({ name: 'Ana' }))
    const before = yield* nameIs.all({ name: 'Ana' })
    yield* savePrincipal(ana('Ana'), 1)
    yield* ahead(nameIs.all({ name: 'Ana' }))
    return [before, yield* nameIs.all({ name: 'Ana' })]
  })
  expect(found).toEqual([[], [{ id: 'prn_ana' }]])
})
