import { expect, test } from 'vitest'
import { openTempPostgres } from '../../../../../verification/testing/temp-store.ts'
import { lock } from '../query.ts'
import { findPrincipal, savePrincipal } from '../tables/principals.ts'

const ana = (name: string) => ({ id: 'prn_ana', kind: 'person' as const, name, roles: [] })

function* nameOfAna() {
  return (yield* findPrincipal.first({ id: 'prn_ana' }))?.name
}

test('what a transaction has written it reads, however often it has read it before', async () => {
  await using temp = await openTempPostgres()
  const { store } = temp
  const names = await store.transact(function* () {
    const before = yield* nameOfAna()
    yield* savePrincipal(ana('Ana'), 1)
    const after = yield* nameOfAna()
    yield* savePrincipal(ana('Anna'), 1)
    return [before, after, yield* nameOfAna(), yield* nameOfAna()]
  })
  expect(names).toEqual([undefined, 'Ana', 'Anna', 'Anna'])
})

test('behind a lock a transaction reads what was committed while it waited', async () => {
  await using temp = await openTempPostgres()
  const { store } = temp
  await store.transact(() => savePrincipal(ana('Ana'), 1))
  const held = Promise.withResolvers<void>()
  const second = Promise.withResolvers<void>()
  let name: string | undefined
  // The first holds the lock until the second has read the name.
  const first = store.transact(function* () {
    yield* lock('ses_1')
    held.resolve()
    for (let waits = 0; name === undefined && waits < 10_000; waits++) yield* findPrincipal.first({ id: `prn_${waits}` })
    yield* savePrincipal(ana('Anna'), 1)
  })
  await held.promise
  const names = store.transact(function* () {
    name = yield* nameOfAna()
    second.resolve()
    yield* lock('ses_1')
    return [name, yield* nameOfAna()]
  })
  await second.promise
  await first
  expect(await names).toEqual(['Ana', 'Anna'])
})
