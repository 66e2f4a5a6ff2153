import { defineTool } from '@countersign/toolkit'
import { expect, test } from 'vitest'
import { openBareGate, rowOf, savePersons } from '../../../../../verification/testing/bare-gate.ts'
import { ana, ben } from '../../../../../verification/testing/open-gate.ts'
import { openTempSqlite, STORES, type TempStore } from '../../../../../verification/testing/temp-store.ts'
import { instance } from '../../store/index.ts'

const NO = { outcome: 'failed', note: 'Nothing in the books.' } as const

/** A gate of a copy with a tool that never answers, on a clock of the test's. */
async function openHeld(open: () => Promise<TempStore> = openTempSqlite) {
  const temp = await open()
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

test('what a person lets go on starts although the hold was written by a clock that is ahead', async () => {
  await using it = await openHeld()
  const { id } = await it.gate.approved('pay')
  it.time.now += 600_000
  await it.hold()
  it.time.now -= 600_000
  await it.gate.release(id, { principal: ana })
  await expect.poll(it.sends).toBe(1)
})

for (const { database, open } of STORES) {
  test(`what was approved with time to undo starts when a person lets it go on, once that time is over (${database})`, async () => {
    await using it = await openHeld(open)
    const { id, ...asked } = await it.gate.propose({ tool: 'own.pay', arguments: {} }, { principal: ana })
    await it.gate.decide(id, { verdict: 'approve', startAfter: 'PT5S' }, { principal: ben })
    await it.hold()
    it.time.now += 10_000
    const released = await it.gate.release(id, { principal: ana })
    expect(released).toMatchObject({ state: 'approved', revision: asked.revision })
    await expect.poll(it.sends).toBe(1)
    expect((await it.gate.release(id, { principal: ana })).state).toBe('executing')
    expect(it.sends()).toBe(1)
  })

  test(`nothing is let go on in a held copy while its approval can be taken back (${database})`, async () => {
    await using it = await openHeld(open)
    it.time.now = Date.now()
    const { id } = await it.gate.propose({ tool: 'own.pay', arguments: {} }, { principal: ana })
    await it.gate.decide(id, { verdict: 'approve', startAfter: 'PT1H' }, { principal: ben })
    await it.hold()
    await expect(it.gate.release(id, { principal: ana })).rejects.toThrow(/starts at .*: it can be released from then on/)
    await it.gate.idle()
    expect([it.sends(), (await rowOf(it.store, id)).released_at]).toEqual([0, null])
  })

  test(`what an older version let go on in its time to undo starts when a person says so again (${database})`, async () => {
    await using it = await openHeld(open)
    const { id } = await it.gate.propose({ tool: 'own.pay', arguments: {} }, { principal: ana })
    await it.gate.decide(id, { verdict: 'approve', startAfter: 'PT5S' }, { principal: ben })
    await it.hold()
    const row = await rowOf(it.store, id)
    const now = it.time.now
    await it.store.transact(() => instance.releaseAction(row, { released_at: now, updated_at: now }, {}))
    it.time.now += 10_000
    await it.gate.release(id, { principal: ana })
    await expect.poll(it.sends).toBe(1)
  })
}
