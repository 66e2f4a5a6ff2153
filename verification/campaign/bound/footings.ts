import { type JsonObject, type PolicyDocument, type PreviewField, type Tool, ToolError } from '@countersign/core'
import { pino } from 'pino'
import { createRefusals } from '../../../packages/server/src/audit/index.ts'
import { systemClock } from '../../../packages/server/src/clock.ts'
import { createConcurrencyLimiter } from '../../../packages/server/src/dispatch/index.ts'
import { createGate, createStartFailures, type GateDeps } from '../../../packages/server/src/gate/index.ts'
import { compilePolicy, fixedPolicies } from '../../../packages/server/src/policy/index.ts'
import { type ActionRow, actions, principals, type Store, votes } from '../../../packages/server/src/store/index.ts'
import { defineTool } from '../../../packages/toolkit/src/define.ts'
import { openTools, type ToolRegistry } from '../../../packages/toolkit/src/open-tools.ts'
import { ALIVE } from '../../testing/bare-gate.ts'
import type { Footing } from './changes.ts'

const SILENT = pino({ level: 'silent' })
const POLICY: PolicyDocument = { default: 'ask', rules: [{ name: 'two people', match: {}, verdict: 'ask', requires: { quorum: 2 } }] }
const TARGET: JsonObject = { paid: 500 }
const REQUESTER = { id: 'prn_requester', kind: 'service', name: 'Requester', roles: [] } as const

/** Approved actions on a store, each with a tool, a target, a policy and voters of its own, as they would be on a server. */
export interface Footings {
  /** A copy of what was proposed, approved by two people and not started. */
  take(n: number): Footing
  /** Stores the footing, lets the real gate start it, and returns the outcome and how often it was sent. */
  start(footing: Footing): Promise<{ sent: number; row: ActionRow }>
}

interface Target {
  says: JsonObject | undefined
  sent: number
}

function refundTool(target: Target): Tool {
  const coded = defineTool({
    name: 'refund',
    description: 'Refunds an order.',
    input: {
      type: 'object',
      required: ['order', 'cents'],
      properties: { order: { type: 'string' }, cents: { type: 'integer' } },
    },
    effect: 'write',
    credentials: { token: 'what the service knows us by' },
    preview(args): PreviewField[] {
      if (!target.says) throw new ToolError('ambiguous', 'the service is away')
      const { paid } = target.says
      return [{ field: 'paid', ...(paid !== undefined && { oldValue: paid }), newValue: args.cents ?? null }]
    },
    execute() {
      target.sent++
      return {}
    },
  })
  const tool = openTools({ own: { prefix: true, tools: [coded] } }).byName('own.refund')
  if (!tool) throw new Error('the tool was opened')
  return tool
}

const registryOf = (...tools: readonly Tool[]): ToolRegistry => ({
  all: () => tools,
  byName: (name) => tools.find((tool) => tool.name === name),
  forAgent: () => () => tools,
  mayFit: () => true,
  groups: new Map(),
  onChange: () => undefined,
})

/** Proposes and approves the first of them through the gate; the others are its copies. */
export async function openFootings(store: Store): Promise<Footings> {
  const inFlight = new Set<Promise<unknown>>()
  const partsOf = (tools: ToolRegistry, policy: PolicyDocument): GateDeps => ({
    store,
    refusals: createRefusals({ store, clock: systemClock, log: SILENT }),
    tools,
    policies: fixedPolicies(compilePolicy(policy, 1)),
    clock: systemClock,
    log: SILENT,
    processId: 'prc_bound',
    life: ALIVE,
    stopped: new AbortController().signal,
    agentStopsOnDecline: () => false,
    limiter: createConcurrencyLimiter(2),
    startFailures: createStartFailures(),
    executionsPerSession: 8,
    background(work) {
      inFlight.add(work)
    },
  })
  const voters = ['a', 'b'].map((who) => ({ id: `prn_${who}`, kind: 'person' as const, name: who, roles: ['approver'] }))
  await store.transact(function* () {
    for (const principal of [{ ...REQUESTER, roles: [] }, ...voters]) yield* principals.savePrincipal(principal, 1)
  })
  const gate = createGate(partsOf(registryOf(refundTool({ says: TARGET, sent: 0 })), POLICY))
  const asked = await gate.propose(
    { tool: 'own.refund', arguments: { order: 'o1', cents: 500 } },
    { principal: { ...REQUESTER, roles: [] } },
  )
  for (const principal of voters) await gate.decide(asked.id, { verdict: 'approve' }, { principal })
  const approved = await store.read(function* () {
    const row = yield* actions.findAction.first({ id: asked.id })
    return row && { row, votes: yield* votes.votesOf.all({ action_id: row.id, revision: 1 }) }
  })
  if (approved?.row.state !== 'approved' || approved.votes.length !== 2) throw new Error('the first of them was approved by two people')
  const targets = new WeakMap<Footing, Target>()

  return {
    take(n) {
      const id = `${asked.id}_${n}`
      const target: Target = { says: TARGET, sent: 0 }
      const footing: Footing = {
        row: { ...approved.row, id, idempotency_key: `${id}.1` },
        votes: approved.votes.map((vote, i) => ({ ...vote, action_id: id, principal_id: `prn_${n}_${i}` })),
        voters: approved.votes.map(() => ({ kind: 'person', roles: ['approver'] })),
        tool: refundTool(target),
        policy: POLICY,
        target: TARGET,
      }
      targets.set(footing, target)
      return footing
    },
    async start(footing) {
      const target = targets.get(footing)
      if (!target) throw new Error('a footing is started where it was taken')
      target.says = footing.target
      const { row } = footing
      const ids = approved.votes.map((_, i) => `prn_${row.id.slice(asked.id.length + 1)}_${i}`)
      await store.transact(function* () {
        for (const [i, { kind, roles }] of footing.voters.entries())
          yield* principals.savePrincipal({ id: ids[i] ?? '', kind, name: 'V', roles }, 1)
        yield* actions.insertAction.run({ ...row })
        for (const vote of footing.votes) yield* votes.castVote.run({ ...vote })
      })
      const other: Tool = { ...footing.tool, name: 'own.other', modelName: 'own_other' }
      await createGate(partsOf(registryOf(footing.tool, other), footing.policy)).execute(row.id)
      const now = await store.read(() => actions.findAction.first({ id: row.id }))
      if (!now) throw new Error('an action is never deleted')
      return { sent: target.sent, row: now }
    },
  }
}
