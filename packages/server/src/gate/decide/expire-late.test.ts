import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  ben,
  caller,
  createDeadlineShop,
  DAY_MS,
  endingsIn,
  HOUR_MS,
  statesIn,
  TIMEOUT,
} from '../../../../../verification/testing/deadline-shop.ts'

const shop = createDeadlineShop()
beforeEach(shop.open)
afterEach(shop.close)
const { logOf, openSession, pass, propose, toldIn } = shop

describe('a decision that comes too late', () => {
  /** The deadline passes, and no timer has noticed yet. */
  const passUnnoticed = () => shop.clock.set(shop.clock.nowMs() + HOUR_MS)

  for (const verdict of ['approve', 'decline'] as const) {
    test(`an expired action cannot be ${verdict}d late, also where nobody has noticed that its time is over`, async () => {
      const { sessionId, waiting } = await openSession('ship')
      const [id = ''] = waiting
      passUnnoticed()
      const refusal = await shop.engine.gate.decide(id, { verdict }, caller).catch((error) => error)
      const [{ expiresAt }] = [refusal.extra.action]
      expect(refusal).toMatchObject({
        code: 'already_decided',
        message: `action ${id} expired at ${expiresAt}: nobody had decided by then`,
      })
      expect(refusal.extra.action).toMatchObject({ id, state: 'expired', votes: [] })
      await shop.engine.idle()
      expect(statesIn(await logOf(sessionId))).toEqual(['expired'])
      expect(await toldIn(sessionId)).toEqual([TIMEOUT])
      expect(endingsIn(await logOf(sessionId))).toMatchObject([{ type: 'done' }])
      await pass(DAY_MS)
      await expect(shop.engine.gate.decide(id, { verdict }, { principal: ben })).rejects.toMatchObject({ code: 'already_decided' })
      expect(statesIn(await logOf(sessionId))).toEqual(['expired'])
      expect(shop.shipped).toBe(0)
    })
  }

  test('at the deadline itself is too late, a millisecond before it is not', async () => {
    const [inTime, late] = [await propose('ship'), await propose('ship')]
    shop.clock.set(shop.clock.nowMs() + HOUR_MS - 1)
    expect(await shop.engine.gate.decide(inTime.id, { verdict: 'approve' }, caller)).toMatchObject({ state: 'approved' })
    shop.clock.set(shop.clock.nowMs() + 1)
    await expect(shop.engine.gate.decide(late.id, { verdict: 'approve' }, caller)).rejects.toMatchObject({ code: 'already_decided' })
  })

  test('is answered the same when it is sent again under its key', async () => {
    const { id } = await propose('ship')
    passUnnoticed()
    const send = () =>
      shop.engine.gate
        .decide(id, { verdict: 'approve' }, { ...caller, once: { scope: 's', key: 'k', requestHash: 'h' } })
        .catch((error) => error)
    const [first, second] = [await send(), await send()]
    expect(first).toMatchObject({ code: 'already_decided', extra: { action: { state: 'expired' } } })
    expect([second.code, second.message, second.extra]).toEqual([first.code, first.message, first.extra])
  })

  test('ends the run where a decline would', async () => {
    const { sessionId, waiting } = await openSession('ship bill', 'stop')
    passUnnoticed()
    await expect(shop.engine.gate.decide(waiting[0] ?? '', { verdict: 'approve' }, caller)).rejects.toMatchObject({
      code: 'already_decided',
    })
    await shop.engine.idle()
    expect(statesIn(await logOf(sessionId))).toEqual(['expired', 'cancelled'])
    expect(endingsIn(await logOf(sessionId))).toMatchObject([{ type: 'error', data: { code: 'cancelled' } }])
  })

  for (const word of ['approve', 'no', 'approve all'] as const) {
    test(`typed as "${word}" decides nothing and says why`, async () => {
      const { sessionId } = await openSession('ship')
      passUnnoticed()
      expect(await shop.engine.agentLoop.postMessage(sessionId, word, caller)).toMatchObject({ decided: [] })
      await shop.engine.idle()
      const said = await logOf(sessionId)
      expect(statesIn(said)).toEqual(['expired'])
      const notes = said.flatMap(({ type, data }) => (type === 'message' && data.message.kind === 'note' ? [data.message.content] : []))
      expect(notes).toEqual([expect.stringMatching(/^Too late: "Call ship .*" expired at 2026-.*Z\. It was not carried out\.$/)])
      expect(shop.shipped).toBe(0)
      // Nobody approved anything, so the next call goes to people again.
      await shop.engine.agentLoop.postMessage(sessionId, 'bill', caller)
      await shop.engine.idle()
      expect((await logOf(sessionId)).at(-1)).toMatchObject({ type: 'session_status', data: { status: 'waiting_approval' } })
    })
  }

  for (const verdict of ['approve', 'reject', 'approve_all'] as const) {
    test(`by the session (${verdict}) is refused with the action as it is, and grants nothing`, async () => {
      const { sessionId, waiting } = await openSession('ship')
      passUnnoticed()
      await expect(shop.engine.agentLoop.approveInSession(sessionId, { verdict }, caller)).rejects.toMatchObject({
        code: 'already_decided',
        extra: { action: { id: waiting[0], state: 'expired' } },
      })
      await shop.engine.idle()
      expect(await toldIn(sessionId)).toEqual([TIMEOUT])
      await shop.engine.agentLoop.postMessage(sessionId, 'bill', caller)
      await shop.engine.idle()
      expect((await logOf(sessionId)).at(-1)).toMatchObject({ type: 'session_status', data: { status: 'waiting_approval' } })
    })
  }

  test('as "approve all" approves what is in time and says what was not', async () => {
    const { sessionId, waiting } = await openSession('ship bill')
    passUnnoticed()
    const { decided = [] } = await shop.engine.agentLoop.postMessage(sessionId, 'approve all', caller)
    expect(decided.map(({ id, state }) => [id, state])).toEqual([[waiting[1], 'approved']])
    await shop.engine.idle()
    expect(await toldIn(sessionId)).toEqual([TIMEOUT, { shipped: 1 }])
  })

  test('as "approve all" where a decline stops the run says truly what became of the others', async () => {
    const { sessionId } = await openSession('bill ship', 'stop')
    passUnnoticed()
    const { decided = [] } = await shop.engine.agentLoop.postMessage(sessionId, 'approve all', caller)
    expect(decided.map(({ state }) => state)).toEqual(['cancelled'])
    await shop.engine.idle()
    expect(shop.shipped).toBe(0)
  })

  test('a cancel that comes too late finds the action expired, not cancelled', async () => {
    const { sessionId } = await openSession('ship bill')
    passUnnoticed()
    await shop.engine.agentLoop.cancelSession(sessionId, caller)
    expect(statesIn(await logOf(sessionId))).toEqual(['expired', 'cancelled'])
    expect(await toldIn(sessionId)).toEqual([TIMEOUT, { declined: true, reason: 'Cancelled by Ana' }])
  })
})
