import type { PolicyRule } from '@countersign/core'
import { defineTool } from '@countersign/toolkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openBareGate, rowOf, savePersons } from '../../../../../verification/testing/bare-gate.ts'
import {
  caller,
  createDeadlineShop,
  DAY_MS,
  HOUR_MS,
  MINUTE_MS,
  overdueIn,
  statesIn,
} from '../../../../../verification/testing/deadline-shop.ts'
import { ana } from '../../../../../verification/testing/open-gate.ts'
import { STORES } from '../../../../../verification/testing/temp-store.ts'
import { systemClock } from '../../clock.ts'
import { compilePolicy, fixedPolicies } from '../../policy/index.ts'
import { events } from '../../store/index.ts'

const shop = createDeadlineShop()
beforeEach(shop.open)
afterEach(shop.close)
const { logOf, openSession, pass, propose, read, saidOutside } = shop

describe('a reminder', () => {
  test('an approval that waited five minutes is announced once, in its session and to the inbox', async () => {
    const { sessionId, waiting } = await openSession('bill')
    await pass(5 * MINUTE_MS - 1)
    expect(overdueIn(await logOf(sessionId))).toEqual([])
    await pass(1)
    expect(overdueIn(await logOf(sessionId))).toMatchObject([{ actionId: waiting[0], waitedMs: 5 * MINUTE_MS }])
    expect(shop.live.filter(events.isForInbox).at(-1)?.event.type).toBe('approval_overdue')
    await pass(DAY_MS)
    await shop.engine.close()
    await shop.start()
    expect(overdueIn(await logOf(sessionId))).toHaveLength(1)
    await shop.engine.gate.decide(waiting[0] ?? '', { verdict: 'approve' }, caller)
    await shop.engine.idle()
    expect(shop.shipped).toBe(1)
  })

  test('makes the action overdue, from then on and through a restart, until it is decided', async () => {
    const { id } = await propose('bill')
    const { id: other } = await propose('bill')
    await pass(5 * MINUTE_MS - 1)
    expect(await read(id)).toMatchObject({ state: 'proposed', overdue: false })
    await pass(1)
    const { updatedAt } = overdueIn(saidOutside())[0] ?? {}
    expect(await read(id)).toMatchObject({ state: 'proposed', overdue: true, updatedAt })
    await shop.engine.close()
    shop.clock.pass(DAY_MS)
    await shop.start()
    expect(await read(id)).toMatchObject({ overdue: true })
    expect(await shop.engine.gate.decide(id, { verdict: 'approve' }, caller)).toMatchObject({ overdue: false })
    expect(await shop.engine.gate.decide(other, { verdict: 'decline' }, caller)).toMatchObject({ state: 'declined', overdue: false })
  })

  test('that fell due while no process ran makes the action overdue at the next start', async () => {
    const { id } = await propose('bill')
    await shop.engine.close()
    shop.clock.pass(HOUR_MS)
    await shop.start()
    expect(await read(id)).toMatchObject({ overdue: true })
    expect(overdueIn(saidOutside())).toMatchObject([{ actionId: id, waitedMs: HOUR_MS }])
  })

  test('of an action without a session is announced in the log', async () => {
    const { id } = await propose('bill')
    await pass(5 * MINUTE_MS)
    expect(overdueIn(saidOutside())).toMatchObject([{ actionId: id, waitedMs: 5 * MINUTE_MS }])
  })

  test('comes before the expiry, and the expiry comes all the same', async () => {
    const { sessionId } = await openSession('ship')
    await pass(HOUR_MS)
    const said = await logOf(sessionId)
    expect(overdueIn(said)).toMatchObject([{ waitedMs: 5 * MINUTE_MS }])
    expect(statesIn(said)).toEqual(['expired'])
  })

  test('that would not come before the expiry does not come', async () => {
    const [late, short] = [await openSession('lend'), await propose('bill', 'PT5M')]
    await pass(5 * MINUTE_MS - 1)
    expect(await read(short.id)).toMatchObject({ state: 'proposed', overdue: false })
    await pass(HOUR_MS - 5 * MINUTE_MS)
    expect(await read(late.waiting[0] ?? '')).toMatchObject({ state: 'proposed', overdue: false })
    await pass(3 * HOUR_MS)
    expect(overdueIn(await logOf(late.sessionId))).toEqual([])
    expect(overdueIn(saidOutside())).toEqual([])
    expect(await read(short.id)).toMatchObject({ state: 'expired' })
  })

  test('is not sent about what was decided, declined or cancelled before', async () => {
    const { sessionId, waiting } = await openSession('bill bill bill')
    const [first = '', second = ''] = waiting
    await shop.engine.gate.decide(first, { verdict: 'approve' }, caller)
    await shop.engine.gate.decide(second, { verdict: 'decline' }, caller)
    await shop.engine.agentLoop.cancelSession(sessionId, caller)
    await pass(DAY_MS)
    expect(overdueIn(await logOf(sessionId))).toEqual([])
    expect(shop.clock.waits).toEqual([])
  })
})

const never = new AbortController().signal

for (const { database, open } of STORES) {
  test(`${database}: a new revision of what people were reminded of, and what is not escalated any more, leaves nothing due`, async () => {
    await using temp = await open()
    await savePersons(temp.store)
    let balance = 1
    const preview = () => [{ field: 'balance', oldValue: balance }]
    const pay = defineTool({ name: 'pay', description: 'Pay', effect: 'write', input: { type: 'object' }, preview, execute: () => null })
    const gateWith = (more: Partial<PolicyRule>) => {
      const rule = { name: 'pay', match: { tool: 'own.pay' }, verdict: 'ask' as const, remind: 'PT1S', ...more }
      const policies = fixedPolicies(compilePolicy({ default: 'deny', rules: [rule] }, 1))
      return openBareGate(temp.store, [pay], 'prc_1', { policies, ...systemClock })
    }
    const [plain, escalating] = [gateWith({}), gateWith({ escalate: { after: 'PT1S', roles: ['leads'] } })]
    const reminded = async (gate: typeof plain) => {
      const { id } = await gate.propose({ tool: 'own.pay', arguments: {} }, { principal: ana })
      await expect.poll(() => gate.doWhatIsDue(never)).toBe(undefined)
      expect(await rowOf(temp.store, id)).toMatchObject({ due_at: null, remind_at: null, escalate_at: null })
      return id
    }
    const ids = [await reminded(plain), await reminded(escalating)]
    balance++
    for (const id of ids) {
      // The policy does not escalate any more.
      expect(await plain.refresh(id, { principal: ana })).toMatchObject({ revision: 2, overdue: true })
      expect(await rowOf(temp.store, id)).toMatchObject({ due_at: null, escalate_at: null })
    }
    // Otherwise every process would look at it each five seconds, and be that late for all else.
    expect(await plain.doWhatIsDue(never)).toBe(undefined)
  })
}
