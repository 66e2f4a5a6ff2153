import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  caller,
  createDeadlineShop,
  DAY_MS,
  endingsIn,
  HOUR_MS,
  MINUTE_MS,
  overdueIn,
  statesIn,
  TIMEOUT,
} from '../../../../../verification/testing/deadline-shop.ts'
import { raw } from '../../../../../verification/testing/temp-store.ts'

const shop = createDeadlineShop()
beforeEach(shop.open)
afterEach(shop.close)
const { logOf, openSession, pass, propose, read, saidOutside, toldIn } = shop

describe('the deadline', () => {
  test('is the earlier of policy and request, counted from the moment that people are asked, and absent where neither names one', async () => {
    const at = (ms: number) => new Date(shop.clock.nowMs() + ms).toISOString()
    expect((await propose('ship')).expiresAt).toBe(at(HOUR_MS))
    expect((await propose('ship', 'PT10M')).expiresAt).toBe(at(10 * MINUTE_MS))
    expect((await propose('ship', 'P2D')).expiresAt).toBe(at(HOUR_MS))
    expect((await propose('bill', 'P400D')).expiresAt).toBe(at(400 * DAY_MS))
    expect((await propose('bill')).expiresAt).toBeNull()
  })

  test('passes: the action is expired, the model is told Timeout and goes on', async () => {
    const { sessionId } = await openSession('ship')
    await pass(HOUR_MS - 1)
    expect(statesIn(await logOf(sessionId))).toEqual([])
    await pass(1)
    const said = await logOf(sessionId)
    expect(statesIn(said)).toEqual(['expired'])
    expect(await toldIn(sessionId)).toEqual([TIMEOUT])
    expect(endingsIn(said)).toMatchObject([{ type: 'done' }])
    expect(said.at(-1)).toMatchObject({ type: 'session_status', data: { status: 'completed', pendingApprovals: [] } })
    expect(shop.shipped).toBe(0)
  })

  test('passes for one of two calls of a step: the other waits on, and the model is asked once both are settled', async () => {
    const { sessionId, waiting } = await openSession('ship bill')
    await pass(HOUR_MS)
    expect(await toldIn(sessionId)).toEqual([TIMEOUT])
    expect(endingsIn(await logOf(sessionId))).toEqual([])
    await shop.engine.gate.decide(waiting[1] ?? '', { verdict: 'approve' }, caller)
    await shop.engine.idle()
    expect(await toldIn(sessionId)).toEqual([TIMEOUT, { shipped: 1 }])
    expect(endingsIn(await logOf(sessionId))).toMatchObject([{ type: 'done' }])
  })

  test('passes where a decline stops the run: the run ends, the others are withdrawn, no model is called', async () => {
    const { sessionId, waiting } = await openSession('ship bill', 'stop')
    await pass(HOUR_MS)
    const said = await logOf(sessionId)
    expect(said.flatMap(({ type, data }) => (type === 'action_update' ? [[data.proposalId, data.state]] : []))).toEqual([
      [waiting[0], 'expired'],
      [waiting[1], 'cancelled'],
    ])
    expect(endingsIn(said)).toMatchObject([{ type: 'error', data: { code: 'cancelled', error: expect.stringContaining('in time') } }])
    expect(await toldIn(sessionId)).toEqual([TIMEOUT, { declined: true, reason: expect.stringContaining('in time') }])
  })

  test('is nothing to an action that was decided before it', async () => {
    const { sessionId, waiting } = await openSession('ship')
    await pass(HOUR_MS - 1)
    await shop.engine.gate.decide(waiting[0] ?? '', { verdict: 'approve' }, caller)
    await pass(DAY_MS)
    expect(statesIn(await logOf(sessionId))).toEqual(['approved', 'executing', 'succeeded'])
    expect(shop.shipped).toBe(1)
  })

  test('months away, beyond what a timer holds, is neither early nor missed', async () => {
    const { id } = await propose('bill', 'P300D')
    await pass(HOUR_MS)
    shop.clock.set(shop.clock.nowMs() + 300 * DAY_MS - HOUR_MS - MINUTE_MS - 1)
    await pass(MINUTE_MS)
    expect(statesIn(saidOutside())).toEqual([])
    await pass(1)
    expect(statesIn(saidOutside())).toEqual(['expired'])
    expect(await read(id)).toMatchObject({ state: 'expired', votes: [] })
  })

  test('that passed while no process ran is kept by the next start, once', async () => {
    const late = await openSession('ship')
    const outside = await propose('ship')
    const stillWaiting = await propose('bill')
    await shop.engine.close()
    shop.clock.set(shop.clock.nowMs() + DAY_MS)
    await shop.start()
    expect(statesIn(await logOf(late.sessionId))).toEqual(['expired'])
    expect(endingsIn(await logOf(late.sessionId))).toMatchObject([{ type: 'done' }])
    expect(await read(outside.id)).toMatchObject({ state: 'expired' })
    expect(overdueIn(saidOutside()).map(({ actionId }) => actionId)).toEqual([stillWaiting.id])
    await shop.engine.close()
    await shop.start()
    expect(statesIn(await logOf(late.sessionId))).toEqual(['expired'])
    expect(overdueIn(saidOutside())).toHaveLength(1)
  })

  test('of more actions than are looked at together: each is kept once, none is lost', async () => {
    const proposed = await Promise.all(Array.from({ length: 900 }, (_, i) => propose(i % 2 === 0 ? 'ship' : 'bill')))
    shop.clock.set(shop.clock.nowMs() + DAY_MS)
    shop.clock.pass(MINUTE_MS)
    await shop.engine.idle()
    const kept = saidOutside().flatMap(({ type, data }) =>
      type === 'action_update' ? [data.proposalId] : type === 'approval_overdue' ? [data.actionId] : [],
    )
    expect(kept.sort()).toEqual(proposed.map(({ id }) => id).sort())
    await pass(HOUR_MS)
    expect(statesIn(saidOutside())).toHaveLength(450)
    expect(overdueIn(saidOutside())).toHaveLength(450)
    expect(shop.clock.waits).toEqual([])
  })

  test('of an action that cannot be written holds up no others, and is tried again', async () => {
    const [stuck, ...others] = [await propose('ship'), await propose('ship'), await propose('ship')]
    const run = (text: string) => shop.engine.store.transact(() => raw(sql.raw(text)))
    await run(`create trigger stuck before update on action when old.id = '${stuck?.id}' begin select raise(abort, 'stuck'); end`)
    await pass(HOUR_MS)
    expect(saidOutside().flatMap(({ type, data }) => (type === 'action_update' ? [data.proposalId] : []))).toEqual(
      others.map(({ id }) => id),
    )
    await pass(4_999)
    await run('drop trigger stuck')
    await pass(1)
    expect(await read(stuck?.id ?? '')).toMatchObject({ state: 'expired' })
  })

  test('is judged by the clock that is, when it was set back or ahead', async () => {
    const { id } = await propose('ship')
    shop.clock.set(shop.clock.nowMs() - 10 * MINUTE_MS)
    await pass(HOUR_MS + 9 * MINUTE_MS)
    expect(statesIn(saidOutside())).toEqual([])
    shop.clock.set(shop.clock.nowMs() + MINUTE_MS)
    await expect(shop.engine.gate.decide(id, { verdict: 'approve' }, caller)).rejects.toMatchObject({ code: 'already_decided' })
  })
})
