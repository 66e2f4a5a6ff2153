import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Action, isCountersignError, type PolicyDocument, type Principal } from '@countersign/core'
import { defineTool } from '@countersign/toolkit'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { manualClock } from '../../../../../verification/testing/manual-clock.ts'
import { openTools } from '../../../../toolkit/src/open-tools.ts'
import { type Engine, openEngine } from '../../engine.ts'
import { createLog } from '../../log.ts'
import { scriptedModel } from '../../models/index.ts'
import type { StoredEvent } from '../../store/index.ts'

const PEOPLE: [Principal, Principal] = [
  { id: 'prn_ana', kind: 'person', name: 'Ana', roles: ['approver'] },
  { id: 'prn_ben', kind: 'person', name: 'Ben', roles: ['approver'] },
]
const POLICY: PolicyDocument = { default: 'ask', rules: [{ name: 'quick', match: {}, verdict: 'ask', expires: 'PT1M' }] }
const DEADLINE_MS = 60_000

/**
 * An operation and how long before the deadline it begins (negative: after it). Operations of one millisecond begin in one turn of the
 * event loop.
 */
interface Op {
  by: 0 | 1
  do: 'approve' | 'decline' | 'approve_in_session' | 'reject_in_session' | 'cancel'
  leftMs: number
}
interface Plan {
  ops: Op[]
  /** For each millisecond around the deadline: whether time passes, or is set, so that no timer notices. */
  steps: boolean[]
}

const AROUND_MS = 3
const STEPS = 2 * AROUND_MS + 1
const plan: fc.Arbitrary<Plan> = fc.record({
  ops: fc.array(
    fc.record({
      by: fc.constantFrom(0 as const, 1 as const),
      do: fc.constantFrom(
        'approve' as const,
        'approve' as const,
        'decline' as const,
        'approve_in_session' as const,
        'reject_in_session' as const,
        'cancel' as const,
      ),
      leftMs: fc.integer({ min: -AROUND_MS, max: AROUND_MS }),
    }),
    { maxLength: 6 },
  ),
  steps: fc.oneof(fc.array(fc.boolean(), { minLength: STEPS, maxLength: STEPS }), fc.constant(Array.from({ length: STEPS }, () => false))),
})

let folder: string
let engine: Engine
const clock = manualClock()
const executed = new Map<string, number>()
const seen = { approved: 0, declined: 0, cancelled: 0, 'expired by the timer': 0, 'expired by a late answer': 0, 'told that it expired': 0 }

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'countersign-expire-races-'))
  const act = defineTool({
    name: 'act',
    description: 'Acts.',
    effect: 'write',
    input: { type: 'object' },
    execute: (_args, { actionId }) => {
      executed.set(actionId, (executed.get(actionId) ?? 0) + 1)
      return 'done'
    },
  })
  const tools = openTools({ desk: { prefix: false, tools: [act] } })
  const model = scriptedModel({
    id: 'scripted/desk',
    reply: ({ messages }) => ({ text: '', calls: messages.at(-1)?.role === 'user' ? [{ tool: 'act', arguments: {} }] : [] }),
  })
  const agent = { name: 'desk', model, instructions: '', tools: tools.all(), maxSteps: 20, suggestions: [] }
  const agents = [{ ...agent, actionsPerStep: 'many' as const, onDecline: 'continue' as const }]
  engine = await openEngine({
    database: { kind: 'sqlite', dataDir: folder },
    agents,
    tools,
    policy: POLICY,
    log: createLog('silent'),
    clock,
  })
  for (const principal of PEOPLE) await engine.savePrincipal(principal)
})

afterAll(async () => {
  await engine.close()
  await rm(folder, { recursive: true })
})

/** Does it, and answers what the person was told: the action, or the refusal; nothing for a cancel. */
async function perform(op: Op, sessionId: string, actionId: string): Promise<{ op: Op; won?: Action; lostTo?: Action; told?: string }> {
  const caller = { principal: PEOPLE[op.by] }
  try {
    if (op.do === 'cancel') {
      await engine.agentLoop.cancelSession(sessionId, caller)
    } else if (op.do === 'approve' || op.do === 'decline') {
      return { op, won: await engine.gate.decide(actionId, { verdict: op.do }, caller) }
    } else {
      const verdict = op.do === 'approve_in_session' ? 'approve' : 'reject'
      await engine.agentLoop.approveInSession(sessionId, { verdict, actionId }, caller)
    }
    return { op }
  } catch (error) {
    if (!isCountersignError(error) || error.code !== 'already_decided') throw error
    return { op, lostTo: error.extra.action as Action, told: error.message }
  }
}

const ENDS = {
  approve: 'approved',
  approve_in_session: 'approved',
  decline: 'declined',
  reject_in_session: 'declined',
  cancel: 'cancelled',
} as const

test('a decision and an expiry at the same moment: exactly one wins and the loser is told', async () => {
  await fc.assert(
    fc.asyncProperty(plan, async ({ ops, steps }) => {
      const live: StoredEvent[] = []
      const { id: sessionId } = await engine.agentLoop.createSession({}, { principal: PEOPLE[0] })
      const stop = await engine.hub.onSession(sessionId, (event) => live.push(event))
      await engine.agentLoop.postMessage(sessionId, 'go', { principal: PEOPLE[0] })
      await engine.idle()
      const proposal = live.flatMap(({ event }) => (event.type === 'action_proposed' ? [event.data.proposal] : []))[0]
      if (!proposal) throw new Error('nothing was asked')

      clock.set(clock.nowMs() + DEADLINE_MS - AROUND_MS - 1)
      const answers: ReturnType<typeof perform>[] = []
      let isNoticed = false
      for (const [index, passes] of steps.entries()) {
        if (passes) clock.pass(1)
        else clock.set(clock.nowMs() + 1)
        const leftMs = AROUND_MS - index
        isNoticed ||= passes && leftMs <= 0
        answers.push(...ops.filter((op) => op.leftMs === leftMs).map((op) => perform(op, sessionId, proposal.id)))
      }
      const told = await Promise.all(answers)
      clock.pass(DEADLINE_MS)
      await engine.idle()
      stop()

      const first = told.find(({ op }) => op.leftMs > 0)
      const expected = first ? ENDS[first.op.do] : 'expired'
      const states = live.flatMap(({ event }) => (event.type === 'action_update' ? [event.data.state] : []))
      // An approved action may still be withdrawn before it starts.
      const isWithdrawn = expected === 'approved' && states.length === 2 && ops.some((op) => op.do === 'cancel')
      const rest = expected !== 'approved' ? [] : isWithdrawn ? ['cancelled'] : ['executing', 'succeeded']
      expect(states).toEqual([expected, ...rest])
      expect(executed.get(proposal.id) ?? 0).toBe(expected === 'approved' && !isWithdrawn ? 1 : 0)
      const results = live.flatMap(({ event }) => (event.type === 'tool_call_result' ? [event.data.toolCall.result] : []))
      expect(results).toHaveLength(1)
      if (expected === 'expired') expect(results).toEqual([{ declined: true, reason: 'Timeout' }])

      for (const { op, won, lostTo, told: sentence } of told) {
        const isWinner = op === first?.op
        const isRepeat = op.by === first?.op.by && ENDS[op.do] === expected
        if (op.do === 'cancel') continue
        expect(lostTo === undefined, `${op.do} with ${op.leftMs} ms left`).toBe(isWinner || isRepeat)
        if (won) expect(won.votes).toMatchObject([{ by: { id: PEOPLE[op.by].id } }])
        if (!lostTo) continue
        expect(lostTo.state).not.toBe('proposed')
        if (expected === 'expired') {
          expect(lostTo).toMatchObject({ state: 'expired', votes: [] })
          expect(sentence).toContain(`expired at ${proposal.expiresAt}`)
          seen['told that it expired']++
        } else expect(lostTo.votes.map((vote) => vote.by.id)).toEqual(expected === 'cancelled' ? [] : [PEOPLE[first?.op.by ?? 0].id])
      }
      if (expected !== 'expired') seen[expected]++
      else if (!isNoticed && told.length > 0) seen['expired by a late answer']++
      else seen['expired by the timer']++
    }),
    { numRuns: 250 },
  )
  console.log('decide against expire:', seen)
  for (const [what, count] of Object.entries(seen)) expect(count, what).toBeGreaterThan(5)
})
