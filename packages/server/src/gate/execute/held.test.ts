import { defineTool } from '@countersign/toolkit'
import { expect, test } from 'vitest'
import { openBareGate, rowOf, savePersons } from '../../../../../verification/testing/bare-gate.ts'
import { ana, ben } from '../../../../../verification/testing/open-gate.ts'
import { openTempSqlite } from '../../../../../verification/testing/temp-store.ts'
import { instance } from '../../store/index.ts'

const NO = { outcome: 'failed', note: 'Nothing in the books.' } as const

/** A gate of a copy with a tool that never answers, on a clock of the test's. */
async function openHeld() {
  const temp = await openTempSqlite()
  const { store } = temp
  await savePersons(store)
  const time = { now: 1_000_000 }
  let sends = 0
  const tool = defineTool({
    ...{ name: 'pay', description: 'Pay', input: { type: 'object' }, effect: 'write' },
    execute: () => {
      sends++
      return new Promise<never>(() => {})
    },
  })
  const gate = openBareGate(store, [tool], 'prc_1', { nowMs: () => time.now, after: () => () => undefined })
  const started = async () => {
    const { id } = await gate.approved('pay')
    const before = sends
    void gate.execute(id)
    await expect.poll(() => sends).toBe(before + 1)
    return id
  }
  const hold = () => store.transact(() => instance.holdInstance.run({ why: 'a copy', now: time.now }))
  return { gate, store, time, started, hold, sends: () => sends, [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose]() }
}

test('while a copy is held, a person settles what was under way before, and with it its outcome was unknown', async () => {
  await using it = await openHeld()
  const id = await it.started()
  await expect(it.gate.resolve(id, NO, { principal: ben })).rejects.toThrow(/of act_.* it is executing/)
  await it.hold()
  const settled = await it.gate.resolve(id, NO, { principal: ben })
  expect(settled).toMatchObject({ state: 'failed', resolution: { by: ben, ...NO } })
  // The original may have carried it out: no retry gets another key.
  expect(await rowOf(it.store, id)).toMatchObject({ in_doubt: 1, runner: null })
})

test('what a person let go on in a held copy is under way here, from the moment of the hold on', async () => {
  await using it = await openHeld()
  const { id } = await it.gate.approved('pay')
  await it.hold()
  const before = it.sends()
  await it.gate.release(id, { principal: ana })
  await expect.poll(it.sends).toBe(before + 1)
  expect((await rowOf(it.store, id)).released_at).toBe(it.time.now)
  await expect(it.gate.resolve(id, NO, { principal: ben })).rejects.toThrow(/of act_.* it is executing/)
})
