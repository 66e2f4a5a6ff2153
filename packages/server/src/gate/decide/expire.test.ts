import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Action, type NewEvent, type PolicyDocument, type Principal, parseJson } from '@countersign/core'
import { defineTool } from '@countersign/toolkit'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type ManualClock, manualClock } from '../../../../../verification/testing/manual-clock.ts'
import { raw } from '../../../../../verification/testing/temp-store.ts'
import { openTools } from '../../../../toolkit/src/open-tools.ts'
import { type Engine, openEngine } from '../../engine.ts'
import { createLog } from '../../log.ts'
import { scriptedModel } from '../../models/index.ts'
import { actions, events, messages, type StoredEvent } from '../../store/index.ts'
import { viewAction, viewMessage } from '../read/view.ts'

const ana: Principal = { id: 'prn_ana', kind: 'person', name: 'Ana', roles: ['approver'] }
const ben: Principal = { id: 'prn_ben', kind: 'person', name: 'Ben', roles: ['approver'] }
const caller = { principal: ana }

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

const POLICY: PolicyDocument = {
  default: 'ask',
  limits: { waitingPerAgent: 2_000 },
  rules: [
    { name: 'ship soon', match: { tool: 'ship' }, verdict: 'ask', expires: 'PT1H' },
    { name: 'remind late', match: { tool: 'lend' }, verdict: 'ask', expires: 'PT1H', remind: 'PT2H' },
  ],
}

let folder: string
let clock: ManualClock
let engine: Engine
let shipped: number
/** Every event, also of processes that have ended. */
let live: StoredEvent[]

async function openDesk(): Promise<void> {
  const tools = openTools({
    shop: {
      prefix: false,
      tools: ['ship', 'bill', 'lend'].map((name) =>
        defineTool({ name, description: name, effect: 'write', input: { type: 'object' }, execute: () => ({ shipped: ++shipped }) }),
      ),
    },
  })
  // Calls the tools that the last message names, then says that it is done.
  const model = scriptedModel({
    id: 'scripted/shop',
    reply: ({ messages: history }) => {
      const last = history.at(-1)
      const named = last?.role === 'user' ? last.content.split(' ') : []
      return {
        text: named.length === 0 ? 'Done.' : '',
        calls: named.map((tool, order) => ({ tool, arguments: { order } })),
      }
    },
  })
  const agents = (['continue', 'stop'] as const).map((onDecline) => ({
    name: onDecline,
    model,
    instructions: '',
    tools: tools.all(),
    maxSteps: 20,
    actionsPerStep: 'many' as const,
    onDecline,
    suggestions: [],
  }))
  engine = await openEngine({
    database: { kind: 'sqlite', dataDir: folder },
    agents,
    tools,
    policy: POLICY,
    log: createLog('silent'),
    clock,
  })
  await engine.hub.onInbox((event) => live.push(event))
  for (const principal of [ana, ben]) await engine.savePrincipal(principal)
  await engine.idle()
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'countersign-expire-'))
  clock = manualClock()
  shipped = 0
  live = []
  await openDesk()
})

afterEach(async () => {
  await engine.close()
  await rm(folder, { recursive: true })
})

/** Lets time pass as the engine lives it: what falls due on the way is done, however often it looks. */
async function pass(ms: number): Promise<void> {
  const end = clock.nowMs() + ms
  while (clock.nowMs() < end) {
    clock.pass(Math.min(clock.waits[0] ?? ms, end - clock.nowMs()))
    await engine.idle()
  }
}

const propose = (tool: string, expiresIn?: string): Promise<Action> => engine.gate.propose({ tool, arguments: {}, expiresIn }, caller)

/** A session that waits for a decision about each tool that `message` names. */
async function openSession(message: string, agent: 'continue' | 'stop' = 'continue'): Promise<{ sessionId: string; waiting: string[] }> {
  const { id: sessionId } = await engine.agentLoop.createSession({ agent }, caller)
  await engine.agentLoop.postMessage(sessionId, message, caller)
  await engine.idle()
  const said = await logOf(sessionId)
  engine.announcements.note(
    ana,
    said.flatMap((event) => (event.type === 'action_proposed' ? [event.data.proposal] : [])),
  )
  return { sessionId, waiting: said.flatMap((event) => (event.type === 'action_proposed' ? [event.data.proposal.id] : [])) }
}

/** Returns the events of a session. */
const logOf = (sessionId: string): Promise<NewEvent[]> =>
  engine.store.read(function* () {
    const rows = yield* events.sessionRowsAfter.all({ session_id: sessionId, after: 0, limit: 10_000 })
    return rows.flatMap(events.readEvents).map(({ event }) => event)
  })

/** Returns the events of actions without a session. */
const saidOutside = (): NewEvent[] => live.flatMap(({ sessionId, event }) => (sessionId === null ? [event] : []))

const read = (actionId: string): Promise<Action | undefined> =>
  engine.store.read(function* () {
    const row = yield* actions.findAction.first({ id: actionId })
    return row && (yield* viewAction(row))
  })

/** Returns the result of each call that the model received, in order. */
async function toldIn(sessionId: string): Promise<unknown[]> {
  const rows = await engine.store.read(() =>
    messages.listMessages.all({ session_id: sessionId, before: Number.MAX_SAFE_INTEGER, limit: 100 }),
  )
  return rows.reverse().flatMap((row) => {
    const { role, content } = viewMessage(row)
    const parsed = parseJson(content)
    return role === 'tool' && parsed.ok ? [parsed.value] : []
  })
}

const TIMEOUT = { declined: true, reason: 'Timeout' }
const statesIn = (said: readonly NewEvent[]) => said.flatMap(({ type, data }) => (type === 'action_update' ? [data.state] : []))
const overdueIn = (said: readonly NewEvent[]) => said.flatMap(({ type, data }) => (type === 'approval_overdue' ? [data] : []))
const endingsIn = (said: readonly NewEvent[]) => said.flatMap((event) => (event.type === 'done' || event.type === 'error' ? [event] : []))

describe('the deadline', () => {
  test('is the earlier of policy and request, counted from the moment that people are asked, and absent where neither names one', async () => {
    const at = (ms: number) => new Date(clock.nowMs() + ms).toISOString()
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
    expect(shipped).toBe(0)
  })

  test('passes for one of two calls of a step: the other waits on, and the model is asked once both are settled', async () => {
    const { sessionId, waiting } = await openSession('ship bill')
    await pass(HOUR_MS)
    expect(await toldIn(sessionId)).toEqual([TIMEOUT])
    expect(endingsIn(await logOf(sessionId))).toEqual([])
    await engine.gate.decide(waiting[1] ?? '', { verdict: 'approve' }, caller)
    await engine.idle()
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
    await engine.gate.decide(waiting[0] ?? '', { verdict: 'approve' }, caller)
    await pass(DAY_MS)
    expect(statesIn(await logOf(sessionId))).toEqual(['approved', 'executing', 'succeeded'])
    expect(shipped).toBe(1)
  })

  test('months away, beyond what a timer holds, is neither early nor missed', async () => {
    const { id } = await propose('bill', 'P300D')
    await pass(HOUR_MS)
    clock.set(clock.nowMs() + 300 * DAY_MS - HOUR_MS - MINUTE_MS - 1)
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
    await engine.close()
    clock.set(clock.nowMs() + DAY_MS)
    await openDesk()
    expect(statesIn(await logOf(late.sessionId))).toEqual(['expired'])
    expect(endingsIn(await logOf(late.sessionId))).toMatchObject([{ type: 'done' }])
    expect(await read(outside.id)).toMatchObject({ state: 'expired' })
    expect(overdueIn(saidOutside()).map(({ actionId }) => actionId)).toEqual([stillWaiting.id])
    await engine.close()
    await openDesk()
    expect(statesIn(await logOf(late.sessionId))).toEqual(['expired'])
    expect(overdueIn(saidOutside())).toHaveLength(1)
  })

  test('of more actions than are looked at together: each is kept once, none is lost', async () => {
    const proposed = await Promise.all(Array.from({ length: 900 }, (_, i) => propose(i % 2 === 0 ? 'ship' : 'bill')))
    clock.set(clock.nowMs() + DAY_MS)
    clock.pass(MINUTE_MS)
    await engine.idle()
    const kept = saidOutside().flatMap(({ type, data }) =>
      type === 'action_update' ? [data.proposalId] : type === 'approval_overdue' ? [data.actionId] : [],
    )
    expect(kept.sort()).toEqual(proposed.map(({ id }) => id).sort())
    await pass(HOUR_MS)
    expect(statesIn(saidOutside())).toHaveLength(450)
    expect(overdueIn(saidOutside())).toHaveLength(450)
    expect(clock.waits).toEqual([])
  })

  test('of an action that cannot be written holds up no others, and is tried again', async () => {
    const [stuck, ...others] = [await propose('ship'), await propose('ship'), await propose('ship')]
    const run = (text: string) => engine.store.transact(() => raw(sql.raw(text)))
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
    clock.set(clock.nowMs() - 10 * MINUTE_MS)
    await pass(HOUR_MS + 9 * MINUTE_MS)
    expect(statesIn(saidOutside())).toEqual([])
    clock.set(clock.nowMs() + MINUTE_MS)
    await expect(engine.gate.decide(id, { verdict: 'approve' }, caller)).rejects.toMatchObject({ code: 'already_decided' })
  })
})

describe('a decision that comes too late', () => {
  /** The deadline passes, and no timer has noticed yet. */
  const passUnnoticed = () => clock.set(clock.nowMs() + HOUR_MS)

  for (const verdict of ['approve', 'decline'] as const) {
    test(`an expired action cannot be ${verdict}d late, also where nobody has noticed that its time is over`, async () => {
      const { sessionId, waiting } = await openSession('ship')
      const [id = ''] = waiting
      passUnnoticed()
      const refusal = await engine.gate.decide(id, { verdict }, caller).catch((error) => error)
      const [{ expiresAt }] = [refusal.extra.action]
      expect(refusal).toMatchObject({
        code: 'already_decided',
        message: `action ${id} expired at ${expiresAt}: nobody had decided by then`,
      })
      expect(refusal.extra.action).toMatchObject({ id, state: 'expired', votes: [] })
      await engine.idle()
      expect(statesIn(await logOf(sessionId))).toEqual(['expired'])
      expect(await toldIn(sessionId)).toEqual([TIMEOUT])
      expect(endingsIn(await logOf(sessionId))).toMatchObject([{ type: 'done' }])
      await pass(DAY_MS)
      await expect(engine.gate.decide(id, { verdict }, { principal: ben })).rejects.toMatchObject({ code: 'already_decided' })
      expect(statesIn(await logOf(sessionId))).toEqual(['expired'])
      expect(shipped).toBe(0)
    })
  }

  test('at the deadline itself is too late, a millisecond before it is not', async () => {
    const [inTime, late] = [await propose('ship'), await propose('ship')]
    clock.set(clock.nowMs() + HOUR_MS - 1)
    expect(await engine.gate.decide(inTime.id, { verdict: 'approve' }, caller)).toMatchObject({ state: 'approved' })
    clock.set(clock.nowMs() + 1)
    await expect(engine.gate.decide(late.id, { verdict: 'approve' }, caller)).rejects.toMatchObject({ code: 'already_decided' })
  })

  test('is answered the same when it is sent again under its key', async () => {
    const { id } = await propose('ship')
    passUnnoticed()
    const send = () =>
      engine.gate
        .decide(id, { verdict: 'approve' }, { ...caller, once: { scope: 's', key: 'k', requestHash: 'h' } })
        .catch((error) => error)
    const [first, second] = [await send(), await send()]
    expect(first).toMatchObject({ code: 'already_decided', extra: { action: { state: 'expired' } } })
    expect([second.code, second.message, second.extra]).toEqual([first.code, first.message, first.extra])
  })

  test('ends the run where a decline would', async () => {
    const { sessionId, waiting } = await openSession('ship bill', 'stop')
    passUnnoticed()
    await expect(engine.gate.decide(waiting[0] ?? '', { verdict: 'approve' }, caller)).rejects.toMatchObject({ code: 'already_decided' })
    await engine.idle()
    expect(statesIn(await logOf(sessionId))).toEqual(['expired', 'cancelled'])
    expect(endingsIn(await logOf(sessionId))).toMatchObject([{ type: 'error', data: { code: 'cancelled' } }])
  })

  for (const word of ['approve', 'no', 'approve all'] as const) {
    test(`typed as "${word}" decides nothing and says why`, async () => {
      const { sessionId } = await openSession('ship')
      passUnnoticed()
      expect(await engine.agentLoop.postMessage(sessionId, word, caller)).toMatchObject({ decided: [] })
      await engine.idle()
      const said = await logOf(sessionId)
      expect(statesIn(said)).toEqual(['expired'])
      const notes = said.flatMap(({ type, data }) => (type === 'message' && data.message.kind === 'note' ? [data.message.content] : []))
      expect(notes).toEqual([expect.stringMatching(/^Too late: "Call ship .*" expired at 2026-.*Z\. It was not carried out\.$/)])
      expect(shipped).toBe(0)
      // Nobody approved anything, so the next call goes to people again.
      await engine.agentLoop.postMessage(sessionId, 'bill', caller)
      await engine.idle()
      expect((await logOf(sessionId)).at(-1)).toMatchObject({ type: 'session_status', data: { status: 'waiting_approval' } })
    })
  }

  for (const verdict of ['approve', 'reject', 'approve_all'] as const) {
    test(`by the session (${verdict}) is refused with the action as it is, and grants nothing`, async () => {
      const { sessionId, waiting } = await openSession('ship')
      passUnnoticed()
      await expect(engine.agentLoop.approveInSession(sessionId, { verdict }, caller)).rejects.toMatchObject({
        code: 'already_decided',
        extra: { action: { id: waiting[0], state: 'expired' } },
      })
      await engine.idle()
      expect(await toldIn(sessionId)).toEqual([TIMEOUT])
      await engine.agentLoop.postMessage(sessionId, 'bill', caller)
      await engine.idle()
      expect((await logOf(sessionId)).at(-1)).toMatchObject({ type: 'session_status', data: { status: 'waiting_approval' } })
    })
  }

  test('as "approve all" approves what is in time and says what was not', async () => {
    const { sessionId, waiting } = await openSession('ship bill')
    passUnnoticed()
    const { decided = [] } = await engine.agentLoop.postMessage(sessionId, 'approve all', caller)
    expect(decided.map(({ id, state }) => [id, state])).toEqual([[waiting[1], 'approved']])
    await engine.idle()
    expect(await toldIn(sessionId)).toEqual([TIMEOUT, { shipped: 1 }])
  })

  test('as "approve all" where a decline stops the run says truly what became of the others', async () => {
    const { sessionId } = await openSession('bill ship', 'stop')
    passUnnoticed()
    const { decided = [] } = await engine.agentLoop.postMessage(sessionId, 'approve all', caller)
    expect(decided.map(({ state }) => state)).toEqual(['cancelled'])
    await engine.idle()
    expect(shipped).toBe(0)
  })

  test('a cancel that comes too late finds the action expired, not cancelled', async () => {
    const { sessionId } = await openSession('ship bill')
    passUnnoticed()
    await engine.agentLoop.cancelSession(sessionId, caller)
    expect(statesIn(await logOf(sessionId))).toEqual(['expired', 'cancelled'])
    expect(await toldIn(sessionId)).toEqual([TIMEOUT, { declined: true, reason: 'Cancelled by Ana' }])
  })
})

describe('a reminder', () => {
  test('an approval that waited five minutes is announced once, in its session and to the inbox', async () => {
    const { sessionId, waiting } = await openSession('bill')
    await pass(5 * MINUTE_MS - 1)
    expect(overdueIn(await logOf(sessionId))).toEqual([])
    await pass(1)
    expect(overdueIn(await logOf(sessionId))).toMatchObject([{ actionId: waiting[0], waitedMs: 5 * MINUTE_MS }])
    expect(live.filter(events.isForInbox).at(-1)?.event.type).toBe('approval_overdue')
    await pass(DAY_MS)
    await engine.close()
    await openDesk()
    expect(overdueIn(await logOf(sessionId))).toHaveLength(1)
    await engine.gate.decide(waiting[0] ?? '', { verdict: 'approve' }, caller)
    await engine.idle()
    expect(shipped).toBe(1)
  })

  test('makes the action overdue, from then on and through a restart, until it is decided', async () => {
    const { id } = await propose('bill')
    const { id: other } = await propose('bill')
    await pass(5 * MINUTE_MS - 1)
    expect(await read(id)).toMatchObject({ state: 'proposed', overdue: false })
    await pass(1)
    const { updatedAt } = overdueIn(saidOutside())[0] ?? {}
    expect(await read(id)).toMatchObject({ state: 'proposed', overdue: true, updatedAt })
    await engine.close()
    clock.pass(DAY_MS)
    await openDesk()
    expect(await read(id)).toMatchObject({ overdue: true })
    expect(await engine.gate.decide(id, { verdict: 'approve' }, caller)).toMatchObject({ overdue: false })
    expect(await engine.gate.decide(other, { verdict: 'decline' }, caller)).toMatchObject({ state: 'declined', overdue: false })
  })

  test('that fell due while no process ran makes the action overdue at the next start', async () => {
    const { id } = await propose('bill')
    await engine.close()
    clock.pass(HOUR_MS)
    await openDesk()
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
    await engine.gate.decide(first, { verdict: 'approve' }, caller)
    await engine.gate.decide(second, { verdict: 'decline' }, caller)
    await engine.agentLoop.cancelSession(sessionId, caller)
    await pass(DAY_MS)
    expect(overdueIn(await logOf(sessionId))).toEqual([])
    expect(clock.waits).toEqual([])
  })
})
