import { defineTool } from '@countersign/toolkit'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { ana, ben, hurriedClock, openGate } from '../../../../../verification/testing/open-gate.ts'

test('a target is read at most once a second for one action, however many ask for a fresh preview', async () => {
  let reads = 0
  let balance = 1
  const pay = defineTool({
    name: 'pay',
    description: 'Pay',
    input: z.object({ to: z.string() }),
    effect: 'write',
    preview: () => {
      reads++
      return [{ field: 'balance', oldValue: balance, newValue: 0 }]
    },
    execute: () => undefined,
  })
  let nowMs = Date.now()
  const clock = { ...hurriedClock, nowMs: () => nowMs }
  await using gate = await openGate([pay], { clock })
  const { propose, refresh } = gate.engine.gate
  const [first, second] = [
    await propose({ tool: 'own.pay', arguments: { to: 'bo' } }, { principal: ana }),
    await propose({ tool: 'own.pay', arguments: { to: 'cy' } }, { principal: ana }),
  ]
  reads = 0
  balance = 2
  const many = await Promise.all(Array.from({ length: 20 }, (_, n) => refresh(first.id, { principal: n % 2 ? ana : ben })))
  expect(reads).toBe(1)
  expect(new Set(many.map(({ revision }) => revision))).toEqual(new Set([2]))
  await refresh(second.id, { principal: ben })
  expect(reads, 'another action is read for itself').toBe(2)
  nowMs += 999
  await refresh(first.id, { principal: ben })
  expect(reads).toBe(2)
  nowMs += 1
  await refresh(first.id, { principal: ben })
  expect(reads).toBe(3)
})
