import { ACTION_STATES, type ActionState } from '@countersign/core'
import { expect, test } from 'vitest'
import { STORES } from '../../../../../verification/testing/temp-store.ts'
import type { Tx } from '../query.ts'
import type { Store } from '../store.ts'
import { anAction } from '../testing/an-action.ts'
import { endUnstarted, moveAction } from './action-moves.ts'
import * as actions from './actions.ts'
import * as principals from './principals.ts'

const HOUR_MS = 3_600_000
const NOW = Date.now()
/** Far from now, so that the database's own clock makes no difference. */
const TIMES = { never: null, past: NOW - HOUR_MS, future: NOW + HOUR_MS }
type Time = keyof typeof TIMES

const OPEN: ActionState[] = ['proposed']
const CASES: { what: string; moves: Partial<Record<Time, ActionState[]>>; update(id: string): Tx<unknown> }[] = [
  {
    what: 'a decision',
    moves: { never: OPEN, future: OPEN },
    *update(id) {
      const row = yield* actions.findAction.first({ id })
      return row && (yield* moveAction(row, 'approve', { ...row, due_at: null, starts_at: null }, NOW))
    },
  },
  {
    what: 'a cancellation',
    moves: { never: ['proposed', 'approved'], past: ['approved'], future: ['proposed', 'approved'] },
    update: (id) => endUnstarted(id, 'cancel', { error: null, atAnyTime: false }, NOW),
  },
  { what: 'the expiry', moves: { past: OPEN }, update: (id) => endUnstarted(id, 'expire', { error: null, atAnyTime: false }, NOW) },
]

const addAna = (store: Store) =>
  store.transact(() => principals.savePrincipal({ id: 'prn_ana', kind: 'person', name: 'Ana', roles: [] }, NOW))

test.each(STORES)('whether a deadline has passed is part of the update that moves an action ($database)', async ({ open }) => {
  await using temp = await open()
  const { store } = temp
  await addAna(store)
  for (const [n, { what, moves, update }] of CASES.entries()) {
    for (const [time, expires_at] of Object.entries(TIMES) as [Time, number | null][]) {
      for (const state of ACTION_STATES) {
        const id = `act_${n}_${time}_${state}`
        await store.transact(() => actions.insertAction.run(anAction(id, { state, expires_at, due_at: NOW })))
        const changed = (await store.transact(() => update(id))) === undefined ? 0 : 1
        expect([what, time, state, changed]).toEqual([what, time, state, moves[time]?.includes(state) ? 1 : 0])
        const row = await store.read(() => actions.findAction.first({ id }))
        expect(row?.due_at, `${what} of ${id}`).toBe(changed === 1 ? null : NOW)
      }
    }
  }
})

test.each(STORES)(
  'a reminder is taken note of once, and leaves the expiry or the escalation due, whichever is first ($database)',
  async ({ open }) => {
    await using temp = await open()
    const { store } = temp
    await addAna(store)
    const remind = (id: string) => store.transact(() => actions.remindAction.change({ id, now: NOW }))
    const dueOf = async (id: string) => (await store.read(() => actions.findAction.first({ id })))?.due_at
    for (const [n, { due, expires, reminds }] of [
      { due: 'past', expires: 'future', reminds: 1 },
      { due: 'past', expires: 'never', reminds: 1 },
      { due: 'past', expires: 'past', reminds: 0 },
      { due: 'future', expires: 'future', reminds: 0 },
      { due: 'never', expires: 'never', reminds: 0 },
    ].entries()) {
      const id = `act_${n}`
      const times = { due_at: TIMES[due as Time], remind_at: TIMES[due as Time], expires_at: TIMES[expires as Time] }
      await store.transact(() => actions.insertAction.run(anAction(id, times)))
      expect([due, expires, await remind(id)]).toEqual([due, expires, reminds])
      expect(await dueOf(id)).toBe(reminds === 1 ? times.expires_at : times.due_at)
      expect(await remind(id)).toBe(0)
    }
    const [sooner, later] = [TIMES.future, TIMES.future + 1]
    for (const [n, { escalate, expires, next }] of [
      { escalate: sooner, expires: later, next: sooner },
      { escalate: later, expires: sooner, next: sooner },
      { escalate: sooner, expires: null, next: sooner },
      { escalate: null, expires: sooner, next: sooner },
      { escalate: null, expires: null, next: null },
    ].entries()) {
      const id = `act_next_${n}`
      const times = { due_at: TIMES.past, remind_at: TIMES.past, escalate_at: escalate, expires_at: expires }
      await store.transact(() => actions.insertAction.run(anAction(id, times)))
      expect(await remind(id)).toBe(1)
      expect(await dueOf(id)).toBe(next)
    }
  },
)

test.each(STORES)('what is due is found longest due first, and how long it is until the next ($database)', async ({ open }) => {
  await using temp = await open()
  const { store } = temp
  await addAna(store)
  const next = () => store.read(() => actions.nextDue.first({ now: NOW }))
  expect(await next()).toBeUndefined()
  await store.transact(function* () {
    yield* actions.insertAction.run(anAction('act_never', {}))
    yield* actions.insertAction.run(anAction('act_future', { due_at: NOW + HOUR_MS }))
  })
  expect(await store.read(() => actions.dueActions.all({ now: NOW, limit: 10 }))).toEqual([])
  const ahead = (await next())?.waitMs
  expect(ahead).toBeLessThanOrEqual(HOUR_MS)
  // On Postgres its own clock counts, which has gone on; it is read in whole milliseconds.
  expect(ahead).toBeGreaterThanOrEqual(HOUR_MS - (Date.now() - NOW) - 2)
  await store.transact(function* () {
    yield* actions.insertAction.run(anAction('act_late', { due_at: NOW - 1 }))
    yield* actions.insertAction.run(anAction('act_later', { due_at: NOW - 2 * HOUR_MS }))
  })
  const due = await store.read(() => actions.dueActions.all({ now: NOW, limit: 10 }))
  expect(due.map(({ id }) => id)).toEqual(['act_later', 'act_late'])
  expect((await next())?.waitMs).toBeLessThanOrEqual(-2 * HOUR_MS)
})
