import { spanText } from '@countersign/react'
import type { Unit } from './figure.ts'

/** A number of a table, for people. */
export function valueText(value: number | null, unit: Unit): string {
  if (value === null) return '–'
  return unit === 'ms' ? spanText(value) : value.toLocaleString('en')
}
