import { defineTool, type ToolDefinition } from '@countersign/toolkit'
import { openTools } from '@countersign/toolkit/internal'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { openBareGate, rowOf, savePersons } from '../../../../../verification/testing/bare-gate.ts'
import { openTempSqlite } from '../../../../../verification/testing/temp-store.ts'
import { systemClock } from '../../clock.ts'
import type { ActionRow } from '../../store/index.ts'
import type { GateDeps } from '../gate.ts'
import type { Lost } from './attempt.ts'
import { reconcile } from './reconcile.ts'

const CUT_OFF: Lost = { to: 'lost', kind: 'ambiguous', message: 'The database went away' }

/** Continues after the third send of an action, whose answer was lost too. */
async function afterThreeSends(own: Partial<ToolDefinition<object>>, lost: Lost, isGone = false) {
  await using temp = await openTempSqlite()
  await savePersons(temp.store)
  const tool = defineTool({ name: 'do', description: 'Do', input: { type: 'object' }, effect: 'write', execute: () => null, ...own })
  const { id } = await openBareGate(temp.store, [tool], 'prc_1').approved('do')
  const row: ActionRow = { ...(await rowOf(temp.store, id)), attempt: 3, first_send: 1 }
  const tools = openTools(isGone ? {} : { own: { prefix: true, tools: [tool] } })
  return reconcile({ tools, clock: systemClock, log: pino({ level: 'silent' }) } as unknown as GateDeps, row, lost)
}

test('a read whose answers were lost three times has failed: it changed nothing, and may be made again', async () => {
  expect(await afterThreeSends({ effect: 'read' }, CUT_OFF)).toEqual({
    to: 'failed',
    error: { kind: 'ambiguous', message: 'The database went away', retryable: true },
  })
})

test('a read that the process did not survive is not sent again, and is not worth another try', async () => {
  expect(await afterThreeSends({ effect: 'read' }, { ...CUT_OFF, processEnded: true })).toMatchObject({
    to: 'failed',
    error: { kind: 'broken', retryable: false },
  })
})

test('a write that its target knows by the key, and that no look-up can find out about, is for people after three sends', async () => {
  expect(await afterThreeSends({ idempotent: true }, CUT_OFF)).toEqual({
    to: 'outcome_unknown',
    error: { kind: 'ambiguous', message: 'The database went away. It was sent 3 times under the same key.', retryable: true },
  })
})

test('an attempt whose tool is gone is of unknown outcome, and no look-up follows', async () => {
  expect(await afterThreeSends({ idempotent: true }, CUT_OFF, true)).toEqual({
    to: 'outcome_unknown',
    error: {
      kind: 'ambiguous',
      message: expect.stringMatching(/^The database went away\. It cannot be found out here: /),
      retryable: false,
    },
  })
})

test('a target that asks to be left alone for long is not asked what came of it now, but later', async () => {
  let looks = 0
  const verify = () => {
    looks++
    return { done: true } as const
  }
  expect(await afterThreeSends({ verify }, { ...CUT_OFF, retryAfterMs: 30_001 })).toEqual({
    to: 'outcome_unknown',
    error: { kind: 'ambiguous', message: 'The database went away', retryable: true },
    askedMs: 30_001,
  })
  expect(looks).toBe(0)
})
