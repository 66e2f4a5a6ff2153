import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { raw, STORES, type TempStore } from '../../../../verification/testing/temp-store.ts'
import { together } from './query.ts'
import { findSetting, insertSetting } from './tables/settings.ts'
import { keyOfNobody } from './testing/key-of-nobody.ts'

const settingOf = async ({ store }: TempStore, name: string) => (await store.read(() => findSetting.first({ name })))?.value
const put = ({ store }: TempStore, name: string, value = name) => store.transact(() => insertSetting.run({ name, value }))

test.each(STORES)('a transaction that fails takes nothing of those beside it with it ($database)', async ({ open }) => {
  await using temp = await open()
  const results = await Promise.allSettled(
    ['a', 'b', 'c'].map((name) =>
      temp.store.transact(function* (outbox) {
        outbox.sessions.add(name)
        yield* insertSetting.run({ name, value: name })
        if (name === 'b') throw new Error('changed my mind')
        return name
      }),
    ),
  )
  expect(results).toMatchObject([{ value: 'a' }, { reason: { message: 'changed my mind' } }, { value: 'c' }])
  expect([await settingOf(temp, 'a'), await settingOf(temp, 'b'), await settingOf(temp, 'c')]).toEqual(['a', undefined, 'c'])
  expect(temp.committed.map(({ sessions }) => [...sessions].join()).sort()).toEqual(['a', 'c'])
})

test.each(STORES)(
  'a statement that fails undoes its transaction and is its error, whatever came after it ($database)',
  async ({ open }) => {
    await using temp = await open()
    const said = temp.store.transact(function* () {
      yield* insertSetting.run({ name: 'before', value: '1' })
      yield* keyOfNobody()
      yield* insertSetting.run({ name: 'after', value: '1' })
      yield* findSetting.first({ name: 'before' })
      throw new Error('something else')
    })
    await expect(said).rejects.toThrow(/foreign key/i)
    const unwaited = temp.store.transact(function* () {
      yield* insertSetting.run({ name: 'before', value: '1' })
      yield* keyOfNobody()
    })
    await expect(unwaited).rejects.toThrow(/foreign key/i)
    expect([await settingOf(temp, 'before'), await settingOf(temp, 'after')]).toEqual([undefined, undefined])
    expect(temp.committed).toEqual([])
  },
)

test.each(STORES)('any text and any number we count with comes back as it was stored ($database)', async ({ open }) => {
  await using temp = await open()
  const texts = ['', 'tab\t, quote " \' \\, snow ☃, party 🎉', 'NUL \0 \0\0', '\u{10ffff}0 \u{10ffff} \u{10ffff}1 \0']
  for (const [n, value] of texts.entries()) {
    await temp.store.transact(() => insertSetting.run({ name: `text${n}`, value }))
    expect(await settingOf(temp, `text${n}`)).toBe(value)
  }
  const big = Number.MAX_SAFE_INTEGER
  await temp.store.transact(() =>
    raw(sql`insert into once (scope, key, request_hash, answer, created_at) values ('s', 'k', 'h', 'a', ${big})`),
  )
  expect(await temp.store.read(() => raw(sql`select created_at as at, null as gap from once`))).toEqual([{ at: big, gap: null }])
})

test.each(STORES)('a transaction that is run again begins with an empty outbox ($database)', async ({ open }) => {
  await using temp = await open()
  // Two transactions with the same reads and writes: one of them is run again, and then finds the other's write.
  const claim = (name: string) =>
    temp.store.transact(function* (outbox) {
      outbox.sessions.add(name)
      const found = yield* findSetting.first({ name: 'winner' })
      if (found) return found.value
      yield* raw(sql`insert into setting values ('winner', ${name})`)
      return name
    })
  const winners = await Promise.all(['a', 'b', 'c', 'd'].map(claim))
  expect(new Set(winners).size).toBe(1)
  expect(temp.committed.map(({ sessions }) => [...sessions].join()).sort()).toEqual(['a', 'b', 'c', 'd'])
})

test.each(STORES)('what is read in one piece is of one moment, whatever is committed meanwhile ($database)', async ({ open }) => {
  await using temp = await open()
  await put(temp, 'one')
  const seen = temp.store.read(function* () {
    const before = yield* findSetting.first({ name: 'two' })
    const { rows } = { rows: yield* raw(sql`select count(*) as n from setting where name in ('one', 'two')`) }
    return [before, rows]
  })
  await put(temp, 'two')
  const [before, rows] = await seen
  expect(rows).toEqual([{ n: before === undefined ? 1 : 2 }])
})

test.each(STORES)('after close nothing is taken, and what was under way before is stored ($database)', async ({ open }) => {
  await using temp = await open()
  const last = put(temp, 'last')
  await temp.store.close()
  await last
  await expect(put(temp, 'late')).rejects.toMatchObject({ code: 'not_ready' })
  expect(temp.committed).toHaveLength(1)
})

test.each(STORES)('questions that are asked together are each answered as if asked alone, in their order ($database)', async ({ open }) => {
  await using temp = await open()
  const both = function* () {
    yield* insertSetting.run({ name: 'a', value: 'x' })
    const [a, none, all] = yield* together(
      findSetting.first({ name: 'a' }),
      findSetting.first({ name: 'b' }),
      findSetting.all({ name: 'a' }),
    )
    return { a, none, all }
  }
  const expected = { a: { value: 'x' }, none: undefined, all: [{ value: 'x' }] }
  expect(await temp.store.transact(both)).toEqual(expected)
  expect(await temp.store.read(() => together(findSetting.all({ name: 'a' }), findSetting.first({ name: 'b' })))).toEqual([
    [{ value: 'x' }],
    undefined,
  ])
  const failing = temp.store.transact(function* () {
    yield* together(keyOfNobody(), findSetting.first({ name: 'a' }))
  })
  await expect(failing).rejects.toThrow(/foreign key/i)
})
