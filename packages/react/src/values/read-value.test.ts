import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readValue } from './read-value.ts'

const EN = { locale: 'en-GB', timeZone: 'Europe/Berlin' }
const read = (value: unknown, name = '', beside: [string, unknown][] = []) => readValue(value, { name, beside }, EN)?.text
const inEuro = (value: unknown, name = 'amount') => read(value, name, [['currency', 'EUR']])

test('a time with its zone is shown in the zone of the reader, and a day is the same day everywhere', () => {
  expect(read('2026-11-28T13:30:00Z')).toBe('28 Nov 2026, 14:30:00 CET')
  expect(read('2026-07-01T23:30:00.5-02:00')).toBe('2 Jul 2026, 03:30:00 CEST')
  expect(read('2026-11-28')).toBe('Sat, 28 Nov 2026')
  expect(readValue('2026-11-28', { name: '' }, { locale: 'de-DE', timeZone: 'Pacific/Kiritimati' })?.text).toBe('Sa., 28. Nov. 2026')
  expect(read(1_764_336_600, 'expires_at')).toBe('28 Nov 2025, 14:30:00 CET')
  expect(read(1_764_336_600_000, 'data.createdAt')).toBe('28 Nov 2025, 14:30:00 CET')
})

test.each([
  '2026-11-28T13:30:00',
  '2026-02-30',
  '2026-02-30T10:00:00Z',
  '2026-11-28T24:00:00Z',
  '2026-11-28T23:59:60Z',
  '2026-11-28T13:30:00+99:00',
  '28/11/2026',
  '11-12-2026',
  '20261128',
  '0026-11-28',
  'on 2026-11-28',
  '2026-11-28 ',
  '２０２６-11-28',
  '٢٠٢٦-11-28',
  '\u202e2026-11-28',
  '2026‑11‑28',
])('%j names no certain day or moment: it stays text', (text) => {
  expect(read(text, 'createdAt')).toBeUndefined()
})

test('an amount is money where its unit is certain: it has a fraction, or its name says that it counts cents', () => {
  expect(inEuro('1240.50')).toBe('EUR\u00a01,240.50')
  expect(inEuro(1240.5, 'order.unitPrice')).toBe('EUR\u00a01,240.50')
  expect(inEuro(-124_050, 'amount_in_cents')).toBe('-EUR\u00a01,240.50')
  expect(inEuro(5, 'priceCents')).toBe('EUR\u00a00.05')
  // Whole euros or cents: nobody knows.
  expect(inEuro(1240)).toBe('1,240')
  expect(inEuro('1240')).toBeUndefined()
  expect(inEuro('1240.5')).toBeUndefined()
  expect(inEuro('1240.505')).toBeUndefined()
  expect(inEuro(1240.505)).toBe('1,240.505')
  expect(inEuro('1.240,50')).toBeUndefined()
  expect(inEuro(12.5, 'discount')).toBeUndefined()
  // The yen has no hundredths.
  expect(read(124_050, 'amountCents', [['currency', 'JPY']])).toBe('124,050')
})

test('an amount of which the tool names the currency is money whatever it is called, in whole units unless it is called cents', () => {
  const declared = (value: unknown, name: string, currency = 'EUR') =>
    readValue(value, { name, currency, beside: [['currency', 'USD']] }, EN)?.text
  expect(declared(1240, 'limit')).toBe('EUR\u00a01,240.00')
  expect(declared('12.5', 'fee')).toBe('EUR\u00a012.50')
  expect(declared(124_050, 'cents')).toBe('EUR\u00a01,240.50')
  expect(declared(1240, 'limit', 'JPY')).toBe('JPY\u00a01,240')
  for (const value of [12.505, '1.240,50', 'a lot', null, true, [12]]) expect(declared(value, 'fee')).toBeUndefined()
  // What is no currency says nothing.
  expect(declared(12.5, 'fee', 'euros')).toBeUndefined()
  expect(declared(12.5, 'amount', 'euros')).toBe('USD\u00a012.50')
})

test('an amount has a currency only where exactly one stands in the same object, as a code of ISO 4217', () => {
  const amount = (...beside: [string, unknown][]) => read('10.00', 'amount', beside)
  expect(amount(['currency_code', 'usd'])).toBe('USD\u00a010.00')
  expect(amount(['currencyCode', 'USD'])).toBe('USD\u00a010.00')
  for (const beside of [
    [],
    [['currency', 'EURO']],
    [['currency', 'Eur']],
    [['currency', 'QQQ']],
    [['currency', 978]],
    [['currency', 'ЕUR']],
    [['currenсy', 'EUR']],
    [['priceCurrency', 'EUR']],
    [
      ['currency', 'EUR'],
      ['Currency', 'USD'],
    ],
  ] as [string, unknown][][]) {
    expect(amount(...beside)).toBeUndefined()
  }
})

test.each([
  'id',
  'orderId',
  'year',
  'zipCode',
  'accountNumber',
  'countryCode',
  'version',
  'port',
  'phone',
  'token',
  'totalId',
  'аmount',
  'amount\u200b',
  '',
])('a number in %j keeps its digits as they are: it may be an id, a code or a year', (name) => {
  for (const value of [1234, 2026, 1240.5, 1_764_336_600, 1_764_336_600_000]) expect(read(value, name)).toBeUndefined()
})

const names = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('amount', 'amountCents', 'createdAt', 'count', 'id', 'value', 'unit_price', 'price\u202e'),
)
/** Values that are made to look like others: digits of other scripts, marks that turn the direction, spaces, signs. */
const disguised = fc
  .tuple(
    fc.constantFrom('2026-11-28', '2026-11-28T13:30:00Z', '1240.50', '1240', '1764336600'),
    fc.constantFrom('\u202e', '\u200b', '\u2066', '\u200f', ' ', '\u00a0', '٣', '３', '𝟑', '−', ',', 'e3', '\u0301', '\n', '+'),
    fc.nat(30),
  )
  .map(([text, odd, at]) => text.slice(0, at % (text.length + 1)) + odd + text.slice(at % (text.length + 1)))
const CURRENCIES: [string, unknown][][] = [[], [['currency', 'EUR']], [['currency', 'JPY']], [['currency', 'KWD']]]
const besides = fc.constantFrom(...CURRENCIES)
const locales = fc.constantFrom('en-GB', 'en-US', 'de-DE', 'de-CH', 'fr-FR', 'en-IN', 'ar-EG', 'fa-IR', 'th-TH', 'ja-JP', 'he-IL')

test('no text with anything but the characters of a plain number, day or time is ever read, whatever its name', () => {
  fc.assert(
    fc.property(fc.oneof(disguised, fc.string({ unit: 'binary' })), names, besides, locales, (value, name, beside, locale) => {
      const reading = readValue(value, { name, beside }, { locale })
      if (reading !== undefined) expect(value).toMatch(/^(-?\d+\.\d+|\d{4}-\d\d-\d\d(T[\d:.]+(Z|[+-]\d\d:\d\d))?)$/)
    }),
    { numRuns: 2_000 },
  )
})

/** The number that a text of `Intl` says, from its digits in whatever script. */
function numberIn(text: string, locale: string): string {
  const digits = new Map(Array.from({ length: 10 }, (_, at) => [new Intl.NumberFormat(locale, { useGrouping: false }).format(at), `${at}`]))
  const decimal = new Intl.NumberFormat(locale).formatToParts(1.5).find(({ type }) => type === 'decimal')?.value
  const isMinus = /[-\u2212]/.test(text)
  const plain = [...text].map((char) => digits.get(char) ?? (char === decimal ? '.' : '')).join('')
  return (isMinus ? '-' : '') + plain
}

test('a reading of a number has exactly the value that is stored: nothing is rounded, in no locale', () => {
  const values = fc.oneof(
    fc.integer(),
    fc.maxSafeInteger(),
    fc.double({ noNaN: true }),
    fc.tuple(fc.integer(), fc.nat(999)).map(([whole, part]) => whole + part / 1_000),
    fc.tuple(fc.maxSafeInteger(), fc.stringMatching(/^\d{1,4}$/)).map(([whole, part]) => `${whole}.${part}`),
  )
  const counted = fc.constantFrom('amount', 'priceCents', 'count', 'amount_minor', 'tokens')
  fc.assert(
    fc.property(values, counted, besides, locales, (value, name, beside, locale) => {
      const reading = readValue(value, { name, beside }, { locale })
      if (reading === undefined || reading.iso !== undefined) return
      const isMoney = beside.length > 0 && /EUR|JPY|KWD/.test(reading.text)
      const said = numberIn(reading.text.replace(/EUR|JPY|KWD/, ''), locale)
      // Two places, without the point: as many cents.
      expect(Number(isMoney && /cents|minor/i.test(name) ? said.replace('.', '') : said)).toBe(Number(value))
    }),
    { numRuns: 3_000 },
  )
})

test('a reading of a time is the stored moment, to the second, in every zone', () => {
  const zones = fc.constantFrom('UTC', 'Asia/Kathmandu', 'America/St_Johns', 'Pacific/Apia')
  const offsets = fc.tuple(fc.integer({ min: -14 * 60, max: 14 * 60 }), fc.integer({ min: Date.UTC(1900, 0), max: Date.UTC(2200, 0) }))
  fc.assert(
    fc.property(offsets, zones, ([offset, ms], timeZone) => {
      const sign = offset < 0 ? '-' : '+'
      const [hours, minutes] = [Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60].map((part) => `${part}`.padStart(2, '0'))
      const value = `${new Date(ms + offset * 60_000).toISOString().slice(0, 19)}${sign}${hours}:${minutes}`
      const seconds = Math.floor(ms / 1_000) * 1_000
      const reading = readValue(value, { name: '' }, { locale: 'en-US', timeZone })
      expect(reading?.text).toBe(new Date(seconds).toLocaleString('en-US', { dateStyle: 'medium', timeStyle: 'long', timeZone }))
      expect(Date.parse(reading?.iso ?? '')).toBe(seconds)
    }),
  )
})
