import { ACTION_STATES, type ActionEvent, type ActionState, AFTER } from '@countersign/core'
import { expect, test } from 'vitest'
import { STORES, type TempStore } from '../../../../../verification/testing/temp-store.ts'
import type { Tx } from '../query.ts'
import { anAction } from '../testing/an-action.ts'
import * as actions from './actions.ts'
import * as attempts from './attempts.ts'
import * as principals from './principals.ts'

const nothing = { result: null, result_url: null, error: null }
const settle = (id: string, to: ActionState, epoch = 0): Tx<number> =>
  attempts.settleAction.change({ id, epoch, to, ...nothing, in_doubt: 0, checks: null, due_at: null, told: 1, now: 2 })
const resolve = (id: string, to: ActionState): Tx<number> =>
  attempts.resolveAction.change({ id, epoch: 0, to, ...nothing, resolution: null, now: 2 })
const intent = (id: string, read: { revision?: number; epoch?: number } = {}) => ({
  ...{ id, revision: 1, epoch: 0, idempotency_key: `${id}.1`, runner: 'prc_1', due_at: null, target_version: null, now: 2 },
  ...read,
})

interface Update {
  event: ActionEvent
  from: ActionState[]
  update(id: string): Tx<number>
}

/** The guarded updates behind each event, and the states they move from. That of `expire` needs a deadline: `deadlines.test.ts`. */
const UPDATES: Update[] = [
  {
    event: 'approve',
    from: ['proposed'],
    update: (id) => actions.decideAction.change({ id, revision: 1, to: 'approved', told: 0, due_at: null, now: 2 }),
  },
  {
    event: 'decline',
    from: ['proposed'],
    update: (id) => actions.decideAction.change({ id, revision: 1, to: 'declined', told: 1, due_at: null, now: 2 }),
  },
  { event: 'cancel', from: ['proposed', 'approved'], update: (id) => actions.cancelAction.change({ id, now: 2 }) },
  { event: 'start', from: ['approved'], update: (id) => attempts.startAction.change(intent(id)) },
  { event: 'succeed', from: ['executing'], update: (id) => settle(id, 'succeeded') },
  { event: 'fail', from: ['executing'], update: (id) => settle(id, 'failed') },
  { event: 'lose', from: ['executing'], update: (id) => settle(id, 'outcome_unknown') },
  { event: 'succeed', from: ['outcome_unknown'], update: (id) => resolve(id, 'succeeded') },
  { event: 'fail', from: ['outcome_unknown'], update: (id) => resolve(id, 'failed') },
  { event: 'retry', from: ['failed'], update: (id) => attempts.retryAction.change(intent(id)) },
  { event: 'resend', from: ['outcome_unknown'], update: (id) => attempts.resendAction.change(intent(id)) },
]

test.each(STORES)('a guarded update moves an action where the lifecycle table says, from nowhere else ($database)', async ({ open }) => {
  await using temp = await open()
  const { store } = temp
  await store.transact(() => principals.savePrincipal({ id: 'prn_ana', kind: 'person', name: 'Ana', roles: [] }, 1))
  for (const [n, { event, from, update }] of UPDATES.entries()) {
    for (const state of ACTION_STATES) {
      const id = `act_${n}_${state}`
      await store.transact(() => actions.insertAction.run(anAction(id, { state })))
      const changed = await store.transact(() => update(id))
      const after = (await store.read(() => actions.findAction.first({ id })))?.state
      expect([event, state, changed, after]).toEqual(
        from.includes(state) ? [event, state, 1, AFTER[state][event]] : [event, state, 0, state],
      )
    }
  }
})

/** A store with the action `act_1`, just started for the first time. */
async function openStarted(open: () => Promise<TempStore>) {
  const temp = await open()
  await temp.store.transact(function* () {
    yield* principals.savePrincipal({ id: 'prn_ana', kind: 'person', name: 'Ana', roles: [] }, 1)
    yield* actions.insertAction.run(anAction('act_1', { state: 'approved' }))
    yield* attempts.startAction.change(intent('act_1'))
  })
  const row = () => temp.store.read(() => actions.findAction.first({ id: 'act_1' }))
  return { store: temp.store, row, [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose]() }
}

test.each(STORES)('I5 a settlement with the epoch of an earlier attempt changes nothing ($database)', async ({ open }) => {
  await using started = await openStarted(open)
  expect(await started.store.transact(() => settle('act_1', 'succeeded', 0))).toBe(0)
  expect(await started.row()).toMatchObject({ state: 'executing', epoch: 1, attempt: 1, runner: 'prc_1' })
})

test.each(STORES)('I5 an attempt begins only from the very row that was read: its revision and its epoch ($database)', async ({ open }) => {
  await using temp = await open()
  const { store } = temp
  await store.transact(() => principals.savePrincipal({ id: 'prn_ana', kind: 'person', name: 'Ana', roles: [] }, 1))
  for (const [n, [state, begin]] of [
    ['approved', attempts.startAction] as const,
    ['failed', attempts.retryAction] as const,
    ['outcome_unknown', attempts.resendAction] as const,
  ].entries()) {
    const id = `act_${n}`
    await store.transact(() => actions.insertAction.run(anAction(id, { state, revision: 2, epoch: 4 })))
    for (const read of [
      { revision: 1, epoch: 4 },
      { revision: 2, epoch: 3 },
      { revision: 2, epoch: 5 },
    ]) {
      expect(await store.transact(() => begin.change(intent(id, read)))).toBe(0)
    }
    expect(await store.transact(() => begin.change(intent(id, { revision: 2, epoch: 4 })))).toBe(1)
    expect(await store.transact(() => begin.change(intent(id, { revision: 2, epoch: 4 })))).toBe(0)
  }
})

test.each(STORES)(
  'I5 of several that take an attempt over one gets it, and the answer of its first owner is stale ($database)',
  async ({ open }) => {
    await using started = await openStarted(open)
    const { store } = started
    const takers = ['prc_2', 'prc_3', 'prc_4']
    const taken = await Promise.all(
      takers.map((runner) => store.transact(() => attempts.takeOverAction.change({ id: 'act_1', epoch: 1, runner }))),
    )
    expect(taken.toSorted()).toEqual([0, 0, 1])
    expect(await store.transact(() => settle('act_1', 'succeeded', 1))).toBe(0)
    expect(await started.row()).toMatchObject({ state: 'executing', epoch: 2, attempt: 1, runner: takers[taken.indexOf(1)] })
    expect(await store.transact(() => settle('act_1', 'succeeded', 2))).toBe(1)
    expect(await store.transact(() => attempts.takeOverAction.change({ id: 'act_1', epoch: 2, runner: 'prc_2' }))).toBe(0)
  },
)

test.each(STORES)('the database itself refuses two actions with one idempotency key ($database)', async ({ open }) => {
  await using temp = await open()
  const { store } = temp
  await store.transact(() => principals.savePrincipal({ id: 'prn_ana', kind: 'person', name: 'Ana', roles: [] }, 1))
  await store.transact(() => actions.insertAction.run(anAction('act_1', {})))
  const second = anAction('act_2', { idempotency_key: 'act_1.1' })
  await expect(store.transact(() => actions.insertAction.run(second))).rejects.toThrow(/unique.*idempotency_key/i)
})
