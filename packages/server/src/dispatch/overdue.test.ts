import { pino } from 'pino'
import { expect, test } from 'vitest'
import { manualClock } from '../../../../verification/testing/manual-clock.ts'
import { createUnconnectedApp } from '../../../../verification/testing/unconnected-app.ts'
import type { HttpDeps } from '../http/app.ts'
import { createOverdue, type OverduePage } from './overdue.ts'
import { createReconciler, type ReconcilerWork } from './reconciler.ts'

const row = (id: string, sinceMs = 0) => ({ id, sinceMs })

function open() {
  const list = createOverdue()
  const told: string[] = []
  const look = (page: Pick<OverduePage, 'due' | 'unattended'>, isLast = true) =>
    list.note({ ...page, isLast, isOverdue: ({ sinceMs }) => sinceMs === 0, tell: ({ id }) => told.push(id) })
  return { list, told, look }
}

test('work that was under way at the look before is not overdue at once, however long ago it became due', () => {
  const { list, told, look } = open()
  look({ due: [row('a')], unattended: [] })
  look({ due: [row('a')], unattended: [row('a')] })
  expect([told, list.count]).toEqual([[], 0])
  look({ due: [row('a')], unattended: [] })
  look({ due: [row('a')], unattended: [row('a')] })
  expect([told, list.count]).toEqual([[], 0])
  look({ due: [row('a')], unattended: [row('a')] })
  expect([told, list.count]).toEqual([['a'], 1])
})

test('overdue work is told once, and counts until it has begun', () => {
  const { list, told, look } = open()
  const both = { due: [row('a'), row('new', 5)], unattended: [row('a'), row('new', 5)] }
  for (let n = 0; n < 3; n++) look(both)
  expect([told, list.count, list.oldestSinceMs]).toEqual([['a'], 1, 0])
  look({ due: [row('new', 5)], unattended: [row('new', 5)] })
  look({ due: [row('new', 5)], unattended: [row('new', 5)] })
  expect([told, list.count, list.oldestSinceMs]).toEqual([['a'], 0, undefined])
})

test('with several pages, a look is a pass over all of them', () => {
  const { told, look } = open()
  const pass = () => {
    look({ due: [row('a')], unattended: [row('a')] }, false)
    look({ due: [row('b')], unattended: [row('b')] })
  }
  pass()
  expect(told).toEqual([])
  pass()
  expect(told).toEqual(['a', 'b'])
})

/** A reconciler over rows whose start fails again and again. */
function openReconciler(state: { hold: { why: string | undefined }; isAble: boolean; due: ReturnType<typeof row>[] }) {
  const clock = manualClock()
  const looks: Promise<unknown>[] = []
  const reconciler = createReconciler(clock, clock.after)
  reconciler.start({
    store: {
      read: async () => [
        { due: state.due, next: '' },
        { due: [], next: '' },
      ],
    },
    dispatch: {
      reconcile: async () => ({ unlocked: 0, enqueued: 0, unattended: { actions: [], sessions: [] } }),
      background: (look: Promise<unknown>) => looks.push(look),
    },
    log: pino({ level: 'silent' }),
    startingSinceMs: () => 0,
    isGivenUp: () => false,
    isAble: () => state.isAble,
    isHeld: () => state.hold.why !== undefined,
  } as unknown as ReconcilerWork)
  const look = async () => {
    clock.pass(3_000)
    await looks.pop()
  }
  return { clock, reconciler, look }
}

test('work that is late because the database was away has 10 seconds after its return', async () => {
  const state = { hold: { why: undefined }, isAble: true, due: [row('act_1')] }
  const { reconciler, look } = openReconciler(state)
  state.isAble = false
  for (let n = 0; n < 5; n++) await look()
  state.isAble = true
  for (let n = 0; n < 3; n++) await look()
  expect(reconciler.overdue.actions).toBe(0)
  await look()
  expect(reconciler.overdue.actions).toBe(1)
})

test('once everything is held nothing is overdue, and readyz says that it is held', async () => {
  const state = { hold: { why: undefined as string | undefined }, isAble: true, due: [row('act_1')] }
  const { hold } = state
  const { clock, reconciler, look } = openReconciler(state)
  const app = await createUnconnectedApp({
    ...{ reconciler, clock, hold, trouble: () => undefined, isStopping: () => false },
    store: { transact: async () => {}, health: { requireRoom() {} } },
    sealer: { status: {} },
  } as unknown as HttpDeps)
  const ready = async () => {
    const answer = await app.inject('/readyz')
    return answer.json().status
  }

  await look()
  await look()
  expect([reconciler.overdue.actions, await ready()]).toEqual([1, 503])
  hold.why = 'The database was promoted.'
  expect(await ready()).toBe('held')
  await look()
  expect(reconciler.overdue).toEqual({ actions: 0, sessions: 0, oldestSinceMs: undefined })

  // When the hold ends, the delayed actions have not had time to begin yet.
  hold.why = undefined
  await look()
  expect([reconciler.overdue.actions, await ready()]).toEqual([0, 'ok'])
  await look()
  expect([reconciler.overdue.actions, await ready()]).toEqual([1, 503])
  state.due = []
  await look()
  await look()
  expect([reconciler.overdue.actions, await ready()]).toEqual([0, 'ok'])
  await app.close()
})
