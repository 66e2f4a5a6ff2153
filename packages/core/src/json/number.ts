/**
 * Why a JSON number cannot be taken, or undefined when the double stands for it.
 *
 * The rule: between ±(2^53 − 1), and the double, printed with as many significant digits as the text has, prints the same digits.
 * So `0.1`, `1.50`, `2e-3` and `0.10000000000000001` (a double at 17 digits) pass; `9007199254740993`, `1e400`, `1e-400` and
 * `3.14159265358979323846` do not.
 *
 * @param text A number in JSON's syntax.
 * @param value What `Number(text)` gives.
 */
export function numberProblem(text: string, value: number): string | undefined {
  // Every double beyond this is an integer, and canonical JSON writes 1e20 as 100000000000000000000: one limit for both spellings.
  if (Math.abs(value) > Number.MAX_SAFE_INTEGER) return `the number ${shorten(text)} is beyond ±${Number.MAX_SAFE_INTEGER}`
  if (String(value) === text) return undefined
  const wanted = readDecimal(text)
  if (value === 0) return wanted.digits === '' ? undefined : `the number ${shorten(text)} is too close to zero to be kept`
  // 100 is the most that toPrecision prints; no program writes a double with more.
  if (wanted.digits.length <= 100) {
    const printed = readDecimal(value.toPrecision(wanted.digits.length))
    if (printed.digits === wanted.digits && printed.exponent === wanted.exponent) return undefined
  }
  return `the number ${shorten(text)} has more digits than can be kept`
}

const shorten = (text: string): string => (text.length <= 40 ? text : `${text.slice(0, 40)}…`)

/** The decimal as `0.digits × 10^exponent` without outer zeros, so that equal values read equal. */
function readDecimal(text: string): { digits: string; exponent: number } {
  const [mantissa = '', power = '0'] = text.replace(/^-/, '').toLowerCase().split('e', 2)
  const [whole = '', fraction = ''] = mantissa.split('.', 2)
  const all = whole + fraction
  // Loops, not /0+$/: that takes quadratic time on a hostile text.
  let start = 0
  while (all[start] === '0') start++
  let end = all.length
  while (end > start && all[end - 1] === '0') end--
  return { digits: all.slice(start, end), exponent: whole.length - start + Number(power) }
}
