import type { Action } from '@countersign/client'
import { expect, test } from 'vitest'
import { byUrgency, isOrder, ORDERS, type Order } from './order.ts'

type Fields = Pick<Action, 'id' | 'expiresAt' | 'createdAt'> & Partial<Pick<Action, 'overdue'>> & { level: Action['risk']['level'] }

const row = ({ level, ...rest }: Fields) =>
  ({ overdue: false, ...rest, risk: { level, reasons: [], setBy: 'policy' } }) as unknown as Action

const order = (...rows: Fields[]) =>
  rows
    .map(row)
    .sort(byUrgency)
    .map((action) => action.id)

const created = '2026-11-21T12:00:00.000Z'

test('the nearest deadline stands first, and what has none last', () => {
  expect(
    order(
      { id: 'never', expiresAt: null, createdAt: created, level: 'critical' },
      { id: 'late', expiresAt: '2026-11-21T15:00:00.000Z', createdAt: created, level: 'critical' },
      { id: 'soon', expiresAt: '2026-11-21T13:00:00.000Z', createdAt: created, level: 'low' },
    ),
  ).toEqual(['soon', 'late', 'never'])
})

test('within the same minute the higher risk stands first, then what waits longer', () => {
  expect(
    order(
      { id: 'young', expiresAt: '2026-11-21T13:00:30.000Z', createdAt: '2026-11-21T12:00:09.000Z', level: 'medium' },
      { id: 'old', expiresAt: '2026-11-21T13:00:20.000Z', createdAt: '2026-11-21T12:00:01.000Z', level: 'medium' },
      { id: 'risky', expiresAt: '2026-11-21T13:00:50.000Z', createdAt: '2026-11-21T12:00:10.000Z', level: 'high' },
    ),
  ).toEqual(['risky', 'old', 'young'])
})

test('what is overdue stands above all else, among itself in the same order', () => {
  expect(
    order(
      { id: 'soon', expiresAt: '2026-11-21T13:00:00.000Z', createdAt: created, level: 'critical' },
      { id: 'overdue', expiresAt: null, createdAt: created, level: 'low', overdue: true },
      { id: 'overdue and soon', expiresAt: '2026-11-21T14:00:00.000Z', createdAt: created, level: 'low', overdue: true },
    ),
  ).toEqual(['overdue and soon', 'overdue', 'soon'])
})

test('each order puts what it names first', () => {
  const rows = [
    { id: 'a', expiresAt: '2026-11-21T13:00:00.000Z', createdAt: '2026-11-21T12:00:02.000Z', level: 'low' },
    { id: 'b', expiresAt: null, createdAt: '2026-11-21T12:00:01.000Z', level: 'critical' },
    { id: 'c', expiresAt: '2026-11-21T12:30:00.000Z', createdAt: '2026-11-21T12:00:03.000Z', level: 'low' },
  ] as const
  const orderBy = (name: Order) =>
    rows
      .map(row)
      .sort(ORDERS[name].compare)
      .map(({ id }) => id)
      .join('')
  expect(Object.fromEntries((['urgent', 'risk', 'oldest', 'newest'] as const).map((name) => [name, orderBy(name)]))).toEqual({
    urgent: 'cab',
    risk: 'bca',
    oldest: 'bac',
    newest: 'cab',
  })
  expect(['urgent', 'toString', null].map(isOrder)).toEqual([true, false, false])
})
