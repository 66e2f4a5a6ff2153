import { expect, test } from 'vitest'
import { createOverdue, type OverduePage } from './overdue.ts'

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
