import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { NewEvent, PolicyDocument, Principal } from '@countersign/core'
import { defineTool } from '@countersign/toolkit'
import { expect, test } from 'vitest'
import { manualClock } from '../../../../../verification/testing/manual-clock.ts'
import { openTools } from '../../../../toolkit/src/open-tools.ts'
import { openEngine } from '../../engine.ts'
import { createLog } from '../../log.ts'
import { scriptedModel } from '../../models/index.ts'
import { actions, events, messages } from '../../store/index.ts'

const MINUTE_MS = 60_000
const ana: Principal = { id: 'prn_ana', kind: 'person', name: 'Ana', roles: ['approver'] }
const fay: Principal = { id: 'prn_fay', kind: 'person', name: 'Fay', roles: ['finance'] }
const lea: Principal = { id: 'prn_lea', kind: 'person', name: 'Lea', roles: ['leads'] }

const rule = (more: object): PolicyDocument => ({
  default: 'deny',
  rules: [{ name: 'pay', match: { tool: 'pay' }, verdict: 'ask', requires: { roles: ['finance'] }, ...more }],
})

/** A session that waits for finance, and time to pass. */
async function open(policy: PolicyDocument) {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-escalate-'))
  const clock = manualClock()
  const pay = defineTool({ name: 'pay', description: 'Pay', effect: 'write', input: { type: 'object' }, execute: () => null })
  const tools = openTools({ shop: { prefix: false, tools: [pay] } })
  const model = scriptedModel({
    id: 'scripted/pay',
    reply: ({ messages: all }) => (all.at(-1)?.role === 'user' ? { text: '', calls: [{ tool: 'pay', arguments: {} }] } : { text: 'Done.' }),
  })
  const agent = {
    name: 'desk',
    model,
    instructions: '',
    tools: tools.all(),
    maxSteps: 9,
    actionsPerStep: 'many' as const,
    onDecline: 'continue' as const,
    suggestions: [],
  }
  const engine = await openEngine({
    database: { kind: 'sqlite', dataDir: folder },
    agents: [agent],
    tools,
    policy,
    log: createLog('silent'),
    clock,
  })
  for (const principal of [ana, fay, lea]) await engine.savePrincipal(principal)
  const { id: sessionId } = await engine.agentLoop.createSession({ agent: 'desk' }, { principal: ana })
  await engine.agentLoop.postMessage(sessionId, 'go', { principal: ana })
  await engine.idle()
  const said = (): Promise<NewEvent[]> =>
    engine.store.read(function* () {
      const rows = yield* events.sessionRowsAfter.all({ session_id: sessionId, after: 0, limit: 10_000 })
      return rows.flatMap(events.readEvents).map(({ event }) => event)
    })
  const proposed = (await said()).find((event) => event.type === 'action_proposed')
  if (proposed?.type !== 'action_proposed') throw new Error('something waits')
  const { proposal } = proposed.data
  return {
    engine,
    proposal,
    said,
    row: async () => (await engine.store.read(() => actions.findAction.first({ id: proposal.id }))) ?? expect.fail('it is there'),
    notes: () =>
      engine.store.read(function* () {
        const all = yield* messages.listMessages.all({ session_id: sessionId, before: Number.MAX_SAFE_INTEGER, limit: 100 })
        return all.filter(({ kind }) => kind === 'note').map(({ content }) => content)
      }),
    async pass(ms: number) {
      const end = clock.nowMs() + ms
      while (clock.nowMs() < end) {
        clock.pass(Math.min(clock.waits[0] ?? ms, end - clock.nowMs()))
        await engine.idle()
      }
    },
    async [Symbol.asyncDispose]() {
      await engine.close()
      await rm(folder, { recursive: true })
    },
  }
}

test('after its time others are asked too, once, and everybody is told; the reminder and the expiry come at theirs', async () => {
  await using desk = await open(rule({ expires: 'PT1H', remind: 'PT20M', escalate: { after: 'PT10M', roles: ['leads'] } }))
  const { proposal } = desk
  const at = new Date(Date.parse(proposal.createdAt) + 10 * MINUTE_MS).toISOString()
  expect(proposal.requires).toMatchObject({ roles: ['finance'], escalation: { at, roles: ['leads'], isDone: false } })
  await desk.pass(9 * MINUTE_MS)
  await expect(desk.engine.gate.decide(proposal.id, { verdict: 'approve' }, { principal: lea })).rejects.toMatchObject({
    code: 'not_found',
  })
  await desk.pass(1 * MINUTE_MS)
  const updates = (await desk.said()).flatMap((event) => (event.type === 'action_update' ? [event.data] : []))
  expect(updates).toMatchObject([
    { proposalId: proposal.id, state: 'proposed', requires: { roles: ['finance', 'leads'], escalation: { isDone: true } } },
  ])
  expect(await desk.notes()).toEqual([expect.stringContaining('the role leads may decide, too')])
  await desk.pass(10 * MINUTE_MS)
  expect((await desk.said()).filter(({ type }) => type === 'approval_overdue')).toHaveLength(1)
  expect((await desk.said()).filter(({ type }) => type === 'action_update')).toHaveLength(1)
  expect((await desk.engine.gate.decide(proposal.id, { verdict: 'approve' }, { principal: lea })).state).toBe('approved')
})

test('who was asked first may decide as before, and unanswered by anybody it expires', async () => {
  await using desk = await open(rule({ expires: 'PT1H', escalate: { after: 'PT30M', roles: ['leads'] } }))
  await desk.pass(31 * MINUTE_MS)
  expect(JSON.parse((await desk.row()).requires).roles).toEqual(['finance', 'leads'])
  await desk.pass(29 * MINUTE_MS)
  expect((await desk.row()).state).toBe('expired')
})

test('what is decided before its time is not escalated, and an escalation at the deadline or later never comes', async () => {
  await using decided = await open(rule({ escalate: { after: 'PT10M', roles: ['leads'] } }))
  await decided.engine.gate.decide(decided.proposal.id, { verdict: 'decline' }, { principal: fay })
  await decided.pass(30 * MINUTE_MS)
  expect(JSON.parse((await decided.row()).requires).roles).toEqual(['finance'])
  await using late = await open(rule({ expires: 'PT10M', escalate: { after: 'PT10M', roles: ['leads'] } }))
  expect(late.proposal.requires.escalation).toBeUndefined()
  await late.pass(10 * MINUTE_MS)
  expect((await late.row()).state).toBe('expired')
})

test('who was asked as well is asked about another revision, too', async () => {
  await using desk = await open(rule({ requires: { roles: ['finance'], quorum: 2 }, escalate: { after: 'PT10M', roles: ['leads'] } }))
  await desk.pass(10 * MINUTE_MS)
  const { id } = desk.proposal
  const edit = { verdict: 'approve', arguments: { other: true } } as const
  expect(await desk.engine.gate.decide(id, edit, { principal: fay })).toMatchObject({ state: 'proposed', revision: 2 })
  await desk.pass(1_000)
  const { revision, digest } = await desk.row()
  expect(await desk.engine.gate.decide(id, { verdict: 'approve', revision, digest }, { principal: lea })).toMatchObject({
    state: 'approved',
    revision: 2,
  })
})

test('who was asked as well decides alone, also where an edit has joined the requirements of two rules', async () => {
  const escalate = { after: 'PT10M', roles: ['leads'] }
  const pay = { verdict: 'ask' as const, escalate }
  await using desk = await open({
    default: 'deny',
    rules: [
      { ...pay, name: 'large', match: { tool: 'pay', when: '!has(args.small)' }, requires: { roles: ['finance'] } },
      { ...pay, name: 'small', match: { tool: 'pay' }, requires: { roles: ['approver'] } },
    ],
  })
  const { gate } = desk.engine
  const { id } = desk.proposal
  const edited = await gate.decide(id, { verdict: 'approve', arguments: { small: true } }, { principal: fay })
  expect(edited).toMatchObject({ state: 'proposed', requires: { roles: ['approver'], alsoRoles: [['finance']] } })
  const vote = { verdict: 'approve', revision: edited.revision, digest: edited.digest } as const
  await expect(gate.decide(id, vote, { principal: ana }), 'one of both does not do').rejects.toMatchObject({ code: 'forbidden' })
  await desk.pass(10 * MINUTE_MS)
  expect(await desk.notes()).toEqual([expect.stringContaining('the role leads may decide, too')])
  await expect(gate.decide(id, vote, { principal: ana }), 'and does not do later').rejects.toMatchObject({ code: 'forbidden' })
  expect((await gate.decide(id, vote, { principal: lea })).state).toBe('approved')
  await desk.engine.idle()
  expect(await desk.row(), 'and starts').toMatchObject({ state: 'succeeded', revision: 2 })
})
