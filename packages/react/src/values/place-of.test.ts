import { expect, test } from 'vitest'
import { placeOf } from './place-of.ts'

const currency = (field: string, newValue: string, unverified?: true) => ({ field, newValue, ...(unverified && { unverified }) })
const besideAmount = (rows: { field: string; newValue: string; unverified?: true }[], field = 'amount') => {
  const row = { field, newValue: '1.50' }
  return placeOf(row, [row, ...rows], 'new').beside
}

test('the currency of an amount is a row of the same object, and never what somebody only says', () => {
  expect(besideAmount([currency('currency', 'EUR'), currency('order.currency', 'USD')])).toEqual([['currency', 'EUR']])
  expect(besideAmount([currency('currency', 'EUR'), currency('order.currency', 'USD')], 'order.amount')).toEqual([['currency', 'USD']])
  expect(besideAmount([currency('order.currency', 'EUR')])).toEqual([])
  expect(besideAmount([currency('currency', 'EUR', true)])).toEqual([])
  expect(besideAmount([currency('currency', 'EUR'), currency('Currency', 'USD'), currency('currency', 'JPY')])).toHaveLength(2)
})

test('a row may name its own currency', () => {
  const row = { field: 'order.limit', newValue: 1240, currency: 'EUR' }
  expect(placeOf(row, [row], 'new')).toMatchObject({ name: 'limit', currency: 'EUR' })
})

test('a preview of 10,000 rows is looked through once, not once for each row', () => {
  let reads = 0
  const rows = Array.from({ length: 10_000 }, (_, at) => ({
    get field() {
      reads++
      return at % 2 ? 'amount' : 'currency'
    },
    newValue: 'EUR',
  }))
  for (const row of rows) expect(placeOf(row, rows, 'new').beside).toHaveLength(2)
  expect(reads).toBeLessThan(100_000)
})
