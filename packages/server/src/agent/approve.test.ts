import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Action, DEFAULT_POLICY, type Principal, ToolError } from '@countersign/core'
import { defineTool } from '@countersign/toolkit'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { agentsOnDecline } from '../../../../verification/testing/agents-on-decline.ts'
import { type ShiftedClock, shiftedClock } from '../../../../verification/testing/shifted-clock.ts'
import { raw } from '../../../../verification/testing/temp-store.ts'
import { openTools } from '../../../toolkit/src/open-tools.ts'
import { type Engine, openEngine } from '../engine.ts'
import { viewMessage } from '../gate/read/view.ts'
import { createLog } from '../log.ts'
import { scriptedModel } from '../models/index.ts'
import { actions, messages, type StoredEvent, sessions } from '../store/index.ts'

const ana: Principal = { id: 'prn_ana', kind: 'person', name: 'Ana', roles: ['approver'] }
const caller = { principal: ana }

let folder: string
let engine: Engine
let clock: ShiftedClock
let price: number

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'countersign-approve-'))
  const ship = defineTool({
    name: 'ship',
    description: 'Ships an order.',
    effect: 'write',
    input: { type: 'object' },
    execute: () => 'shipped',
  })
  price = 1
  const relabel = defineTool({
    name: 'relabel',
    description: 'Relabels an order.',
    effect: 'write',
    input: { type: 'object' },
    preview: () => [{ field: 'price', oldValue: price }],
    execute: () => {
      throw new ToolError('refused', 'Closed.')
    },
  })
  const tools = openTools({ shop: { prefix: false, tools: [ship, relabel] } })
  // Ships as many orders as the last message has letters, then is done. Relabels one on request.
  const model = scriptedModel({
    id: 'scripted/shop',
    reply: ({ messages: history }) => {
      const last = history.at(-1)
      if (last?.role === 'user' && last.content === 'relabel') return { text: '', calls: [{ tool: 'relabel', arguments: {} }] }
      const isNote = last?.role === 'user' && last.content.startsWith('[A note')
      const orders = last?.role === 'user' && !isNote ? last.content.length : 0
      return {
        text: orders === 0 ? 'Done.' : '',
        calls: Array.from({ length: orders }, (_, order) => ({ tool: 'ship', arguments: { order } })),
      }
    },
  })
  clock = shiftedClock()
  engine = await openEngine({
    clock,
    database: { kind: 'sqlite', dataDir: folder },
    agents: agentsOnDecline(model, tools.all()),
    tools,
    policy: DEFAULT_POLICY,
    log: createLog('silent'),
  })
  await engine.savePrincipal(ana)
})

afterEach(async () => {
  await engine.close()
  await rm(folder, { recursive: true })
})

interface Open {
  sessionId: string
  live: StoredEvent[]
  waiting: Action[]
}

/** A session that waits for a decision about each letter of `message`. */
async function openSession(agent: 'continue' | 'stop', message: string): Promise<Open> {
  const { id: sessionId } = await engine.agentLoop.createSession({ agent }, caller)
  const live: StoredEvent[] = []
  await engine.hub.onSession(sessionId, (event) => live.push(event))
  await engine.agentLoop.postMessage(sessionId, message, caller)
  await engine.idle()
  const waiting = live.flatMap(({ event }) => (event.type === 'action_proposed' ? [event.data.proposal] : []))
  engine.announcements.note(ana, waiting)
  clock.pass(1_000)
  return { sessionId, live, waiting }
}

async function namesOf(id: string) {
  const row = await engine.store.read(() => actions.findAction.first({ id }))
  return { revision: row?.revision ?? 0, digest: row?.digest ?? '' }
}

/** The deadline of a waiting action passes, and a decision comes too late. */
async function expire(actionId: string): Promise<void> {
  await engine.store.transact(() => raw(sql`update action set expires_at = ${clock.nowMs() - 1} where id = ${actionId}`))
  await expect(engine.gate.decide(actionId, { verdict: 'decline', ...(await namesOf(actionId)) }, caller)).rejects.toMatchObject({
    code: 'already_decided',
  })
}

const only = (list: readonly Action[]): Action => {
  const [action, ...others] = list
  if (!action || others.length > 0) throw new Error(`there are ${list.length} actions, not one`)
  return action
}
const endings = ({ live }: Open) => live.flatMap(({ event }) => (event.type === 'done' || event.type === 'error' ? [event] : []))
const rolesIn = async ({ sessionId }: Open) => {
  const rows = await engine.store.read(() =>
    messages.listMessages.all({ session_id: sessionId, before: Number.MAX_SAFE_INTEGER, limit: 100 }),
  )
  return rows.reverse().map((row) => viewMessage(row).role)
}

for (const verb of ['approve', 'reject'] as const) {
  test(`"${verb} <id>" with an action of another session decides nothing, and both sessions go on`, async () => {
    const here = await openSession('continue', 'a')
    const there = await openSession('continue', 'b')
    const other = only(there.waiting)
    const before = there.live.length
    expect(await engine.agentLoop.postMessage(here.sessionId, `${verb} ${other.id}`, caller)).toMatchObject({ decided: [] })
    const decision = engine.agentLoop.approveInSession(here.sessionId, { verdict: verb, actionId: other.id }, caller)
    await expect(decision).rejects.toMatchObject({ code: 'not_found' })
    await engine.idle()
    expect(there.live).toHaveLength(before)
    for (const session of [here, there]) {
      await engine.gate.decide(only(session.waiting).id, { verdict: 'approve' }, caller)
      await engine.idle()
      expect(endings(session)).toMatchObject([{ type: 'done' }])
      expect((await rolesIn(session)).filter((role) => role === 'tool')).toHaveLength(1)
    }
  })
}

for (const how of ['the action', 'the session', 'a typed word'] as const) {
  test(`a decline by ${how} that stops the run withdraws the rest, ends the run’s stream and calls no model again`, async () => {
    const session = await openSession('stop', 'ab')
    const [first, second] = session.waiting
    if (!first || !second) throw new Error('two actions wait')
    if (how === 'the action') await engine.gate.decide(first.id, { verdict: 'decline' }, caller)
    else if (how === 'the session')
      await engine.agentLoop.approveInSession(session.sessionId, { verdict: 'reject', actionId: first.id }, caller)
    else await engine.agentLoop.postMessage(session.sessionId, `reject ${first.id}`, caller)
    await engine.idle()
    expect(endings(session)).toMatchObject([{ type: 'error', data: { code: 'cancelled', runId: first.runId } }])
    const states = session.live.flatMap(({ event }) => (event.type === 'action_update' ? [[event.data.proposalId, event.data.state]] : []))
    expect(states).toEqual([
      [first.id, 'declined'],
      [second.id, 'cancelled'],
    ])
    expect((await rolesIn(session)).filter((role) => role === 'tool')).toHaveLength(2)
    expect((await rolesIn(session)).at(-1)).not.toBe('assistant')
  })
}

test('repeating one’s own decline of an earlier run changes nothing in the run under way', async () => {
  const session = await openSession('stop', 'a')
  const earlier = only(session.waiting)
  await engine.gate.decide(earlier.id, { verdict: 'decline' }, caller)
  await engine.idle()
  await engine.agentLoop.postMessage(session.sessionId, 'b', caller)
  await engine.idle()
  await engine.agentLoop.postMessage(session.sessionId, 'queued', caller)
  await engine.agentLoop.approveInSession(session.sessionId, { verdict: 'reject', actionId: earlier.id }, caller)
  await engine.agentLoop.postMessage(session.sessionId, `reject ${earlier.id}`, caller)
  await engine.idle()
  expect(endings(session)).toHaveLength(1)
  const waiting = session.live.findLast(({ event }) => event.type === 'session_status')
  expect(waiting?.event.data).toMatchObject({ status: 'waiting_approval', pendingApprovals: [expect.not.stringMatching(earlier.id)] })
})

for (const how of ['a decision', 'its session', 'a typed word', 'its deadline'] as const) {
  test(`an action of an earlier run that ends by ${how} withdraws nothing of the run under way, and does not stop it`, async () => {
    const { sessionId, live, waiting } = await openSession('stop', 'relabel')
    const { id } = only(waiting)
    await engine.gate.decide(id, { verdict: 'approve' }, caller)
    await engine.idle()
    await engine.agentLoop.postMessage(sessionId, 'b', caller)
    await engine.idle()
    price++
    await expect(engine.gate.retry(id, caller)).rejects.toMatchObject({ code: 'stale_preview' })
    const read = (actionId: string) => engine.store.read(() => actions.findAction.first({ id: actionId }))
    const names = await namesOf(id)
    engine.announcements.note(ana, [{ id, state: 'proposed', revision: names.revision }])
    clock.pass(1_000)
    if (how === 'a decision') await engine.gate.decide(id, { verdict: 'decline', ...names }, caller)
    else if (how === 'its session') await engine.agentLoop.approveInSession(sessionId, { verdict: 'reject', actionId: id }, caller)
    else if (how === 'a typed word') await engine.agentLoop.postMessage(sessionId, `reject ${id}`, caller)
    else await expire(id)
    await engine.idle()
    expect((await read(id))?.state).toBe(how === 'its deadline' ? 'expired' : 'declined')
    const [ship] = live.flatMap(({ event }) =>
      event.type === 'action_proposed' && event.data.proposal.tool === 'ship' ? [event.data.proposal] : [],
    )
    expect((await read(ship?.id ?? ''))?.state).toBe('proposed')
    await engine.gate.decide(ship?.id ?? '', { verdict: 'approve' }, caller)
    await engine.idle()
    expect((await read(ship?.id ?? ''))?.state).toBe('succeeded')
    expect(endings({ sessionId, live, waiting }).map(({ type }) => type)).not.toContain('error')
  })
}

test('a cancel after the run has ended cancels what went back for approval, and nothing that waited behind it begins', async () => {
  const { sessionId, live, waiting } = await openSession('continue', 'relabel')
  const { id } = only(waiting)
  await engine.gate.decide(id, { verdict: 'approve' }, caller)
  await engine.idle()
  price++
  await expect(engine.gate.retry(id, caller)).rejects.toMatchObject({ code: 'stale_preview' })
  expect(await engine.agentLoop.postMessage(sessionId, 'b', caller)).toMatchObject({ queued: true })
  expect(await engine.agentLoop.cancelSession(sessionId, caller)).toMatchObject({ status: 'completed', pendingApprovals: [] })
  await engine.idle()
  expect((await engine.store.read(() => actions.findAction.first({ id })))?.state).toBe('cancelled')
  expect(live.filter(({ event }) => event.type === 'action_proposed')).toHaveLength(1)
  expect(await engine.store.read(() => sessions.sessionsWithWork())).toEqual([])
})

test('a cancel that arrives when its run is over does not stop the run that a message begins at the same time', async () => {
  for (let round = 0; round < 10; round++) {
    const session = await openSession('continue', '')
    await Promise.all([
      engine.agentLoop.cancelSession(session.sessionId, caller),
      engine.agentLoop.postMessage(session.sessionId, 'a', caller),
    ])
    await engine.idle()
    expect(session.live.at(-1)?.event).toMatchObject({ type: 'session_status', data: { status: 'waiting_approval' } })
  }
})

test('the actions of one step stay in the order of its calls, also where lists go by id', async () => {
  for (let round = 0; round < 5; round++) {
    const { waiting } = await openSession('continue', 'abcdefgh')
    expect(waiting.map((action) => action.arguments.order)).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
    expect(waiting.map(({ id }) => id)).toEqual(waiting.map(({ id }) => id).sort())
  }
})

test('a message that comes right after a stop does not slip into the run of a request that is next', async () => {
  const { agentLoop, gate, store } = engine
  const { id: sessionId } = await agentLoop.createSession({ agent: 'stop' }, caller)
  await agentLoop.postMessage(sessionId, 'a', caller)
  await engine.idle()
  const { requestId } = await agentLoop.createRequest({ message: '', sessionId }, caller)
  await agentLoop.callRequest(requestId, caller)
  const [waiting] = (await store.read(() => actions.openActions.all({ session_id: sessionId }))).map(({ id }) => id)
  // Both in one commit, with nothing of the server's in between.
  const [, posted] = await Promise.all([
    gate.decide(waiting ?? '', { verdict: 'decline' }, caller),
    agentLoop.postMessage(sessionId, '', caller),
  ])
  expect(posted).toMatchObject({ queued: true })
  await engine.idle()
  const said = await store.read(() => messages.listMessages.all({ session_id: sessionId, before: 1_000, limit: 100 }))
  const runs = said.filter(({ role }) => role === 'user').map(({ id, run_id }) => [id === posted.messageId, run_id === requestId])
  expect(runs).toEqual([
    [true, false],
    [false, true],
    [false, false],
  ])
})
