import { readCurrency, readMoney, readQuantity } from './read-number.ts'
import { type Reader, readEpoch, readTimeText } from './read-time.ts'

/** How a value reads in one person's language. `iso` is set for a time. */
export type Reading = { text: string; iso?: string }

/**
 * Where a value stands: the name of its member, and the other members of the same object, or those of them that name a currency. `currency`: the
 * tool itself says that the value is an amount in it.
 */
export type Place = { name: string; currency?: string | undefined; beside?: readonly (readonly [name: string, value: unknown])[] }

/**
 * How a date, a time, an amount of money or a large quantity reads to a person; undefined for every value that could mean something else. The
 * card shows the value as it is stored beside each reading, so a reading never stands in for it.
 *
 * Nothing is guessed: a time needs its zone, an amount needs a currency of its own, or one in the same object and a unit that is certain, and a number is grouped
 * only where its name says that it is a quantity. Only ASCII is read, so no mark or digit that looks like another one gets a reading.
 * @param reader Default: the locale and time zone of the browser.
 * @example
 * readValue('1240.50', { name: 'amount', beside: [['currency', 'EUR']] }) // { text: 'EUR 1,240.50' }
 * readValue(1240, { name: 'orderId' }) // undefined
 */
export function readValue(value: unknown, { name, currency: declared, beside = [] }: Place, reader: Reader = {}): Reading | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined
  const lastWord = lastWordOf(name)
  const time = typeof value === 'string' ? readTimeText(value, reader) : readEpoch(value, lastWord, reader)
  if (time) return time
  const ofTool = readCurrency(declared)
  const currency = ofTool ?? currencyOf(beside)
  const { locale } = reader
  const money = currency && readMoney(value, { lastWord, currency, isDeclared: ofTool !== undefined }, locale)
  const text = money ?? readQuantity(value, lastWord, locale)
  return text === undefined || text === String(value) ? undefined : { text }
}

/** `unitPrice`, `unit_price` and `lines[1].unit price` end with the word `price`. Empty for a name that is not ASCII: it may look like another one. */
const lastWordOf = (name: string): string =>
  /^[\x20-\x7e]*$/.test(name)
    ? (name
        .split(/[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])/)
        .findLast((word) => word !== '')
        ?.toLowerCase() ?? '')
    : ''

export const isCurrencyName = (name: string): boolean => /^currency([ _]?code)?$/i.test(name.trim())

/** The one currency of an object. With two of them, nobody knows whose currency it is. */
function currencyOf(members: readonly (readonly [string, unknown])[]): string | undefined {
  const [first, ...others] = members.filter(([name]) => isCurrencyName(name))
  return first && others.length === 0 ? readCurrency(first[1]) : undefined
}
