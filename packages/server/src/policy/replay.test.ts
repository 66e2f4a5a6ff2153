import { PolicyDocument, type Principal, type Verdict } from '@countersign/core'
import { defineTool } from '@countersign/toolkit'
import { openTools } from '@countersign/toolkit/internal'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { openBareGate } from '../../../../verification/testing/bare-gate.ts'
import { openTempSqlite } from '../../../../verification/testing/temp-store.ts'
import { withTurns } from '../../../../verification/testing/with-turns.ts'
import { type ActionRow, actions, principals, sessions, type Tx } from '../store/index.ts'
import { anAction } from '../store/testing/an-action.ts'
import { compilePolicy } from './compile.ts'
import { EARLIER_DENIAL } from './earlier-denial.ts'
import { type ReplayOptions, replayActions } from './replay.ts'

const NOW = Date.parse('2026-11-26T12:00:00Z')
const tools = openTools({
  bank: {
    prefix: true,
    tools: [
      defineTool({ name: 'pay', description: 'Pays', input: z.object({ amount: z.number() }), effect: 'write', execute: async () => null }),
    ],
  },
})

/** An action of `bank.pay` that the policy of then asked about; each is proposed a minute before the one after it. */
interface Proposed extends Partial<ActionRow> {
  amount?: number
  was?: Verdict
}

async function openReplay(proposed: Proposed[]) {
  const temp = await openTempSqlite()
  const ids = proposed.map((_, at) => actions.lowestIdAt(NOW + at * 60_000))
  await temp.store.transact(function* () {
    for (const [id, roles] of [
      ['prn_ana', ['approver']],
      ['prn_trainee', ['trainee']],
    ] as const)
      yield* principals.savePrincipal({ id, kind: 'person', name: id.slice(4), roles: [...roles] }, 1)
    for (const [id, title] of [
      ['ses_1', 'refunds'],
      ['ses_2', 'other'],
    ] as const)
      yield* sessions.insertSession.run({ id, agent: 'desk', title, owner_id: 'prn_ana', now: 1 })
    for (const [at, { amount = 1, was = 'ask', ...more }] of proposed.entries()) {
      const row = { tool: 'bank.pay', arguments: JSON.stringify({ amount }), policy: JSON.stringify({ verdict: was, rule: 'then' }) }
      yield* actions.insertAction.run(anAction(ids[at] ?? '', { ...row, created_at: NOW + at * 60_000, ...more }))
    }
  })
  const replay = (rules: { name: string; when: string; verdict: Verdict }[], more: Partial<ReplayOptions> = {}) => {
    const document = { default: 'ask', rules: rules.map(({ name, when, verdict }) => ({ name, match: { when }, verdict })) }
    const policy = compilePolicy(PolicyDocument.parse(document), 2)
    return replayActions({ store: temp.store, tools, policy, reader: undefined, sinceMs: NOW, limit: 10_000, elapsedMs: () => 0, ...more })
  }
  return { ids, replay, store: temp.store, [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose]() }
}

const SMALL = { name: 'small', when: 'args.amount < 10.0', verdict: 'allow' } as const
const LARGE = { name: 'large', when: 'args.amount > 100.0', verdict: 'deny' } as const

test('each call is held against the verdict of then; the changes that are most come first, each with its five newest calls', async () => {
  await using it = await openReplay([
    { amount: 50 },
    { amount: 500, was: 'allow' },
    ...Array.from({ length: 7 }, () => ({ amount: 5 })),
    { amount: 500, was: 'allow' },
    { amount: 500, was: 'deny' },
    { amount: 50, was: 'deny' },
  ])
  expect(await it.replay([SMALL, LARGE])).toEqual({
    evaluated: 12,
    skipped: 0,
    truncated: false,
    was: { allow: 2, ask: 8, deny: 2 },
    wouldBe: { allow: 7, ask: 2, deny: 3 },
    changes: [
      { was: 'ask', wouldBe: 'allow', count: 7, actionIds: [8, 7, 6, 5, 4].map((at) => it.ids[at]) },
      { was: 'allow', wouldBe: 'deny', count: 2, actionIds: [it.ids[9], it.ids[1]] },
      { was: 'deny', wouldBe: 'ask', count: 1, actionIds: [it.ids[11]] },
    ],
  })
})

test('a call that a grant let run counts as one that the policy asked about', async () => {
  await using it = await openReplay([])
  const ship = defineTool({ name: 'ship', description: 'Ships', effect: 'write', input: { type: 'object' }, execute: () => null })
  const gate = openBareGate(it.store, [ship], 'prc_1')
  const ana: Principal = { id: 'prn_ana', kind: 'person', name: 'ana', roles: ['approver'] }
  const propose = () => gate.propose({ tool: 'own.ship', arguments: {} }, { principal: ana })
  await gate.createGrant({ actionId: (await propose()).id, scope: 'agent', expiresIn: 'P1D', exact: true }, { principal: ana })
  expect(await propose()).toMatchObject({ state: 'approved', policy: { verdict: 'allow' } })
  // The policy that was in force then, which changes nothing.
  expect(await it.replay([], { sinceMs: 0, tools: openTools({ own: { prefix: true, tools: [ship] } }) })).toMatchObject({
    was: { allow: 0, ask: 2, deny: 0 },
    wouldBe: { allow: 0, ask: 2, deny: 0 },
    changes: [],
  })
})

test('a call that was declined because people had declined it before counts as one that the policy asked about', async () => {
  const policy = JSON.stringify({ verdict: 'deny', rule: EARLIER_DENIAL })
  await using it = await openReplay([{ policy, state: 'declined' }, { was: 'deny' }])
  expect(await it.replay([])).toMatchObject({ was: { allow: 0, ask: 1, deny: 1 }, changes: [{ was: 'deny', wouldBe: 'ask', count: 1 }] })
})

test('a call is evaluated with its session, its time, its agent and everybody who asked for it', async () => {
  await using it = await openReplay([
    { session_id: 'ses_1', agent: 'desk' },
    { session_id: 'ses_2', agent: 'desk' },
    { agent: 'ci', agent_verified: 1 },
    { agent: 'ci', agent_verified: 0 },
    { requesters: JSON.stringify(['prn_ana', 'prn_trainee']) },
    { requested_by: 'prn_trainee' },
    { session_id: 'ses_1', agent: 'desk' },
  ])
  const denied = async (when: string) => {
    const { wouldBe, changes } = await it.replay([{ name: 'no', when, verdict: 'deny' }])
    expect(wouldBe.deny).toBe(changes[0]?.count ?? 0)
    return changes[0]?.actionIds.map((id) => it.ids.indexOf(id)).sort() ?? []
  }
  expect(await denied('session != null && session.title == "refunds"')).toEqual([0, 6])
  expect(await denied('session == null')).toEqual([2, 3, 4, 5])
  expect(await denied('"trainee" in requester.roles')).toEqual([4, 5])
  expect(await denied('agent.name == "ci"')).toEqual([2, 3])
  expect(await denied('now == timestamp("2026-11-26T12:03:00Z")')).toEqual([3])
  // A name that is only claimed denies, and allows nothing.
  const allowed = await it.replay([{ name: 'ci', when: 'agent.name == "ci"', verdict: 'allow' }])
  expect(allowed.changes).toEqual([{ was: 'ask', wouldBe: 'allow', count: 1, actionIds: [it.ids[2]] }])
})

test('nothing can be said of the calls of tools that are gone, and earlier calls are left out', async () => {
  await using it = await openReplay([{ amount: 5 }, { tool: 'bank.gone' }, { amount: 5 }, { tool: 'bank.gone' }, { amount: 5 }])
  expect(await it.replay([SMALL], { sinceMs: NOW + 60_000 })).toMatchObject({
    evaluated: 2,
    skipped: 2,
    truncated: false,
    changes: [{ count: 2, actionIds: [it.ids[4], it.ids[2]] }],
  })
  expect(await it.replay([SMALL], { sinceMs: NOW + 300_000 })).toMatchObject({ evaluated: 0, skipped: 0, truncated: false, changes: [] })
})

test('a redacted call has no arguments to evaluate: it is left out and counted, and changes nothing', async () => {
  const redacted = { redacted_at: NOW, arguments: '{}', was: 'allow' } as const
  await using it = await openReplay([{ amount: 5, was: 'allow' }, redacted, { amount: 500, was: 'deny' }, redacted, { tool: 'bank.gone' }])
  expect(await it.replay([SMALL, LARGE])).toEqual({
    evaluated: 2,
    skipped: 3,
    truncated: false,
    was: { allow: 1, ask: 0, deny: 1 },
    wouldBe: { allow: 1, ask: 0, deny: 1 },
    changes: [],
  })
})

test('many calls are read in pages of 500, the newest first, up to the limit: the answer says whether there were more', async () => {
  await using it = await openReplay([
    ...Array.from({ length: 10 }, () => ({ amount: 500 })),
    ...Array.from({ length: 1_000 }, () => ({ amount: 5 })),
  ])
  const counts = async (limit: number, more: Partial<ReplayOptions> = {}) => {
    const { wouldBe, truncated } = await it.replay([SMALL, LARGE], { limit, ...more })
    return [wouldBe.allow, wouldBe.deny, truncated]
  }
  expect(await counts(10_000)).toEqual([1_000, 10, false])
  expect(await counts(1_010)).toEqual([1_000, 10, false])
  expect(await counts(1_009)).toEqual([1_000, 9, true])
  expect(await counts(3)).toEqual([3, 0, true])
  const elapsed = (...times: number[]) => ({ elapsedMs: () => times.shift() ?? 8_000 })
  expect(await counts(10_000, elapsed(0, 7_999))).toEqual([1_000, 0, true])
  expect(await counts(10_000, elapsed(0))).toEqual([500, 0, true])
  expect(await counts(10_000, elapsed(8_000))).toEqual([0, 0, true])
})

test('a replay lets other work have its turn after each hundred calls', async () => {
  await using it = await openReplay(Array.from({ length: 1_200 }, () => ({ amount: 5 })))
  const { result, turns } = await withTurns(() => it.replay([SMALL]))
  expect(result.evaluated).toBe(1_200)
  expect(turns).toBeGreaterThanOrEqual(11)
})

test('whoever asked for many calls, and a session with many, is read once', async () => {
  const many = Array.from({ length: 20 }, () => ({ session_id: 'ses_1', agent: 'desk' }))
  await using it = await openReplay([...many, {}, { requested_by: 'prn_trainee' }])
  let questions = 0
  const counting = <T>(work: () => Tx<T>) =>
    function* (): Tx<T> {
      const asked = work()
      for (let step = asked.next(); ; step = asked.next(yield step.value)) {
        if (step.done) return step.value
        questions++
      }
    }
  const store: ReplayOptions['store'] = { ...it.store, read: (work) => it.store.read(counting(work)) }
  expect(await it.replay([SMALL], { store })).toMatchObject({ evaluated: 22 })
  // The page, two people, a session, and whether there is more.
  expect(questions).toBe(5)
})
