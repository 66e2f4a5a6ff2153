import { ToolError } from '@countersign/core'
import { defineTool } from '@countersign/toolkit'
import { expect, test } from 'vitest'
import { openBareGate, rowOf, savePersons } from '../../../../../verification/testing/bare-gate.ts'
import { ana } from '../../../../../verification/testing/open-gate.ts'
import { openTempSqlite } from '../../../../../verification/testing/temp-store.ts'
import type { Store } from '../../store/index.ts'

const caller = { principal: ana, once: { scope: ana.id, key: 'again', requestHash: 'h' } }

test('a retry whose transaction is lost, while the same request is taken elsewhere, starts nothing of its own', async () => {
  await using temp = await openTempSqlite()
  await savePersons(temp.store)
  const sent: string[] = []
  let isBroken = true
  const pay = defineTool({
    name: 'pay',
    description: 'pay',
    effect: 'write',
    input: { type: 'object' },
    execute: (_, { idempotencyKey }) => {
      sent.push(idempotencyKey)
      if (isBroken) throw new ToolError('refused', 'no such account')
    },
  })
  const elsewhere = openBareGate(temp.store, [pay], 'prc_1')
  const { id } = await elsewhere.approved('pay')
  await elsewhere.execute(id)
  await elsewhere.idle()
  expect((await rowOf(temp.store, id)).state).toBe('failed')
  isBroken = false

  const lost = new Error('the connection is gone')
  // Does all of it, loses it, and does it again, as after a connection that broke; in between somebody else is faster.
  let isGone = true
  const losing: Store = {
    ...temp.store,
    async transact(work) {
      if (!isGone) return temp.store.transact(work)
      isGone = false
      const first = temp.store.transact(function* (outbox) {
        yield* work(outbox)
        throw lost
      })
      await expect(first).rejects.toBe(lost)
      await elsewhere.retry(id, caller)
      await elsewhere.idle()
      return temp.store.transact(work)
    },
  }
  const here = openBareGate(losing, [pay], 'prc_2')
  expect(await here.retry(id, caller)).toMatchObject({ state: 'executing', attempt: 2 })
  await here.idle()
  expect(sent).toHaveLength(2)
  expect(await rowOf(temp.store, id)).toMatchObject({ state: 'succeeded', attempt: 2 })
})
