import { isCountersignError } from '@countersign/core'
import { defineTool } from '@countersign/toolkit'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openBareGate, rowOf, savePersons } from '../../../../../verification/testing/bare-gate.ts'
import { ana, ben } from '../../../../../verification/testing/open-gate.ts'
import { openTempPostgres, openTempSqlite, type TempStore } from '../../../../../verification/testing/temp-store.ts'
import { openTestDatabase } from '../../../../../verification/testing/test-database.ts'
import { audit } from '../../store/index.ts'

/** Two processes on one Postgres, or two callers of one SQLite. */
async function openPair(database: string): Promise<AsyncDisposable & { stores: readonly [TempStore['store'], TempStore['store']] }> {
  const stack = new AsyncDisposableStack()
  if (database === 'sqlite') {
    const { store } = stack.use(await openTempSqlite())
    return { stores: [store, store], [Symbol.asyncDispose]: () => stack.disposeAsync() }
  }
  const { url } = stack.use(await openTestDatabase())
  const stores = [stack.use(await openTempPostgres(url)).store, stack.use(await openTempPostgres(url)).store] as const
  return { stores, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

const DEEDS = ['withdraw', 'approve', 'decline', 'execute'] as const

test.each(['sqlite', 'postgres'])(
  '%s: however a withdrawal races with decisions and the start: one of them wins, and what was withdrawn is never sent',
  async (database) => {
    await using pair = await openPair(database)
    const sent = new Map<string, number>()
    let reached = Promise.withResolvers<void>()
    let hold = Promise.withResolvers<void>()
    const tool = defineTool({
      name: 'pay',
      description: 'Pay',
      input: { type: 'object' },
      effect: 'write',
      // It is held until everybody has tried: no clock of the gate's may end it before.
      timeoutMs: 30_000_000,
      async execute(_, { actionId }) {
        sent.set(actionId, (sent.get(actionId) ?? 0) + 1)
        reached.resolve()
        await hold.promise
      },
    })
    const gates = pair.stores.map((store, n) => openBareGate(store, [tool], `prc_${n}`))
    const [store] = pair.stores
    await savePersons(store)
    const ends = { cancelled: 0, declined: 0, succeeded: 0, approved: 0 }

    const anyDeed = fc.record({ deed: fc.constantFrom(...DEEDS), process: fc.nat({ max: 1 }), first: fc.boolean() })
    await fc.assert(
      fc.asyncProperty(fc.array(anyDeed, { minLength: 1, maxLength: 7 }), async (deeds) => {
        reached = Promise.withResolvers()
        hold = Promise.withResolvers()
        const { id } = (await gates[0]?.propose({ tool: 'own.pay', arguments: {} }, { principal: ana })) ?? { id: '' }
        const act = ({ deed, process }: (typeof deeds)[number]) => {
          const gate = gates[process]
          if (!gate) throw new Error('there are two')
          if (deed === 'withdraw') return gate.withdraw(id, { reason: 'No need' }, { principal: ana })
          if (deed === 'execute') return gate.execute(id)
          return gate.decide(id, { verdict: deed }, { principal: ben })
        }
        const results: { deed: string; result: PromiseSettledResult<unknown> }[] = []
        const note = async (deed: string, work: Promise<unknown>): Promise<void> => {
          const [result] = await Promise.allSettled([work])
          results.push({ deed, result })
        }
        // Those marked `first` are done one after the other, as far as they get while what was sent is under way; the others all at once.
        const starts: Promise<void>[] = []
        for (const one of deeds.filter(({ first }) => first)) {
          const done = note(one.deed, act(one))
          if (one.deed === 'execute') starts.push(done)
          await (one.deed === 'execute' ? Promise.race([done, reached.promise]) : done)
        }
        const others = deeds.filter(({ first }) => !first).map((one) => ({ deed: one.deed, done: note(one.deed, act(one)) }))
        await Promise.all(others.filter(({ deed }) => deed !== 'execute').map(({ done }) => done))
        hold.resolve()
        await Promise.all([...starts, ...others.map(({ done }) => done)])
        await Promise.all(gates.map((gate) => gate.idle()))

        const row = await rowOf(store, id)
        const withdrawals = results.filter(({ deed }) => deed === 'withdraw')
        for (const { result } of results) {
          if (result.status === 'rejected') expect(isCountersignError(result.reason), String(result.reason)).toBe(true)
        }
        // All who withdraw hear the same, and what they hear is so.
        for (const { result } of withdrawals) {
          expect(result.status).toBe(row.state === 'cancelled' ? 'fulfilled' : 'rejected')
          if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'illegal_transition', extra: { action: { id } } })
        }
        if (row.state === 'cancelled')
          expect(JSON.parse(row.error ?? '')).toMatchObject({ kind: 'withdrawn', message: 'Withdrawn by Ana: No need' })
        expect(sent.get(id) ?? 0).toBe(row.state === 'succeeded' ? 1 : 0)
        const rows = await store.read(() => audit.listScope(id, { kind: 'withdrawn' }, undefined, 10))
        expect(rows).toHaveLength(row.state === 'cancelled' ? 1 : 0)
        if (row.state in ends) ends[row.state as keyof typeof ends]++
      }),
      { numRuns: 120 },
    )
    expect(Math.min(...Object.values(ends)), JSON.stringify(ends)).toBeGreaterThan(2)
  },
)
