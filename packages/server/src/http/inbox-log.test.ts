import type { CompiledQuery } from 'kysely'
import { expect, test } from 'vitest'
import { openTempSqlite } from '../../../../verification/testing/temp-store.ts'
import { systemClock } from '../clock.ts'
import { SQLITE } from '../store/dialect.ts'
import { actions, principals, type Store, type Tx } from '../store/index.ts'
import { ask } from '../store/query.ts'
import { anAction } from '../store/testing/an-action.ts'
import { openInboxLog } from './inbox-log.ts'

const hub = { onInbox: async () => () => undefined, onAccess: () => () => undefined, inboxPlace: 0 } as never
const REN = { id: 'prn_ren', kind: 'person', name: 'Ren', roles: ['approver'] } as const

/** A store that keeps the statements of its reads. */
function watched(store: Store) {
  const statements: CompiledQuery[] = []
  const noting = <T>(work: () => Tx<T>) =>
    function* (): Tx<T> {
      const asked = work()
      for (let step = asked.next(); ; step = asked.next(yield step.value)) {
        if (step.done) return step.value
        if ('definition' in step.value) statements.push(step.value.definition.build(SQLITE.builder, step.value.values, SQLITE).compile())
      }
    }
  return { statements, reader: { read: <T>(work: () => Tx<T>) => store.read(noting(work)) } }
}

const explained = (store: Store, compiled: CompiledQuery) =>
  store.read(() =>
    ask(() => ({ compile: () => ({ ...compiled, sql: `explain query plan ${compiled.sql}` }) as CompiledQuery<{ detail: string }> })),
  )

test('a stream of the inbox that opens finds open actions by an index of them, and reads no settled ones', async () => {
  await using temp = await openTempSqlite()
  const { store } = temp
  const states = ['proposed', 'approved', 'executing', 'succeeded', 'outcome_unknown'] as const
  await store.transact(function* () {
    yield* principals.savePrincipal({ ...REN, roles: [...REN.roles] }, 1)
    for (const state of states) {
      const known = { policy: '{"verdict":"ask"}', requires: '{"roles":["approver"]}' }
      yield* actions.insertAction.run(anAction(`act_${state}`, { state, requested_by: REN.id, ...known }))
    }
  })
  const { statements, reader } = watched(store)
  await openInboxLog({ store: reader, hub, clock: systemClock, principal: { ...REN, roles: [...REN.roles] } })
  const plans = []
  for (const statement of statements) if (statement.sql.includes('from "action"')) plans.push(await explained(store, statement))
  expect(plans.length).toBeGreaterThan(0)
  // The first line is the table that the rows come from.
  for (const [first] of plans) expect(first?.detail).toMatch(/USING (COVERING )?INDEX action_(waiting|unfinished)/)
})
