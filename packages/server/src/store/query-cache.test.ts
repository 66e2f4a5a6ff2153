import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Principal } from '@countersign/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { countStatements } from '../../../../verification/testing/count-cost.ts'
import { openTempSqlite } from '../../../../verification/testing/temp-store.ts'
import { type ActionRow, actions, moveAction, policyVersions, principals, type Store, waiting } from './index.ts'
import { ask, type Tx } from './query.ts'
import { anAction } from './testing/an-action.ts'

const person = (id: string, role: string): Principal => ({ id, kind: 'person', name: id, roles: [role] })

/** Returns the row in the table, bypassing the cache. */
function* rolesInTable(id: string): Tx<string | undefined> {
  const [row] = yield* ask((db) => db.selectFrom('principal').select('roles').where('id', '=', id))
  return row?.roles
}
const roles = (store: Store, id: string) => store.transact(() => rememberedRoles(id))
function* rememberedRoles(id: string): Tx<string | undefined> {
  return (yield* principals.findPrincipal.first({ id }))?.roles
}

const IDS = ['prn_a', 'prn_b'] as const
/** A member of a batch: reads, optionally writes, reads again, and may fail. */
const memberOf = fc.record({ id: fc.constantFrom(...IDS), role: fc.option(fc.constantFrom('x', 'y')), fails: fc.boolean() })

test('what is remembered is what the table says, whatever is written, undone and asked side by side', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(memberOf, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 15 }), async (batches) => {
      await using it = await openTempSqlite()
      for (const batch of batches) {
        await Promise.allSettled(
          batch.map(({ id, role, fails }) =>
            it.store.transact(function* () {
              expect(yield* rememberedRoles(id)).toBe(yield* rolesInTable(id))
              if (role !== null) yield* principals.savePrincipal(person(id, role), 1)
              for (const other of IDS) expect(yield* rememberedRoles(other)).toBe(yield* rolesInTable(other))
              if (fails) throw new Error('undone')
            }),
          ),
        ).then((outcomes) => {
          const wrong = outcomes.filter((one) => one.status === 'rejected' && one.reason.message !== 'undone')
          expect(wrong).toEqual([])
        })
      }
    }),
    // Few but long examples, because each opens a database.
    { numRuns: 20 },
  )
})

test('what another connection wrote is seen by the next transaction', async () => {
  await using it = await openTempSqlite()
  await it.store.transact(() => principals.savePrincipal(person('prn_a', 'approver'), 1))
  expect(await roles(it.store, 'prn_a')).toBe('["approver"]')
  using other = new DatabaseSync(join(it.dataDir, 'countersign.db'), { timeout: 240_000 })
  other.exec(`update principal set roles = '["viewer"]' where id = 'prn_a'`)
  expect(await roles(it.store, 'prn_a')).toBe('["viewer"]')
})

test('nobody can change the answer of another', async () => {
  await using it = await openTempSqlite()
  await it.store.transact(() => principals.savePrincipal(person('prn_a', 'approver'), 1))
  const row = await it.store.transact(() => principals.findPrincipal.first({ id: 'prn_a' }))
  expect(() => Object.assign(row ?? {}, { roles: '["admin"]' })).toThrow(TypeError)
})

test('a version that is not in use any more is forgotten', async () => {
  await using it = await openTempSqlite()
  const version = (number: number) => ({
    number,
    document: '{}',
    written: null,
    digest: String(number),
    source: 'file' as const,
    author: null,
    reason: '',
    in_use: 'force' as const,
    replaces: null,
    created_at: 1,
  })
  const inForce = () => it.store.transact(() => policyVersions.inUse.all({}))
  await it.store.transact(() => policyVersions.insertVersion.run(version(1)))
  expect(await inForce()).toMatchObject([{ number: 1 }])
  await it.store.transact(function* () {
    yield* policyVersions.endUse.run({ in_use: 'force' })
    yield* policyVersions.insertVersion.run(version(2))
  })
  expect(await inForce()).toMatchObject([{ number: 2 }])
})

const LIMIT = 4
/** A member of a batch: proposes or declines, or takes a decline back as no code does, and may fail. */
const askOf = fc.record({ id: fc.constantFrom(...IDS), does: fc.constantFrom('ask', 'ask', 'decline', 'reopen'), fails: fc.boolean() })

test('a requester is at the limit exactly when so many wait, whatever is asked, decided, undone and written by others', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(askOf, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 15 }), async (batches) => {
      await using it = await openTempSqlite()
      await it.store.transact(function* () {
        for (const id of IDS) yield* principals.savePrincipal(person(id, 'approver'), 1)
      })
      let made = 0
      const isFull = function* (id: string): Tx<void> {
        const rows = yield* ask((db) => db.selectFrom('action').select('id').where('requested_by', '=', id).where('state', '=', 'proposed'))
        const counted = yield* waiting.countWaitingOf(id, LIMIT)
        expect(counted >= LIMIT).toBe(rows.length >= LIMIT)
        expect(counted).toBeGreaterThanOrEqual(Math.min(rows.length, LIMIT))
      }
      for (const batch of batches) {
        const outcomes = await Promise.allSettled(
          batch.map(({ id, does, fails }) =>
            it.store.transact(function* () {
              yield* isFull(id)
              if (does === 'ask') yield* actions.insertAction.run({ ...anAction(`act_${++made}`, { requested_by: id }) })
              else if (does === 'reopen') {
                yield* ask((db) => db.updateTable('action').set({ state: 'proposed' }).where('requested_by', '=', id))
              } else {
                const [row] = yield* ask((db) =>
                  db.selectFrom('action').selectAll().where('requested_by', '=', id).where('state', '=', 'proposed').limit(1),
                )
                if (row) yield* moveAction(row as ActionRow, 'decline', { due_at: null, result_delivered: 1 }, 2)
              }
              for (const other of IDS) yield* isFull(other)
              if (fails) throw new Error('undone')
            }),
          ),
        )
        expect(outcomes.filter((one) => one.status === 'rejected' && one.reason.message !== 'undone')).toEqual([])
      }
    }),
    { numRuns: 20 },
  )
})

test('while few wait, they are not counted at every ask', async () => {
  await using it = await openTempSqlite()
  await it.store.transact(() => principals.savePrincipal(person('prn_ana', 'approver'), 1))
  using counted = countStatements()
  const countOnce = () => it.store.transact(() => waiting.countWaitingOf('prn_ana', 100))
  expect(await countOnce()).toBe(0)
  await it.store.transact(() => actions.insertAction.run({ ...anAction('act_1', {}) }))
  expect(await countOnce()).toBe(1)
  expect(counted.sent.filter((text) => text.includes('count(*)'))).toHaveLength(1)
})
