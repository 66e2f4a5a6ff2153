/** A measured value as text: at most 15 digits, at most 6 of them behind the point, no exponent, written in one way only. */
const DECIMAL = /^-?(0|[1-9]\d*)(\.\d{0,5}[1-9])?$/
const MAX_DIGITS = 15
const PLACES = 6

/**
 * The text of a number as it is kept and reckoned with, or undefined for one that has too many digits. With 15 digits a number and its text
 * stand for each other exactly.
 * @example
 * decimalText(0.1) // '0.1'
 */
export function decimalText(value: number): string | undefined {
  const text = Object.is(value, -0) ? '0' : String(value)
  return DECIMAL.test(text) && text.replace(/\D/g, '').length <= MAX_DIGITS ? text : undefined
}

/** Millionths, as a whole number: what is reckoned with, because 0.1 + 0.2 is not 0.3. */
export function millionths(text: string): bigint {
  const [whole = '', fraction = ''] = text.split('.')
  return BigInt(whole + fraction.padEnd(PLACES, '0'))
}
