import type { Action } from '@countersign/client'
import { isCurrencyName, type Place } from './read-value.ts'

type Row = NonNullable<Action['preview']>[number]

/** Rows that name a currency, by the object of which they are a member. Two of one object are as many as matter: then nobody knows which one counts. */
const found = new WeakMap<readonly Row[], ReadonlyMap<string, Row[]>>()

/**
 * Where the value of a row stands. The rows of one object have names that are alike up to their last dot: `order.amount` and `order.currency`. A
 * preview of 10,000 rows is looked through once.
 */
export function placeOf(row: Row, rows: readonly Row[], side: 'old' | 'new'): Place {
  const currencies = found.get(rows) ?? currenciesOf(rows)
  found.set(rows, currencies)
  const object = objectOf(row.field)
  const beside = currencies.get(object) ?? []
  return { name: nameOf(row.field), currency: row.currency, beside: beside.map((other) => [nameOf(other.field), other[`${side}Value`]]) }
}

function currenciesOf(rows: readonly Row[]): ReadonlyMap<string, Row[]> {
  const currencies = new Map<string, Row[]>()
  for (const row of rows) {
    const { field, unverified } = row
    if (unverified || !isCurrencyName(nameOf(field))) continue
    const known = currencies.get(objectOf(field)) ?? []
    if (known.length < 2) currencies.set(objectOf(field), [...known, row])
  }
  return currencies
}

const objectOf = (field: string): string => field.slice(0, field.lastIndexOf('.') + 1)
const nameOf = (field: string): string => field.slice(field.lastIndexOf('.') + 1)
