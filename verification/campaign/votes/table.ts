import { isCountersignError, type Principal } from '@countersign/core'
import { type Revisable, revise } from '../../../packages/server/src/gate/decide/revise.ts'
import { prepareAction } from '../../../packages/server/src/gate/index.ts'
import { compilePolicy, fixedPolicies } from '../../../packages/server/src/policy/index.ts'
import { principals, type Store, votes } from '../../../packages/server/src/store/index.ts'
import { defineTool } from '../../../packages/toolkit/src/define.ts'
import { openTools } from '../../../packages/toolkit/src/open-tools.ts'
import { openBareGate, rowOf } from '../../testing/bare-gate.ts'
import { hurriedClock } from '../../testing/open-gate.ts'
import { expectedOf, type Heard, type Op, type Table } from './model.ts'

const ROLE = 'finance'
const MAX_REPORTED = 20

const refund = defineTool({
  name: 'refund',
  description: 'Refund an order',
  effect: 'write',
  input: { type: 'object', required: ['cents'], properties: { cents: { type: 'integer' } } },
  execute: () => null,
})

const policyOf = ({ n, d, notRequester }: Table) =>
  compilePolicy(
    {
      default: 'deny',
      rules: [
        {
          name: 'refunds',
          match: { tool: 'own.refund' },
          verdict: 'ask',
          requires: { quorum: n, declineQuorum: d, roles: [ROLE], notRequester },
        },
      ],
    },
    1,
  )

export interface TableRun {
  sequences: number
  votes: number
  /** How often a vote was told each of the answers. */
  answers: Record<Heard['answer'], number>
  violations: string[]
}

export interface RunOptions {
  store: Store
  /** Sequences of events, each for an action of its table. */
  cases: Iterable<{ table: Table; ops: readonly Op[] }>
  /** How many actions are voted on at the same time, each by people of its own. */
  workers?: number
  /** Epoch milliseconds after which no other case begins. */
  endsAt?: number
}

/** Lets people vote through the gate and holds what each is told, and what is stored then, against the rules. */
export async function runTables({ store, cases, workers = 32, endsAt = Number.POSITIVE_INFINITY }: RunOptions): Promise<TableRun> {
  const run: TableRun = { sequences: 0, votes: 0, answers: { ok: 0, forbidden: 0, already_decided: 0 }, violations: [] }
  const gates = new Map<string, ReturnType<typeof openVoting>>()
  const iterator = cases[Symbol.iterator]()
  async function worker(number: number): Promise<void> {
    const people = Array.from(
      { length: 4 },
      (_, who): Principal => ({ id: `prn_${number}_${who}`, kind: 'person', name: `P${who}`, roles: [ROLE] }),
    )
    const bot: Principal = { id: `prn_${number}_bot`, kind: 'agent', name: 'Bot', roles: ['agent'] }
    await save(store, [...people])
    for (let next = iterator.next(); !next.done && Date.now() < endsAt; next = iterator.next()) {
      const { table, ops } = next.value
      const key = JSON.stringify(table)
      const voting = gates.get(key) ?? openVoting(store, table)
      gates.set(key, voting)
      // An agent's request is its owner's. Each asks once: what one agent asks again while it waits is the same action, and few may wait.
      const requester = { ...bot, id: `${bot.id}_${run.sequences++}` }
      await save(store, [{ ...requester, personId: people[table.m - 1]?.id ?? '' }])
      const told = await voting(people, requester, ops)
      run.votes += told.length
      for (const { answer } of told) run.answers[answer]++
      const expected = expectedOf(table, ops)
      if (JSON.stringify(told) !== JSON.stringify(expected) && run.violations.length < MAX_REPORTED) {
        run.violations.push(`${key} ${JSON.stringify(ops)}: ${JSON.stringify(told)} instead of ${JSON.stringify(expected)}`)
      }
    }
  }
  await Promise.all(Array.from({ length: workers }, (_, number) => worker(number)))
  return run
}

const save = (store: Store, people: readonly Principal[]): Promise<void> =>
  store.transact(function* () {
    for (const person of people) yield* principals.savePrincipal(person, 1)
  })

function openVoting(store: Store, table: Table) {
  const policy = policyOf(table)
  const gate = openBareGate(store, [refund], 'prc_votes', { policies: fixedPolicies(policy) })
  const tool = openTools({ own: { prefix: true, tools: [refund] } }).byName('own.refund')
  if (!tool) throw new Error('the tool is there')
  return async (people: readonly Principal[], requester: Principal, ops: readonly Op[]): Promise<Heard[]> => {
    const { id } = await gate.propose({ tool: 'own.refund', arguments: { cents: 0 } }, { principal: requester })
    const heard: Heard[] = []
    let revisions = 0
    const demoted = new Set<number>()
    for (const op of ops) {
      if (op.do === 'revise') {
        const prepared = await prepareAction({
          tool,
          arguments: { cents: ++revisions },
          agent: undefined,
          session: null,
          requesters: [requester],
          policies: fixedPolicies(policy),
          clock: hurriedClock,
        })
        const row = await rowOf(store, id)
        await store.transact((outbox) =>
          revise({ outbox, session: undefined, nowMs: Date.now(), caller: undefined }, row as Revisable, prepared, {
            why: 'preview',
            reason: 'It changed.',
          }),
        )
        continue
      }
      const person = people[op.who]
      if (!person) throw new Error(`there is no person ${op.who}`)
      if (op.do !== 'vote') {
        if (op.do === 'demote') demoted.add(op.who)
        else demoted.delete(op.who)
        await save(store, [{ ...person, roles: op.do === 'demote' ? ['viewer'] : [ROLE] }])
        continue
      }
      const principal = { ...person, roles: demoted.has(op.who) ? ['viewer'] : person.roles }
      const { revision, digest } = await rowOf(store, id)
      const answer = await gate.decide(id, { verdict: op.verdict, revision, digest }, { principal }).then(
        () => 'ok' as const,
        (error: unknown) => {
          if (isCountersignError(error) && (error.code === 'forbidden' || error.code === 'already_decided')) return error.code
          throw error
        },
      )
      const row = await rowOf(store, id)
      const cast = await store.read(() => votes.votesOf.all({ action_id: id, revision }))
      heard.push({
        answer,
        state: row.state as Heard['state'],
        votes: cast
          .map(({ principal_id, verdict }) => `${principal_id.split('_')[2]}${verdict === 'approve' ? '+' : '-'}`)
          .sort()
          .join(' '),
      })
    }
    if (demoted.size > 0) await save(store, people)
    return heard
  }
}
