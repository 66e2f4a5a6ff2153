/** The one currency of this shop. Every `…Cents` number is in it. */
export const CURRENCY = 'EUR'

// Made when it is first used: it takes 30 ms of the start.
let format: Intl.NumberFormat | undefined

/**
 * Cents as people write them.
 * @example formatMoney(123450) // '€1,234.50'
 */
export function formatMoney(cents: number): string {
  format ??= new Intl.NumberFormat('en-GB', { style: 'currency', currency: CURRENCY })
  return format.format(cents / 100)
}
