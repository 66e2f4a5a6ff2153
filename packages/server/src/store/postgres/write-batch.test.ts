import * as fc from 'fast-check'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { countStatements } from '../../../../../verification/testing/count-cost.ts'
import { openTempPostgres } from '../../../../../verification/testing/temp-store.ts'
import { question, type Tx } from '../query.ts'
import { findPrincipal } from '../tables/principals.ts'

type Statement = ReturnType<typeof sql>
const written = <P extends Record<string, string | number>>(build: (p: P) => Statement) =>
  question<P>((db, p) => ({ compile: () => build(p).compile(db) }))

const addPerson = written<{ id: string }>(
  (p) => sql`insert into "principal" ("id", "kind", "name", "roles", "created_at") values (${p.id}, 'person', '', '[]', 0)`,
)
const renamePerson = written<{ id: string; name: string }>((p) => sql`update "principal" set "name" = ${p.name} where "id" = ${p.id}`)
const removePerson = written<{ id: string }>((p) => sql`delete from "principal" where "id" = ${p.id}`)
const addSetting = written<{ id: string }>((p) => sql`insert into "setting" ("name", "value") values (${p.id}, '')`)
const changeSetting = written<{ id: string; value: string }>((p) => sql`update "setting" set "value" = ${p.value} where "name" = ${p.id}`)
const removeSetting = written<{ id: string }>((p) => sql`delete from "setting" where "name" = ${p.id}`)
const putSetting = written<{ id: string; value: string }>(
  (p) =>
    sql`insert into "setting" ("name", "value") values (${p.id}, ${p.value}) on conflict ("name") do update set "value" = excluded."value"`,
)
/** Reads one table and writes the other. */
const copyName = written<{ id: string }>(
  (p) =>
    sql`update "setting" set "value" = "principal"."name" from "principal" where "principal"."id" = ${p.id} and "setting"."name" = ${p.id}`,
)
const copyPerson = written<{ id: string }>(
  (p) => sql`insert into "setting" ("name", "value") select "id", "name" from "principal" where "id" = ${p.id}`,
)

interface Model {
  people: Map<string, string>
  settings: Map<string, string>
}

/** The write, where the model allows it; the model changes as the tables should. */
const WRITES: Record<string, (model: Model, id: string, n: number) => Tx<void> | undefined> = {
  addPerson({ people }, id) {
    if (people.has(id)) return undefined
    people.set(id, '')
    return addPerson.run({ id })
  },
  renamePerson({ people }, id, n) {
    if (people.has(id)) people.set(id, `name ${n}`)
    return renamePerson.run({ id, name: `name ${n}` })
  },
  removePerson({ people }, id) {
    people.delete(id)
    return removePerson.run({ id })
  },
  addSetting({ settings }, id) {
    if (settings.has(id)) return undefined
    settings.set(id, '')
    return addSetting.run({ id })
  },
  changeSetting({ settings }, id, n) {
    if (settings.has(id)) settings.set(id, `value ${n}`)
    return changeSetting.run({ id, value: `value ${n}` })
  },
  putSetting({ settings }, id, n) {
    settings.set(id, `value ${n}`)
    return putSetting.run({ id, value: `value ${n}` })
  },
  removeSetting({ settings }, id) {
    settings.delete(id)
    return removeSetting.run({ id })
  },
  copyName({ people, settings }, id) {
    const name = people.get(id)
    if (settings.has(id) && name !== undefined) settings.set(id, name)
    return copyName.run({ id })
  },
  copyPerson({ people, settings }, id) {
    const name = people.get(id)
    if (settings.has(id)) return undefined
    if (name !== undefined) settings.set(id, name)
    return copyPerson.run({ id })
  },
  *read() {
    yield* findPrincipal.first({ id: 'p1' })
  },
}
const drawn = fc.record({ what: fc.constantFrom(...Object.keys(WRITES)), id: fc.constantFrom('p1', 'p2') })

test('whatever a transaction writes in whatever order, the database is as if each write had been sent by itself', async () => {
  await using temp = await openTempPostgres()
  const { store } = temp
  const all = question<Record<string, never>, { id: string; name: string }>((db) => ({
    compile: () =>
      sql<{ id: string; name: string }>`select id, name from principal where id like 'p_' union all
        select 'setting ' || name, value from setting where name like 'p_'`.compile(db),
  }))
  await fc.assert(
    fc.asyncProperty(fc.array(drawn, { maxLength: 14 }), async (steps) => {
      const model: Model = { people: new Map(), settings: new Map() }
      await store.transact(function* () {
        model.people.clear()
        model.settings.clear()
        for (const id of ['p1', 'p2']) {
          yield* removePerson.run({ id })
          yield* removeSetting.run({ id })
          yield* addPerson.run({ id })
          yield* addSetting.run({ id })
          model.people.set(id, '')
          model.settings.set(id, '')
        }
        for (const [n, { what, id }] of steps.entries()) yield* WRITES[what]?.(model, id, n) ?? nothing()
      })
      const rows = await store.read(() => all.all({}))
      const expected = [...model.people, ...[...model.settings].map(([id, value]) => [`setting ${id}`, value] as const)]
      expect(new Map(rows.map(({ id, name }) => [id, name]))).toEqual(new Map(expected))
    }),
    { numRuns: 200 },
  )
})

test('a row that is inserted or else updated goes with the writes of other tables', async () => {
  await using temp = await openTempPostgres()
  const { store } = temp
  const put = () =>
    store.transact(function* () {
      yield* addPerson.run({ id: 'p1' })
      yield* putSetting.run({ id: 'p1', value: 'first' })
    })
  await put()
  await store.transact(() => removePerson.run({ id: 'p1' }))
  using counted = countStatements()
  await put()
  expect(counted.sent.filter((text) => text.includes('insert into "principal"'))).toEqual([
    expect.stringContaining('insert into "setting"'),
  ])
})

function* nothing(): Tx<void> {}
