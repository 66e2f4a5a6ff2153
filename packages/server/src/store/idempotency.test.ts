import { expect, test } from 'vitest'
import { STORES, type TempStore } from '../../../../verification/testing/temp-store.ts'
import { idempotently } from './idempotency.ts'
import { findSetting, insertSetting } from './tables/settings.ts'

const once = { scope: 'prn_ana POST /api/sessions', key: 'k1', requestHash: 'h1' }

/** Runs `name` under a key and returns how often it ran. */
function openWork({ store }: TempStore) {
  let done = 0
  return (key: typeof once | undefined, name = 'thing', fails = false) =>
    store.transact(() =>
      idempotently(key, 1, function* () {
        yield* insertSetting.run({ name, value: 'done' })
        if (fails) throw new Error('not today')
        return { done: ++done }
      }),
    )
}

test.each(STORES)('a repeated key gets the first answer and does nothing ($database)', async ({ open }) => {
  await using temp = await open()
  const work = openWork(temp)
  expect(await work(once)).toEqual({ done: 1 })
  expect(await work(once, 'another thing')).toEqual({ done: 1 })
  expect(await temp.store.read(() => findSetting.first({ name: 'another thing' }))).toBeUndefined()
})

test.each(STORES)('the same key twenty times at once is done once ($database)', async ({ open }) => {
  await using temp = await open()
  const work = openWork(temp)
  const answers = await Promise.all(Array.from({ length: 20 }, () => work(once)))
  expect(answers).toEqual(answers.map(() => ({ done: 1 })))
})

test.each(STORES)('a key that was used for another request is refused; another scope is another key ($database)', async ({ open }) => {
  await using temp = await open()
  const work = openWork(temp)
  await work(once)
  await expect(work({ ...once, requestHash: 'h2' })).rejects.toMatchObject({ code: 'idempotency_mismatch' })
  expect(await work({ ...once, scope: 'prn_bo POST /api/sessions', requestHash: 'h2' })).toEqual({ done: 2 })
})

test.each(STORES)('work that fails leaves neither its writes nor its key: the same key may try again ($database)', async ({ open }) => {
  await using temp = await open()
  const work = openWork(temp)
  await expect(work(once, 'thing', true)).rejects.toThrow('not today')
  expect(await temp.store.read(() => findSetting.first({ name: 'thing' }))).toBeUndefined()
  expect(await work(once)).toEqual({ done: 1 })
})

test.each(STORES)('without a key every request is done, and an answer of nothing is kept as nothing ($database)', async ({ open }) => {
  await using temp = await open()
  const work = openWork(temp)
  expect([await work(undefined), await work(undefined)]).toEqual([{ done: 1 }, { done: 2 }])
  const silent = () => temp.store.transact(() => idempotently(once, 1, () => insertSetting.run({ name: 'silent', value: '' })))
  expect([(await silent()) ?? null, (await silent()) ?? null]).toEqual([null, null])
})
