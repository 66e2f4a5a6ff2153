/** The one currency of this shop. Every `…Cents` number is in it. */
export const CURRENCY = 'EUR'

const format = new Intl.NumberFormat('en-GB', { style: 'currency', currency: CURRENCY })

/**
 * Cents as people write them.
 * @example formatMoney(123450) // '€1,234.50'
 */
export const formatMoney = (cents: number): string => format.format(cents / 100)
