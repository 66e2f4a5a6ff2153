/** Names of amounts of money, by their last word. A discount, a tax or a fee may as well be a percentage. */
const MONEY_WORDS = 'amount price cost total subtotal balance budget salary refund deposit payment'.split(' ')
/** Names of quantities, which are grouped. A name that is not here may be an id, a code or a year. */
const QUANTITY_WORDS = [...MONEY_WORDS, ...'cents quantity qty count bytes tokens'.split(' ')]
/** Names of amounts in hundredths, the minor unit of most currencies. */
const HUNDREDTHS = ['cents', 'minor']
/** A double has 15 digits that are surely its own. */
const MAX_DIGITS = 15
const DECIMAL = /^-?(0|[1-9]\d*)(?:\.(\d+))?$/

/** Code of ISO 4217. `isDeclared`: the tool says that the value is an amount in it, in whole units where its name does not say that it counts cents. */
type Money = { lastWord: string; currency: string; isDeclared: boolean }

/**
 * An amount of money, where its unit is certain: a number or text with a fraction is in whole units, a whole number only where its name says
 * that it counts cents. `amount: 1240` may be €1,240.00 or €12.40, so it is none unless the tool has declared it.
 */
export function readMoney(value: unknown, { lastWord, currency, isDeclared }: Money, locale?: string): string | undefined {
  const digits = decimalOf(value)
  if (digits === undefined) return undefined
  const fraction = DECIMAL.exec(digits)?.[2] ?? ''
  // The code, not its sign: $ is another currency in another locale.
  const format = new Intl.NumberFormat(locale, { style: 'currency', currency, currencyDisplay: 'code' })
  const places = format.resolvedOptions().maximumFractionDigits ?? 0
  if (HUNDREDTHS.includes(lastWord)) {
    return places === 2 && typeof value === 'number' && fraction === '' ? format.format(shifted(digits)) : undefined
  }
  if (!isDeclared && (!MONEY_WORDS.includes(lastWord) || fraction === '')) return undefined
  // Text says every place; a number drops the zeros at its end.
  const isWhole = typeof value === 'string' && !isDeclared ? fraction.length === places : fraction.length <= places
  return isWhole ? format.format(digits as `${number}`) : undefined
}

/** A number of at least 1,000 whose name says that it is a quantity, with its digits grouped. */
export function readQuantity(value: unknown, lastWord: string, locale?: string): string | undefined {
  const digits = typeof value === 'number' && Math.abs(value) >= 1_000 && QUANTITY_WORDS.includes(lastWord) ? decimalOf(value) : undefined
  return digits === undefined ? undefined : new Intl.NumberFormat(locale, { maximumFractionDigits: 20 }).format(digits as `${number}`)
}

/** Returns the code where it is one of ISO 4217, in capitals. */
export function readCurrency(value: unknown): string | undefined {
  if (typeof value !== 'string' || !/^([A-Z]{3}|[a-z]{3})$/.test(value)) return undefined
  const code = value.toUpperCase()
  return Intl.supportedValuesOf('currency').includes(code) ? code : undefined
}

/** The digits of a number or of a text that is one, as they are written; undefined where a number may have lost some. */
function decimalOf(value: unknown): string | undefined {
  if (typeof value !== 'number' && typeof value !== 'string') return undefined
  const text = String(value)
  return DECIMAL.test(text) && text.replace(/\D/g, '').length <= MAX_DIGITS ? text : undefined
}

/** Whole cents as a decimal of whole units, with no arithmetic that could round. */
function shifted(cents: string): `${number}` {
  const [sign, digits] = cents.startsWith('-') ? ['-', cents.slice(1)] : ['', cents]
  const padded = digits.padStart(3, '0')
  return `${sign}${padded.slice(0, -2)}.${padded.slice(-2)}` as `${number}`
}
