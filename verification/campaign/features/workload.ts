import { setTimeout as delay } from 'node:timers/promises'
import type { Action } from '@countersign/core'
import type { CampaignDatabase } from '../../crash/database.ts'
import type { Door, Person } from '../../crash/door.ts'
import type { Random } from '../../simulation/random.ts'
import { callThroughGateway } from './gateway-client.ts'
import type { Journal } from './journal.ts'
import { whatOf } from './people.ts'
import type { PlannedBatch, PlannedCall, RoundPlan } from './plan.ts'

const AGAIN_MS = 25

/** The programs of one round, and the people who lend and revoke; each continues through the deaths of servers. */
export interface Workload {
  /** The names of those that have not finished. */
  readonly left: readonly string[]
  /** Tells it that an approval with a grant was acknowledged. */
  granted(action: Action): void
}

export interface WorkloadOptions {
  door: Door
  bot: Person
  botKey: string
  ana: Person
  fay: Person
  vic: Person
  journal: Journal
  plan: RoundPlan
  database: CampaignDatabase
  random: Random
  isOver(): boolean
  /** The action is proposed, and nobody will vote on it any more. */
  isLeftToPeople(actionId: string): Promise<boolean>
}

export function startWorkload(options: WorkloadOptions): Workload {
  const { door, bot, botKey, ana, fay, vic, journal, plan, database, random, isOver, isLeftToPeople } = options
  const left = new Set<{ who: string }>()
  const batches = new Map(plan.batches.map((batch) => [batch.first.what, batch]))

  function begin(who: string, work: (onStep: (step: string) => void) => Promise<unknown>): void {
    const one = { who }
    left.add(one)
    const onStep = (step: string) => {
      one.who = `${who} (${step})`
    }
    void work(onStep).finally(() => left.delete(one))
  }

  async function propose({ what, tool, arguments: args }: PlannedCall): Promise<void> {
    const body = { tool, arguments: args }
    const ask = () => door.send(bot, 'POST', '/api/actions', { body, headers: { 'idempotency-key': what } })
    let answer = await ask()
    // On a machine without a free core, a preview may take longer than its limit: the call is refused for now.
    while (answer?.status === 422 && answer.text.includes('Try again')) {
      await delay(AGAIN_MS)
      answer = await ask()
    }
    if (answer && answer.status !== 201) door.complaints.push(`the proposal ${what} was answered ${answer.status}: ${answer.text}`)
  }

  async function throughGateway(call: PlannedCall, onStep: (step: string) => void): Promise<void> {
    const answer = await callThroughGateway({ door, key: botKey, call, random, isOver, isLeftToPeople, onStep })
    if (answer) journal.gateway.push(answer)
  }

  async function lend(forMs: number): Promise<void> {
    const body = { to: vic.id, expiresIn: 'PT1H' }
    const headers = { 'idempotency-key': plan.calls.find(({ kind }) => kind === 'delegation')?.what ?? '' }
    const lent = await door.send(fay, 'POST', '/api/delegations', { body, headers })
    for (const call of plan.calls) if (call.kind === 'delegation') begin(`the agent with ${call.what}`, () => propose(call))
    if (lent?.status !== 201 || forMs > 10_000) return
    await delay(forMs)
    await door.send(fay, 'DELETE', `/api/delegations/${lent.body.id}`)
  }

  async function useGrant({ more, revokeAfterMs, last }: PlannedBatch, action: Action): Promise<void> {
    for (const call of more) begin(`the agent with ${call.what}`, () => propose(call))
    if (revokeAfterMs === undefined) return
    await delay(revokeAfterMs)
    const [grant] = await database.view((ask) => ask(`select id from action_grant where made_from = '${action.id}'`))
    if (!grant) return
    const answer = await door.send(ana, 'DELETE', `/api/grants/${String(grant.id)}`)
    if (!answer || answer.status >= 300) return
    journal.afterRevoke.set(last.what, String(grant.id))
    await propose(last)
  }

  for (const call of plan.calls) {
    if (call.kind === 'gateway') begin(`the MCP client with ${call.what}`, (onStep) => throughGateway(call, onStep))
    else if (call.kind !== 'delegation') begin(`the agent with ${call.what}`, () => propose(call))
  }
  for (const { first } of plan.batches) begin(`the agent with ${first.what}`, () => propose(first))
  const { lendsFor } = plan
  if (lendsFor !== undefined) begin('who lends', () => lend(lendsFor))

  return {
    get left() {
      return [...left].map(({ who }) => who)
    },
    granted(action) {
      const what = whatOf(JSON.stringify(action.arguments))
      const batch = batches.get(what)
      if (batch && batches.delete(what)) begin('who granted', () => useGrant(batch, action))
    },
  }
}
