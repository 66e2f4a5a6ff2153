import type { Principal } from '@countersign/client'
import { expect, test } from 'vitest'
import { queryOf } from './query.ts'

const ana: Principal = { id: 'prn_ana', kind: 'person', name: 'Ana', roles: [] }
const NOW = new Date(2026, 10, 26, 12).getTime()
const queryFor = (address: string) => queryOf(new URLSearchParams(address), ana, NOW)

test('the days of the address are those in which an action was settled, from the first midnight to the last one here', () => {
  expect(queryFor('since=2026-11-25&until=2026-11-26')).toMatchObject({
    settledAfter: new Date(2026, 10, 25).toISOString(),
    settledBefore: new Date(2026, 10, 27).toISOString(),
  })
  expect(queryFor('since=2026-11-25')).not.toHaveProperty('createdAfter')
  expect(queryFor('since=yesterday&until=')).toEqual(queryFor(''))
})

test('the order of the address is asked of the server; an unknown one is the newest first, as none', () => {
  const orders = ['newest', 'oldest', 'waited', 'risk', 'toString', ''].map((name) => queryFor(`order=${name}`).order)
  expect(orders).toEqual(['settled', 'settled_oldest', 'waited', 'risk', 'settled', 'settled'])
  expect(queryFor('group=tool')).toEqual(queryFor(''))
})

test('what was settled last is first, whatever is searched for', () => {
  for (const address of ['', 'since=2026-11-25', 'q=older:2h', 'state=failed']) expect(queryFor(address)).toHaveProperty('order', 'settled')
})

test('the age in a search is since an action was asked, as in the inbox', () => {
  expect(queryFor('q=older:2h')).toMatchObject({ createdBefore: new Date(NOW - 2 * 60 * 60_000).toISOString() })
  expect(queryFor('q=older:2h')).not.toHaveProperty('settledBefore')
})
