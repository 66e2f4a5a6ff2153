import { globSync, readFileSync } from 'node:fs'
import { ACTION_EVENTS, ACTION_STATES, type ActionEvent, type ActionState, AFTER, assert } from '@countersign/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { STORES, type TempStore } from '../../../../../verification/testing/temp-store.ts'
import type { Tx } from '../query.ts'
import { anAction } from '../testing/an-action.ts'
import { ENDED, startedBy } from '../testing/patches.ts'
import { afterMove, endUnstarted, type MovedAsRead, moveAction, startAtOnce } from './action-moves.ts'
import type { ActionRow } from './action-rows.ts'
import * as actions from './actions.ts'
import * as attempts from './attempts.ts'
import * as instance from './instance.ts'
import * as principals from './principals.ts'

/** Moves an action as it is now, and returns whether it moved. */
function* move(id: string, event: MovedAsRead, read: Partial<ActionRow> = {}): Tx<boolean> {
  const found = yield* actions.findAction.first({ id })
  assert(found, 'the action is there')
  const row = { ...found, ...read }
  const patch = { ...row, ...ENDED, ...(BEGINS.has(event) && startedBy(row, 'prc_1')) }
  return (yield* moveAction(row, event, patch, 2)) !== undefined
}
const BEGINS = new Set<ActionEvent>(['start', 'retry', 'resend'])

/** Which states each event moves an action from, written down a second time. That of `expire` needs a deadline: `deadlines.test.ts`. */
const FROM: Readonly<Record<ActionEvent, readonly ActionState[]>> = {
  approve: ['proposed'],
  decline: ['proposed'],
  expire: [],
  cancel: ['proposed', 'approved'],
  revise: ['proposed', 'approved', 'failed'],
  start: ['approved'],
  retry: ['failed'],
  resend: ['outcome_unknown'],
  succeed: ['executing', 'outcome_unknown'],
  fail: ['executing', 'outcome_unknown'],
  lose: ['executing'],
}

test.each(STORES)('an event moves an action from the states of the table, and from no other ($database)', async ({ open }) => {
  await using temp = await open()
  const { store } = temp
  await store.transact(() => principals.savePrincipal({ id: 'prn_ana', kind: 'person', name: 'Ana', roles: [] }, 1))
  for (const event of ACTION_EVENTS) {
    for (const state of ACTION_STATES) {
      const id = `act_${event}_${state}`
      await store.transact(() => actions.insertAction.run(anAction(id, { state })))
      const moved = await store.transact(function* () {
        if (event !== 'expire' && event !== 'cancel') return yield* move(id, event)
        return (yield* endUnstarted(id, event, { error: null, atAnyTime: false }, 2)) !== undefined
      })
      const after = (await store.read(() => actions.findAction.first({ id })))?.state
      const may = FROM[event].includes(state)
      expect([event, state, moved, after]).toEqual([event, state, may, may ? AFTER[state][event] : state])
    }
  }
})

test.each(STORES)('the row that a move answers is the row that the database has ($database)', async ({ open }) => {
  await using temp = await open()
  const { store } = temp
  await store.transact(() => principals.savePrincipal({ id: 'prn_ana', kind: 'person', name: 'Ana', roles: [] }, 1))
  for (const event of ACTION_EVENTS) {
    for (const state of FROM[event]) {
      const id = `act_${event}_${state}`
      await store.transact(() => actions.insertAction.run(anAction(id, { state, updated_at: 7 })))
      const [answered, stored] = await store.transact(function* () {
        const row = yield* actions.findAction.first({ id })
        assert(row, 'the action is there')
        const patch = { ...row, ...ENDED, ...(BEGINS.has(event) && startedBy(row, 'prc_1')) }
        const moved =
          event === 'expire' || event === 'cancel'
            ? yield* endUnstarted(id, event, { error: null, atAnyTime: false }, 9)
            : yield* moveAction(row, event, patch, 9)
        return [moved, yield* actions.findAction.first({ id })]
      })
      // The database computes the epoch of the installation, which nothing reads in the same transaction.
      const known = (row: ActionRow | undefined) => row && { ...row, instance_epoch: null }
      expect(known(answered), `${event} from ${state}`).toEqual(known(stored))
    }
  }
})

test.each(STORES)(
  'what ends an action by a clock that is behind is later than what another process wrote before ($database)',
  async ({ open }) => {
    await using temp = await open()
    const { store } = temp
    await store.transact(() => principals.savePrincipal({ id: 'prn_ana', kind: 'person', name: 'Ana', roles: [] }, 1))
    for (const event of ['expire', 'cancel'] as const) {
      for (const [now, at] of [
        [5, 7],
        [9, 9],
      ] as const) {
        const id = `act_${event}_${now}`
        // A deadline of long ago, by the clock of a database, too.
        await store.transact(() => actions.insertAction.run(anAction(id, { updated_at: 7, expires_at: event === 'expire' ? 1 : null })))
        const ended = await store.transact(() => endUnstarted(id, event, { error: null, atAnyTime: true }, now))
        expect(ended, id).toMatchObject({ updated_at: at, settled_at: at })
      }
    }
  },
)

/** Approves an action, as it was read, and starts it in the same update. Returns the action as it should be then; undefined when it is not. */
function* approveAndStart(read: ActionRow): Tx<ActionRow | undefined> {
  const approved = afterMove({ ...read, state: 'proposed' }, 'approve', { due_at: null, starts_at: null, expires_at: null }, 9)
  const started = afterMove(approved, 'start', { ...approved, ...startedBy(approved, 'prc_1') }, 10)
  return (yield* startAtOnce(read, started)) ? started : undefined
}

test.each(STORES)('an action that is approved and started at once is as after the two moves ($database)', async ({ open }) => {
  await using temp = await open()
  const { store } = temp
  await store.transact(() => principals.savePrincipal({ id: 'prn_ana', kind: 'person', name: 'Ana', roles: [] }, 1))
  for (const id of ['act_once', 'act_twice']) await store.transact(() => actions.insertAction.run(anAction(id, { idempotency_key: id })))
  const rowOf = (id: string) => actions.findAction.first({ id })
  const once = await store.transact(function* () {
    const read = yield* rowOf('act_once')
    assert(read, 'the action is there')
    return [yield* approveAndStart(read), yield* rowOf('act_once')]
  })
  const twice = await store.transact(function* () {
    const read = yield* rowOf('act_twice')
    const approved = read && (yield* moveAction(read, 'approve', { due_at: null, starts_at: null, expires_at: null }, 9))
    assert(approved, 'it is approved')
    yield* moveAction(approved, 'start', { ...approved, ...startedBy(approved, 'prc_1') }, 10)
    return yield* rowOf('act_twice')
  })
  expect(once[1]).toEqual({ ...twice, id: 'act_once', idempotency_key: 'act_once' })
  expect({ ...once[0], instance_epoch: null }).toEqual({ ...once[1], instance_epoch: null })
  expect(once[1]).toMatchObject({ state: 'executing', decided_at: 9, started_at: 10, attempt: 1 })
})

test.each(STORES)(
  'an action is approved and started at once only where it could be approved, and could be started ($database)',
  async ({ open }) => {
    await using temp = await open()
    const { store } = temp
    await store.transact(() => principals.savePrincipal({ id: 'prn_ana', kind: 'person', name: 'Ana', roles: [] }, 1))
    let made = 0
    const tryWith = async (is: Partial<ActionRow>, read: Partial<ActionRow> = {}) => {
      const id = `act_${++made}`
      await store.transact(() => actions.insertAction.run(anAction(id, is)))
      return store.transact(function* () {
        const row = yield* actions.findAction.first({ id })
        assert(row, 'the action is there')
        const started = yield* approveAndStart({ ...row, ...read })
        expect((yield* actions.findAction.first({ id }))?.state).toBe(started ? 'executing' : row.state)
        return started !== undefined
      })
    }
    expect(await tryWith({})).toBe(true)
    for (const state of ACTION_STATES) expect(await tryWith({ state }), state).toBe(state === 'proposed')
    expect(await tryWith({ revision: 2 }, { revision: 1 })).toBe(false)
    expect(await tryWith({ epoch: 2 }, { epoch: 1 })).toBe(false)
    expect(await tryWith({ archived_at: 3 })).toBe(false)
    expect(await tryWith({ expires_at: 5 })).toBe(false)
    await store.transact(() => instance.holdInstance.run({ why: 'restored', now: 20 }))
    expect(await tryWith({})).toBe(false)
    expect(await tryWith({ released_at: 30 })).toBe(true)
  },
)

/** The state after each event that {@link FROM} lets move, written down a second time. */
const TO: Readonly<Record<ActionEvent, ActionState>> = {
  approve: 'approved',
  decline: 'declined',
  expire: 'expired',
  cancel: 'cancelled',
  revise: 'proposed',
  start: 'executing',
  retry: 'executing',
  resend: 'executing',
  succeed: 'succeeded',
  fail: 'failed',
  lose: 'outcome_unknown',
}

test.each(STORES)(
  'whatever happens to an action in whatever order, it is where the table leads ($database)',
  async ({ open, database }) => {
    await using temp = await open()
    const { store } = temp
    await store.transact(() => principals.savePrincipal({ id: 'prn_ana', kind: 'person', name: 'Ana', roles: [] }, 1))
    let actionsMade = 0
    const events = fc.array(fc.constantFrom(...ACTION_EVENTS), { minLength: 1, maxLength: 25 })
    await fc.assert(
      fc.asyncProperty(events, async (sequence) => {
        const id = `act_${++actionsMade}`
        await store.transact(() => actions.insertAction.run(anAction(id, {})))
        let state: ActionState = 'proposed'
        let revision = 1
        let attempt = 0
        for (const event of sequence) {
          const may = FROM[event].includes(state)
          const moved = await store.transact(function* () {
            if (event !== 'expire' && event !== 'cancel') return yield* move(id, event)
            return (yield* endUnstarted(id, event, { error: null, atAnyTime: false }, 2)) !== undefined
          })
          expect([event, state, moved]).toEqual([event, state, may])
          if (!may) continue
          state = TO[event]
          if (event === 'revise') revision++
          if (state === 'executing') attempt++
        }
        const row = await store.read(() => actions.findAction.first({ id }))
        expect(row).toMatchObject({ state, revision, attempt, epoch: attempt })
      }),
      { numRuns: database === 'sqlite' ? 300 : 60 },
    )
  },
)

test('no statement but those of a transition writes the state of an action', () => {
  const folder = new URL('../../', import.meta.url)
  const writes = globSync('**/*.ts', { cwd: folder })
    .filter((path) => !path.endsWith('.test.ts'))
    .filter((path) => /updateTable\('action'\)(?:(?!\.where\()[\s\S])*\bstate:/.test(readFileSync(new URL(path, folder), 'utf8')))
  expect(writes).toEqual(['store/tables/action-moves.ts'])
})

/** A store with the action `act_1`, just started for the first time. */
async function openStarted(open: () => Promise<TempStore>) {
  const temp = await open()
  await temp.store.transact(function* () {
    yield* principals.savePrincipal({ id: 'prn_ana', kind: 'person', name: 'Ana', roles: [] }, 1)
    yield* actions.insertAction.run(anAction('act_1', { state: 'approved' }))
    yield* move('act_1', 'start')
  })
  const row = () => temp.store.read(() => actions.findAction.first({ id: 'act_1' }))
  return { store: temp.store, row, [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose]() }
}

test.each(STORES)('a settlement with the epoch of an earlier attempt changes nothing ($database)', async ({ open }) => {
  await using started = await openStarted(open)
  expect(await started.store.transact(() => move('act_1', 'succeed', { epoch: 0 }))).toBe(false)
  expect(await started.row()).toMatchObject({ state: 'executing', epoch: 1, attempt: 1, runner: 'prc_1' })
})

test.each(STORES)('an attempt begins only from the very row that was read: its revision and its epoch ($database)', async ({ open }) => {
  await using temp = await open()
  const { store } = temp
  await store.transact(() => principals.savePrincipal({ id: 'prn_ana', kind: 'person', name: 'Ana', roles: [] }, 1))
  for (const [state, event] of [
    ['approved', 'start'],
    ['failed', 'retry'],
    ['outcome_unknown', 'resend'],
  ] as const) {
    const id = `act_${state}`
    await store.transact(() => actions.insertAction.run(anAction(id, { state, revision: 2, epoch: 4 })))
    for (const read of [
      { revision: 1, epoch: 4 },
      { revision: 2, epoch: 3 },
      { revision: 2, epoch: 5 },
    ]) {
      expect(await store.transact(() => move(id, event, read))).toBe(false)
    }
    expect(await store.transact(() => move(id, event, { revision: 2, epoch: 4 }))).toBe(true)
    expect(await store.transact(() => move(id, event, { state, revision: 2, epoch: 4 }))).toBe(false)
  }
})

test.each(STORES)('an action that was redacted or archived is neither begun again nor asked again ($database)', async ({ open }) => {
  await using temp = await open()
  const { store } = temp
  await store.transact(() => principals.savePrincipal({ id: 'prn_ana', kind: 'person', name: 'Ana', roles: [] }, 1))
  for (const closed of ['redacted_at', 'archived_at'] as const) {
    const id = `act_${closed}`
    await store.transact(() => actions.insertAction.run(anAction(id, { state: 'failed', [closed]: 3 })))
    for (const event of ['retry', 'revise'] as const) {
      expect(await store.transact(() => move(id, event, { [closed]: null })), `${event} as it was before`).toBe(false)
    }
    expect(await store.read(() => actions.findAction.first({ id }))).toMatchObject({ state: 'failed', [closed]: 3 })
  }
})

test.each(STORES)(
  'of several that take an attempt over one gets it, and the answer of its first owner is stale ($database)',
  async ({ open }) => {
    await using started = await openStarted(open)
    const { store } = started
    const takers = ['prc_2', 'prc_3', 'prc_4']
    const row = await started.row()
    assert(row, 'the action is there')
    const takeOver = (runner: string, epoch: number) =>
      store.transact(function* () {
        return (yield* attempts.takeOverAction(row, { epoch: epoch + 1, runner }, { epoch })) !== undefined
      })
    const taken = await Promise.all(takers.map((runner) => takeOver(runner, 1)))
    expect(taken.toSorted()).toEqual([false, false, true])
    expect(await store.transact(() => move('act_1', 'succeed', { epoch: 1 }))).toBe(false)
    expect(await started.row()).toMatchObject({ state: 'executing', epoch: 2, attempt: 1, runner: takers[taken.indexOf(true)] })
    expect(await store.transact(() => move('act_1', 'succeed', { epoch: 2 }))).toBe(true)
    expect(await takeOver('prc_2', 2)).toBe(false)
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
