import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { countStatements } from '../../../../../verification/testing/count-cost.ts'
import { openTempPostgres } from '../../../../../verification/testing/temp-store.ts'
import { ahead, keepRights, lock, question } from '../query.ts'
import { findPrincipal, savePrincipal } from '../tables/principals.ts'

const person = (id: string, name: string) => ({ id, kind: 'person' as const, name, roles: ['approver'] })
const findSetting = question<{ name: string }, { name: string; value: string }>((db, p) =>
  db.selectFrom('setting').selectAll().where('name', '=', p.name),
)
const addSetting = question<{ name: string; value: string }>((db, p) => db.insertInto('setting').values({ name: p.name, value: p.value }))
const countPeople = question<{ kind: string }, { people: number }>(
  (db, p) => ({ compile: () => sql<{ people: number }>`select count(*) as people from "principal" where "kind" = ${p.kind}`.compile(db) }),
  { countUpTo: { table: 'principal', column: 'people', limit: 100 } },
)
const peopleByName = question<{ name: string }, { id: string }>(
  (db, p) => db.selectFrom('principal').select('id').where('name', '=', p.name).orderBy('id'),
  { remembered: 'principal' },
)
const isRead = (text: string) => /^select/i.test(text) && !/^select (graphile|set_config|pg_notify)/.test(text)

test('small reads are sent with the read that follows them, as one statement, and have the answers that they have alone', async () => {
  await using temp = await openTempPostgres()
  const { store } = temp
  const name = 'Ana \0 \u{10ffff} "\\ \u{1f600}\n'
  await store.transact(function* () {
    yield* savePrincipal(person('prn_ana', name), 9_007_199_254_740_991)
    yield* savePrincipal(person('prn_bo', name), 2)
    yield* addSetting.run({ name: 'one', value: name })
  })
  const questions = () => [
    findPrincipal.first({ id: 'prn_ana' }),
    findPrincipal.first({ id: 'prn_none' }),
    peopleByName.all({ name }),
    peopleByName.first({ name }),
    countPeople.first({ kind: 'person' }),
  ]
  const read = (of: string, isAhead: boolean) =>
    store.transact(function* () {
      if (isAhead) yield* ahead(...questions())
      const larger = yield* findSetting.first({ name: of })
      const answers: unknown[] = []
      for (const one of questions()) answers.push(yield* one)
      return [larger, ...answers]
    })
  const alone = await read('one', false)
  expect(alone).toMatchObject([
    { name: 'one', value: name },
    { name },
    undefined,
    [{ id: 'prn_ana' }, { id: 'prn_bo' }],
    { id: 'prn_ana' },
    { people: 2 },
  ])
  using counted = countStatements()
  expect(await read('one', true)).toEqual(alone)
  expect(counted.sent.filter((text) => isRead(text) && /~answers/.test(text))).toHaveLength(1)
  expect(counted.sent.filter((text) => /from "(principal|setting)"/.test(text))).toHaveLength(1)
  // The larger read finds nothing.
  expect(await read('none', true)).toEqual([undefined, ...alone.slice(1)])
})

test('small reads that no other read follows are sent when they are asked for, and not at all when nobody asks', async () => {
  await using temp = await openTempPostgres()
  const { store } = temp
  await store.transact(() => savePrincipal(person('prn_ana', 'Ana'), 1))
  const asked = question<{ id: string }, { id: string }>((db, p) => db.selectFrom('principal').select('id').where('id', '=', p.id), {
    remembered: 'principal',
  })
  using counted = countStatements()
  const names = await store.transact(function* () {
    yield* ahead(findPrincipal.first({ id: 'prn_ana' }), asked.first({ id: 'prn_ana' }))
    return [(yield* findPrincipal.first({ id: 'prn_ana' }))?.name, (yield* asked.first({ id: 'prn_ana' }))?.id]
  })
  expect(names).toEqual(['Ana', 'prn_ana'])
  const sent = counted.sent.length
  await store.transact(function* () {
    yield* ahead(findPrincipal.first({ id: 'prn_ana' }))
    yield* addSetting.run({ name: 'two', value: '' })
    yield* ahead(findPrincipal.first({ id: 'prn_ana' }))
  })
  // The first one goes before the write that follows it.
  expect(counted.sent.slice(sent).filter((text) => /from "principal"/.test(text))).toHaveLength(1)
})

test('a write that answers with its row is sent by itself, behind the small reads before it', async () => {
  await using temp = await openTempPostgres()
  const { store } = temp
  await store.transact(() => savePrincipal(person('prn_ana', 'Ana'), 1))
  const rename = question<{ id: string; name: string }, { name: string }>((db, p) =>
    db.updateTable('principal').set({ name: p.name }).where('id', '=', p.id).returning('name'),
  )
  const names = await store.transact(function* () {
    yield* ahead(findPrincipal.first({ id: 'prn_ana' }))
    const renamed = yield* rename.first({ id: 'prn_ana', name: 'Anna' })
    return [renamed?.name, (yield* findPrincipal.first({ id: 'prn_ana' }))?.name]
  })
  expect(names).toEqual(['Anna', 'Anna'])
})

test('a small read that was sent ahead sees what the transaction wrote since', async () => {
  await using temp = await openTempPostgres()
  const { store } = temp
  await store.transact(() => savePrincipal(person('prn_ana', 'Ana'), 1))
  const seen = await store.transact(function* () {
    yield* ahead(findPrincipal.first({ id: 'prn_ana' }))
    yield* savePrincipal(person('prn_ana', 'Anna'), 1)
    yield* findSetting.first({ name: 'none' })
    return (yield* findPrincipal.first({ id: 'prn_ana' }))?.name
  })
  expect(seen).toBe('Anna')
})

test('a small read that was sent ahead of a lock sees what was committed while the transaction waited', async () => {
  await using temp = await openTempPostgres()
  const { store } = temp
  await store.transact(() => savePrincipal(person('prn_ana', 'Ana'), 1))
  const held = Promise.withResolvers<void>()
  const isAsked = Promise.withResolvers<void>()
  let waits = 0
  let mayGoOn = false
  const first = store.transact(function* () {
    yield* lock('ses_1')
    held.resolve()
    for (; !mayGoOn && waits < 10_000; waits++) yield* findPrincipal.first({ id: `prn_${waits}` })
    yield* savePrincipal(person('prn_ana', 'Anna'), 1)
  })
  await held.promise
  const name = store.transact(function* () {
    yield* keepRights()
    yield* ahead(findPrincipal.first({ id: 'prn_ana' }))
    isAsked.resolve()
    yield* lock('ses_1')
    yield* findSetting.first({ name: 'none' })
    return (yield* findPrincipal.first({ id: 'prn_ana' }))?.name
  })
  await isAsked.promise
  mayGoOn = true
  await first
  expect(await name).toBe('Anna')
})

test('a small read that fails, or the read that it is sent with, ends the transaction with its error', async () => {
  await using temp = await openTempPostgres()
  const { store } = temp
  const failing = question<{ id: string }, { one: number }>(
    (db, p) => ({ compile: () => sql<{ one: number }>`select (${p.id})::text::int as one`.compile(db) }),
    { remembered: 'principal' },
  )
  const small = store.transact(function* () {
    yield* ahead(failing.first({ id: 'one' }))
    yield* addSetting.run({ name: 'never', value: '' })
    yield* findSetting.first({ name: 'never' })
  })
  await expect(small).rejects.toThrow('invalid input syntax')
  const withLarger = store.transact(function* () {
    yield* ahead(failing.first({ id: 'one' }))
    yield* findSetting.first({ name: 'never' })
  })
  await expect(withLarger).rejects.toThrow('invalid input syntax')
  expect(await store.read(() => findSetting.first({ name: 'never' }))).toBeUndefined()
})
