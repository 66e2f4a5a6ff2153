import { isCountersignError, type Principal } from '@countersign/core'
import { defineTool } from '@countersign/toolkit'
import { expect, test } from 'vitest'
import { openBareGate, rowOf } from '../../../../../verification/testing/bare-gate.ts'
import { ana } from '../../../../../verification/testing/open-gate.ts'
import { openTempPostgres, openTempSqlite, type TempStore } from '../../../../../verification/testing/temp-store.ts'
import { openTestDatabase } from '../../../../../verification/testing/test-database.ts'
import { compilePolicy, fixedPolicies } from '../../policy/index.ts'
import { principals, votes } from '../../store/index.ts'

const pay = defineTool({ name: 'send', description: 'Pay', effect: 'write', input: { type: 'object' }, execute: () => null })
const people = Array.from({ length: 5 }, (_, n): Principal => ({ id: `prn_${n}`, kind: 'person', name: `P${n}`, roles: ['finance'] }))

/** Two processes on one Postgres, or two callers of one SQLite. */
async function openPair(database: string): Promise<AsyncDisposable & { stores: TempStore['store'][] }> {
  const stack = new AsyncDisposableStack()
  if (database === 'sqlite') {
    const { store } = stack.use(await openTempSqlite())
    return { stores: [store, store], [Symbol.asyncDispose]: () => stack.disposeAsync() }
  }
  const { url } = stack.use(await openTestDatabase())
  const stores = [stack.use(await openTempPostgres(url)).store, stack.use(await openTempPostgres(url)).store]
  return { stores, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

const policies = fixedPolicies(
  compilePolicy(
    {
      default: 'ask',
      rules: [
        {
          name: 'two of finance',
          match: { tool: 'own.send' },
          verdict: 'ask',
          requires: { quorum: 2, declineQuorum: 2, roles: ['finance'] },
        },
      ],
    },
    1,
  ),
)

test.each(['sqlite', 'postgres'])(
  'of votes given at once in two processes none is lost, none is counted twice, and none counts after the last (%s)',
  async (database) => {
    await using pair = await openPair(database)
    const gates = pair.stores.map((store, n) => openBareGate(store, [pay], `prc_${n}`, { policies }))
    const [store] = pair.stores
    if (!store) throw new Error('there are two')
    await store.transact(function* () {
      for (const person of [ana, ...people]) yield* principals.savePrincipal(person, 1)
    })
    const ended = { approved: 0, declined: 0 }
    for (let round = 0; round < 40; round++) {
      const { id } = (await gates[round % 2]?.propose({ tool: 'own.send', arguments: {} }, { principal: ana })) ?? { id: '' }
      // Five votes, two of which are given twice at once: whatever the order, two agree before the last.
      const given = [...people, ...people.slice(0, 2)].map((principal, n) => ({
        principal,
        verdict: (n + round) % 3 === 0 ? ('decline' as const) : ('approve' as const),
        gate: gates[(n + round) % 2],
      }))
      const told = await Promise.all(
        given.map(({ principal, verdict, gate }) =>
          gate?.decide(id, { verdict }, { principal }).then(
            ({ state }) => state,
            (error: unknown) => {
              if (isCountersignError(error) && error.code === 'already_decided') return 'late'
              throw error
            },
          ),
        ),
      )
      const row = await rowOf(store, id)
      const cast = await store.read(() => votes.votesOf.all({ action_id: id, revision: 1 }))
      const said = (verdict: string) => cast.filter((vote) => vote.verdict === verdict).length
      expect(new Set(cast.map(({ principal_id }) => principal_id)).size, 'one vote each').toBe(cast.length)
      expect(['approved', 'declined'], `round ${round}: ${told}`).toContain(row.state)
      expect(said(row.state === 'approved' ? 'approve' : 'decline'), `round ${round}: votes for ${row.state}`).toBe(2)
      expect(said(row.state === 'approved' ? 'decline' : 'approve'), `round ${round}: votes against`).toBeLessThan(2)
      ended[row.state as 'approved' | 'declined']++
    }
    expect(ended.approved).toBeGreaterThan(0)
  },
)

test.each(['sqlite', 'postgres'])('two delegates of the same two people who vote at once vote for one each (%s)', async (database) => {
  await using pair = await openPair(database)
  const gates = pair.stores.map((store, n) => openBareGate(store, [pay], `prc_${n}`, { policies }))
  const [store] = pair.stores
  const [gate] = gates
  if (!store || !gate) throw new Error('there are two')
  const delegates = ['dan', 'dora'].map((name): Principal => ({ id: `prn_${name}`, kind: 'person', name, roles: ['approver'] }))
  await store.transact(function* () {
    for (const person of [ana, ...people, ...delegates]) yield* principals.savePrincipal(person, 1)
  })
  for (const principal of people.slice(0, 2)) {
    for (const { id } of delegates) await gate.createDelegation({ to: id, expiresIn: 'P1D' }, { principal })
  }
  for (let round = 0; round < 12; round++) {
    const { id } = await gate.propose({ tool: 'own.send', arguments: {} }, { principal: ana })
    await Promise.all(delegates.map((principal, n) => gates[n]?.decide(id, { verdict: 'approve' }, { principal })))
    const cast = await store.read(() => votes.votesOf.all({ action_id: id, revision: 1 }))
    expect(cast.map(({ for_id }) => for_id).sort(), `round ${round}`).toEqual(['prn_0', 'prn_1'])
    expect((await rowOf(store, id)).state).toMatch(/^(approved|executing|succeeded)$/)
  }
})

test.each(['sqlite', 'postgres'])(
  'a grant of three uses answers three of twelve calls made at once in two processes (%s)',
  async (database) => {
    await using pair = await openPair(database)
    const gates = pair.stores.map((store, n) => openBareGate(store, [pay], `prc_${n}`))
    const [store] = pair.stores
    if (!store) throw new Error('there are two')
    await store.transact(function* () {
      for (const person of [ana, ...people]) yield* principals.savePrincipal(person, 1)
    })
    const first = await gates[0]?.propose({ tool: 'own.send', arguments: {} }, { principal: ana })
    await gates[0]?.decide(
      first?.id ?? '',
      { verdict: 'approve', remember: { scope: 'agent', expiresIn: 'P1D', exact: true, uses: 3 } },
      { principal: ana },
    )
    const calls = await Promise.all(
      Array.from({ length: 12 }, (_, n) => gates[n % 2]?.propose({ tool: 'own.send', arguments: {} }, { principal: ana })),
    )
    expect(calls.filter((action) => action?.policy.rule.startsWith('grant gra_'))).toHaveLength(3)
    expect(calls.filter((action) => action?.state === 'proposed')).toHaveLength(9)
  },
)
