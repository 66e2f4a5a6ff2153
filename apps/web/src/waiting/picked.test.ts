import type { Action } from '@countersign/client'
import { expect, test } from 'vitest'
import { ORDERS } from './order.ts'
import { pick } from './picked.ts'

const action = (at: number, changed: Partial<Action> = {}): Action =>
  ({
    id: `act_${String(at).padStart(5, '0')}`,
    createdAt: new Date(at * 1_000).toISOString(),
    expiresAt: null,
    overdue: false,
    risk: { level: 'low', reasons: [], setBy: 'policy' },
    ...changed,
  }) as Action

const picking = { isIn: ({ overdue }: Action) => !overdue, compare: ORDERS.urgent.compare }
const fresh = (items: readonly Action[]) => pick(undefined, items, picking).rows

test('whatever changes, the rows are those of a list that is made anew', () => {
  let items = Array.from({ length: 300 }, (_, at) => action(at, at % 7 === 0 ? { expiresAt: new Date(at * 90_000).toISOString() } : {}))
  let picked = pick(undefined, items, picking)
  const changes: ((items: Action[]) => Action[])[] = [
    (all) => [...all, action(300)],
    (all) => all.toSpliced(17, 1),
    (all) => all.with(40, action(40, { overdue: true })),
    (all) => all.with(40, action(40)).with(280, action(280, { risk: { level: 'critical', reasons: [], setBy: 'policy' } })),
    (all) => [action(-1, { expiresAt: new Date(0).toISOString() }), ...all],
    () => [],
    () => [action(5), action(6)],
    () => Array.from({ length: 100 }, (_, at) => action(100 - at)),
  ]
  for (const change of changes) {
    items = change([...items])
    picked = pick(picked, items, picking)
    expect(picked.rows).toEqual(fresh(items))
  }
})

test('one action that comes to ten thousand is compared with a few of them, not with all again', () => {
  const items = Array.from({ length: 10_000 }, (_, at) => action(at))
  let [asked, compared] = [0, 0]
  const counting = {
    isIn: (each: Action) => {
      asked++
      return picking.isIn(each)
    },
    compare: (one: Action, other: Action) => {
      compared++
      return picking.compare(one, other)
    },
  }
  const picked = pick(undefined, items, counting)
  asked = compared = 0
  const next = pick(picked, [...items, action(10_000)], counting)
  expect(next.rows).toHaveLength(10_001)
  expect(asked).toBe(1)
  expect(compared).toBeLessThan(20)
  expect(pick(next, next.items, counting)).toBe(next)
})
