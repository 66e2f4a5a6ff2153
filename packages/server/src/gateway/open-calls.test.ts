import { defineTool } from '@countersign/toolkit'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { openBareGate, savePersons } from '../../../../verification/testing/bare-gate.ts'
import { ana, ben, hurriedClock, type OpenGate, openGate } from '../../../../verification/testing/open-gate.ts'
import { STORES } from '../../../../verification/testing/temp-store.ts'
import { createOpenCalls, type GatewayCall } from './open-calls.ts'

const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  effect: 'write',
  input: { type: 'object', additionalProperties: { type: 'string' } },
  execute: () => ({ paid: true }),
})

const call: GatewayCall = { tool: 'own.pay', arguments: { to: 'x' }, agent: undefined, key: undefined }
const caller = { principal: ana }

const openCallsOf = ({ engine: { store, gate, clock } }: OpenGate) =>
  createOpenCalls({ store, gate, clock, log: pino({ level: 'silent' }) })

/** The action of the call, executed. */
async function settled(open: OpenGate, id: string) {
  await open.engine.gate.decide(id, { verdict: 'approve' }, { principal: ben })
  return open.until(id)
}

test('who has the answer already and calls again, before that is noted, makes a new action', async () => {
  await using open = await openGate([pay])
  const calls = openCallsOf(open)
  const { action } = await calls.actionOf(call, caller)
  const delivered = Promise.withResolvers<boolean>()
  calls.tell(await settled(open, action.id), delivered.promise)
  const next = calls.actionOf(call, caller)
  delivered.resolve(true)
  const { action: second, isRepeated } = await next
  expect(second.id).not.toBe(action.id)
  expect(isRepeated).toBe(false)
})

test('a client that repeats its call while the delivery of the result is being stored gets a new action', async () => {
  await using open = await openGate([pay])
  const { store, gate, clock } = open.engine
  let onRead: (() => Promise<void>) | undefined
  let ended = Promise.withResolvers<void>()
  // The answer about the open call arrives after that of the transaction that closes it, which began later.
  const slow: typeof store = {
    ...store,
    async transact(work) {
      const wait = onRead
      onRead = undefined
      const value = await store.transact(work)
      if (wait) await wait()
      else ended.resolve()
      return value
    },
  }
  const calls = createOpenCalls({ store: slow, gate, clock, log: pino({ level: 'silent' }) })
  const { action } = await calls.actionOf(call, caller)
  const done = await settled(open, action.id)
  ended = Promise.withResolvers()
  onRead = async () => {
    calls.tell(done, Promise.resolve(true))
    await ended.promise
    await new Promise((resolve) => setImmediate(resolve))
  }
  const { action: second, isRepeated } = await calls.actionOf(call, caller)
  expect(second.id).not.toBe(action.id)
  expect(isRepeated).toBe(false)
})

test('an answer that did not leave was given to nobody: the same call gets it', async () => {
  await using open = await openGate([pay])
  const calls = openCallsOf(open)
  const { action } = await calls.actionOf(call, caller)
  const lost = Promise.withResolvers<boolean>()
  calls.tell(await settled(open, action.id), lost.promise)
  const next = calls.actionOf(call, caller)
  lost.resolve(false)
  expect(await next).toMatchObject({ action: { id: action.id, state: 'succeeded', result: { paid: true } }, isRepeated: true })
})

test('the same call twenty times at once, from two processes, is one action', async () => {
  await using open = await openGate([pay])
  const processes = [openCallsOf(open), openCallsOf(open)]
  const found = await Promise.all(Array.from({ length: 20 }, (_, index) => processes[index % 2]?.actionOf(call, caller)))
  expect(new Set(found.map((one) => one?.action.id)).size).toBe(1)
  expect(found.filter((one) => !one?.isRepeated)).toHaveLength(1)
})

test('another agent, another name, other arguments are other calls', async () => {
  await using open = await openGate([pay])
  const calls = openCallsOf(open)
  const others = [call, { ...call, agent: 'desk' }, { ...call, arguments: { to: 'y' } }]
  const found = await Promise.all([...others.map((one) => calls.actionOf(one, caller)), calls.actionOf(call, { principal: ben })])
  expect(new Set(found.map(({ action }) => action.id)).size).toBe(4)
})

test('a result that nobody fetched for a month is not given any more, and a read that asked nobody never is', async () => {
  const look = defineTool({
    name: 'look',
    description: 'Looks.',
    effect: 'read',
    input: { type: 'object' },
    execute: () => ({ seen: true }),
  })
  await using open = await openGate([pay, look])
  const { store, gate } = open.engine
  let now = Date.now()
  const calls = createOpenCalls({ store, gate, clock: { ...open.engine.clock, nowMs: () => now }, log: pino({ level: 'silent' }) })
  const first = (await calls.actionOf(call, caller)).action.id
  await settled(open, first)
  now += 29 * 24 * 60 * 60_000
  expect((await calls.actionOf(call, caller)).action.id).toBe(first)
  now += 2 * 24 * 60 * 60_000
  expect((await calls.actionOf(call, caller)).action.id).not.toBe(first)

  const reading = { ...call, tool: 'own.look', arguments: {} }
  const read = (await calls.actionOf(reading, caller)).action.id
  await open.until(read)
  expect((await calls.actionOf(reading, caller)).action.id).not.toBe(read)
})

for (const { database, open } of STORES) {
  test(`${database}: a call of a tool that is gone is found while its result was given to nobody, and only by the same call`, async () => {
    await using temp = await open()
    const { store } = temp
    await savePersons(store)
    const before = openBareGate(store, [pay], 'prc_before')
    const made = createOpenCalls({ store, gate: before, clock: hurriedClock, log: pino({ level: 'silent' }) })
    const { action } = await made.actionOf(call, caller)
    const { action: keyed } = await made.actionOf({ ...call, key: 'k' }, caller)
    for (const { id } of [action, keyed]) {
      await before.decide(id, { verdict: 'approve' }, { principal: ben })
      await before.execute(id)
    }
    await before.idle()

    const after = openBareGate(store, [], 'prc_after')
    const calls = createOpenCalls({ store, gate: after, clock: hurriedClock, log: pino({ level: 'silent' }) })
    const { tool: _, ...same } = { ...call, modelName: 'own_pay' }
    expect(await calls.repeatOf(same, caller)).toMatchObject({ id: action.id, state: 'succeeded', result: { paid: true } })
    expect(await calls.repeatOf({ ...same, key: 'k' }, caller)).toMatchObject({ id: keyed.id, state: 'succeeded' })
    for (const other of [
      { ...same, modelName: 'own_payOut' },
      { ...same, modelName: 'own_payOut', key: 'k' },
      { ...same, key: 'new' },
      { ...same, arguments: { to: 'y' } },
      { ...same, agent: 'desk' },
    ]) {
      expect(await calls.repeatOf(other, caller)).toBeUndefined()
    }
    expect(await calls.repeatOf(same, { principal: ben })).toBeUndefined()
    expect(await calls.repeatOf({ ...same, key: 'k' }, { principal: ben })).toBeUndefined()
    await expect(calls.repeatOf({ ...same, key: 'k', arguments: { to: 'y' } }, caller)).rejects.toMatchObject({
      code: 'idempotency_mismatch',
    })

    // A client that has the answer makes another call when it calls again.
    const found = await calls.repeatOf(same, caller)
    if (found) calls.tell(found, Promise.resolve(true))
    expect(await calls.repeatOf(same, caller)).toBeUndefined()
    expect(await calls.repeatOf({ ...same, key: 'k' }, caller)).toMatchObject({ id: keyed.id })
  })
}
