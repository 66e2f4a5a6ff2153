import { CountersignError, ToolError } from '@countersign/core'
import { defineTool } from '@countersign/toolkit'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { openBareGate, rowOf, savePersons } from '../../../../../verification/testing/bare-gate.ts'
import { ana } from '../../../../../verification/testing/open-gate.ts'
import { STORES } from '../../../../../verification/testing/temp-store.ts'
import type { Store } from '../../store/index.ts'

const caller = { principal: ana }

/** A gate whose process can lose its sign of life, and a service that says no once. */
function openDesk(store: Store) {
  const sent: string[] = []
  const service: { fails: ToolError | undefined } = { fails: undefined }
  const pay = defineTool({
    name: 'pay',
    description: 'Pays',
    input: z.object({}),
    effect: 'write',
    idempotent: true,
    async execute(_, { idempotencyKey }) {
      sent.push(idempotencyKey)
      const { fails } = service
      service.fails = undefined
      if (fails) throw fails
      return 'paid'
    },
  })
  const life = {
    isAlive: true,
    whenAlive: async () => {
      if (!life.isAlive) throw new CountersignError('not_ready', 'the database does not answer: try again')
    },
  }
  return { sent, service, life, gate: openBareGate(store, [pay], 'prc_1', { life }) }
}

for (const { database, open } of STORES) {
  test(`${database}: a process without a sign of life tries nothing again, for others would take it over while it runs`, async () => {
    await using temp = await open()
    const { store } = temp
    await savePersons(store)
    const { gate, sent, service, life } = openDesk(store)
    service.fails = new ToolError('refused', 'There is no such account.')
    const { id } = await gate.approved('pay')
    await gate.execute(id)
    const failed = await rowOf(store, id)
    expect(failed.state).toBe('failed')
    life.isAlive = false
    await expect(gate.retry(id, caller)).rejects.toMatchObject({ code: 'not_ready' })
    await gate.idle()
    expect([await rowOf(store, id), sent.length]).toEqual([failed, 1])
    life.isAlive = true
    await gate.retry(id, caller)
    await gate.idle()
    expect((await rowOf(store, id)).state).toBe('succeeded')
  })

  test(`${database}: a process without a sign of life sends no lost attempt again because a person asks for it`, async () => {
    await using temp = await open()
    const { store } = temp
    await savePersons(store)
    const { gate, sent, service, life } = openDesk(store)
    const { id } = await gate.approved('pay')
    // Not to be sent again by itself.
    service.fails = new ToolError('ambiguous', 'The line went dead.', { retryAfterMs: 3_600_000 })
    await gate.execute(id)
    const unknown = await rowOf(store, id)
    expect(unknown.state).toBe('outcome_unknown')
    life.isAlive = false
    await expect(gate.verify(id, caller)).rejects.toMatchObject({ code: 'not_ready' })
    await gate.idle()
    expect([await rowOf(store, id), sent.length]).toEqual([unknown, 1])
    life.isAlive = true
    await gate.verify(id, caller)
    await gate.idle()
    expect((await rowOf(store, id)).state).toBe('succeeded')
  })

  test(`${database}: an approved action whose process lost its sign of life while it waited for its turn starts when that is back`, async () => {
    await using temp = await open()
    const { store } = temp
    await savePersons(store)
    const { gate, sent, life } = openDesk(store)
    const { id } = await gate.approved('pay')
    const asked = Promise.withResolvers<void>()
    const back = Promise.withResolvers<void>()
    life.whenAlive = () => {
      asked.resolve()
      return back.promise
    }
    const executed = gate.execute(id)
    await Promise.race([asked.promise, executed])
    expect([(await rowOf(store, id)).state, sent.length]).toEqual(['approved', 0])
    back.resolve()
    await executed
    expect([(await rowOf(store, id)).state, sent.length]).toEqual(['succeeded', 1])
  })
}
