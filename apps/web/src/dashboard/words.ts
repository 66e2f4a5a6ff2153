import { spanText } from '@countersign/react'
import type { Unit } from './figure.ts'

/** A number of a table, for people. */
export function valueText(value: number | null, unit: Unit): string {
  if (value === null) return unit === 'money' ? 'unknown' : '–'
  if (unit === 'money') return amountText(value)
  return unit === 'ms' ? spanText(value) : value.toLocaleString('en')
}

/** An amount without its currency. The call of a model costs fractions of a cent. */
export const amountText = (amount: number): string => amount.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 4 })
