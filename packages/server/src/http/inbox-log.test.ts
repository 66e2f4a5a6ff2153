import type { NewEvent } from '@countersign/core'
import { type CompiledQuery, sql } from 'kysely'
import { expect, test } from 'vitest'
import { openTempSqlite, raw } from '../../../../verification/testing/temp-store.ts'
import { systemClock } from '../clock.ts'
import { SQLITE } from '../store/dialect.ts'
import { actions, events, principals, type Store, type Tx } from '../store/index.ts'
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

test('a stream of the inbox forgets actions that ended long ago, and still says when one that ended lately goes out of sight', async () => {
  await using temp = await openTempSqlite()
  const { store } = temp
  const sam = { id: 'prn_sam', kind: 'service', name: 'Sam', roles: [] } as const
  const idOf = (n: number): string => `act_${String(n).padStart(4, '0')}`
  const ended = (n: number): NewEvent => ({
    type: 'action_update',
    data: { proposalId: idOf(n), state: 'succeeded', revision: 1, updatedAt: '2026-11-26T12:00:00.000Z' },
  })
  let last = 0
  const tell = (n: number) =>
    store.transact(function* () {
      last += 10
      yield* raw(sql`insert into event (id, session_id, last_seq, inbox, events, created_at)
        values (${last}, null, null, 1, ${JSON.stringify([[null, 'action_update', ended(n).data]])}, 1)`)
    })
  await store.transact(function* () {
    for (const id of [sam.id, REN.id]) yield* principals.savePrincipal({ id, kind: 'service', name: id, roles: [] }, 1)
    for (let n = 0; n < 300; n++) yield* actions.insertAction.run(anAction(idOf(n), { state: 'succeeded', requested_by: sam.id }))
  })
  for (let n = 0; n < 300; n++) await tell(n)
  const log = await openInboxLog({ store, hub, clock: systemClock, principal: { ...sam, roles: [] } })
  let place = 0
  async function readOn() {
    const sent: string[] = []
    for (;;) {
      const page = await log.read(place, 128, false)
      if (!('events' in page)) return 'reset' in page ? 'reset' : 'over'
      for (const stored of page.events) {
        place = stored.id
        if (log.isVisible(stored)) sent.push(events.actionOf(stored.event) ?? '')
      }
      if (page.isLast) return sent
    }
  }
  expect(await readOn()).toHaveLength(300)
  await store.transact(() => raw(sql`update action set requested_by = ${REN.id}`))
  await tell(0)
  expect(await readOn()).toEqual([])
  await tell(299)
  expect(await readOn()).toBe('reset')
})
