import { isCountersignError } from '@countersign/core'
import { defineTool } from '@countersign/toolkit'
import fc from 'fast-check'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { openBareGate, rowOf, savePersons } from '../../../../../verification/testing/bare-gate.ts'
import { ana, ben } from '../../../../../verification/testing/open-gate.ts'
import { openTempPostgres, openTempSqlite, raw, type TempStore } from '../../../../../verification/testing/temp-store.ts'
import { openTestDatabase } from '../../../../../verification/testing/test-database.ts'

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

/** What ends it in another way comes less often. */
const DEEDS = ['undo', 'undo', 'timer', 'timer', 'execute', 'execute', 'withdraw'] as const

test.each(['sqlite', 'postgres'])(
  '%s: however an undo races with the end of the grace period and the start: one of them wins, and what was undone is never sent',
  async (database) => {
    await using pair = await openPair(database)
    const sent = new Map<string, number>()
    const tool = defineTool({
      name: 'pay',
      description: 'Pay',
      input: { type: 'object' },
      effect: 'write',
      execute(_, { actionId }) {
        sent.set(actionId, (sent.get(actionId) ?? 0) + 1)
      },
    })
    const gates = pair.stores.map((store, n) => openBareGate(store, [tool], `prc_${n}`))
    const [store] = pair.stores
    await savePersons(store)
    const ends = { proposed: 0, cancelled: 0, succeeded: 0 }

    const anyDeed = fc.record({ deed: fc.constantFrom(...DEEDS), process: fc.nat({ max: 1 }) })
    // Where the grace period ends: long past, at this moment, or long after.
    const anyEnd = fc.constantFrom(-1_000, 0, 1, 2, 3, 5, 3_600_000)
    await fc.assert(
      fc.asyncProperty(fc.array(anyDeed, { minLength: 1, maxLength: 7 }), anyEnd, async (deeds, leftMs) => {
        const { id } = (await gates[0]?.propose({ tool: 'own.pay', arguments: {} }, { principal: ana })) ?? { id: '' }
        await gates[0]?.decide(id, { verdict: 'approve', startAfter: 'PT1H' }, { principal: ben })
        // Nothing starts while it lasts, whoever says so.
        await gates[1]?.execute(id)
        expect(sent.get(id)).toBeUndefined()
        const endsAt = Date.now() + leftMs
        await store.transact(() => raw(sql`update action set starts_at = ${endsAt}, due_at = ${endsAt} where id = ${id}`))
        const results = await Promise.allSettled(
          deeds.map(async ({ deed, process }) => {
            const gate = gates[process]
            if (!gate) throw new Error('there are two')
            if (deed === 'undo') return gate.undo(id, { principal: process === 0 ? ben : ana })
            if (deed === 'withdraw') return gate.withdraw(id, {}, { principal: ana })
            if (deed === 'execute') return gate.execute(id)
            // What the timer puts up is executed as its job would do it.
            await gate.doWhatIsDue(new AbortController().signal)
            return gate.execute(id)
          }),
        )
        await Promise.all(gates.map((gate) => gate.idle()))

        const row = await rowOf(store, id)
        for (const [n, result] of results.entries()) {
          if (result.status === 'rejected') expect(isCountersignError(result.reason), String(result.reason)).toBe(true)
          if (deeds[n]?.deed !== 'undo' || result.status === 'fulfilled') continue
          expect(result.reason).toMatchObject({ code: 'illegal_transition', extra: { action: { id } } })
        }
        const undone = results.filter(({ status }, n) => deeds[n]?.deed === 'undo' && status === 'fulfilled')
        expect(sent.get(id) ?? 0).toBe(row.state === 'succeeded' ? 1 : 0)
        expect(row.revision).toBe(undone.length > 0 ? 2 : 1)
        if (undone.length > 0) expect(['proposed', 'cancelled']).toContain(row.state)
        if (row.state in ends) ends[row.state as keyof typeof ends]++
      }),
      { numRuns: 60 },
    )
    expect(Math.min(...Object.values(ends)), JSON.stringify(ends)).toBeGreaterThan(0)
  },
)
