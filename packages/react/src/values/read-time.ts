/** How a moment or a day reads to one person. `iso` is the same for machines. */
export type TimeReading = { text: string; iso: string }

/** RFC 3339 with its offset: without one, nobody knows which moment it is. */
const MOMENT = /^(\d{4}-\d\d-\d\d)T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/
const DAY = /^\d{4}-\d\d-\d\d$/
/** Names of members that hold a moment, by their last word: `createdAt`, `expires_at`, `timestamp`. */
const MOMENT_WORDS = ['at', 'timestamp', 'expires', 'until']
// From 2001 to 2286. The two ranges do not meet, so the unit of a number in one of them is known.
const isSeconds = (value: number): boolean => value >= 1e9 && value < 1e10
const isMilliseconds = (value: number): boolean => value >= 1e12 && value < 1e13

/** @param locale Default: the reader's. */
export type Reader = { locale?: string; timeZone?: string }

/** A moment with its zone, or a day without one; undefined for every text that could mean another moment or day somewhere else. */
export function readTimeText(text: string, reader: Reader): TimeReading | undefined {
  const date = MOMENT.exec(text)?.[1] ?? (DAY.test(text) ? text : undefined)
  // Engines take 30 February for 2 March. Years before 1000 would be shown with fewer digits.
  if (date === undefined || date < '1000' || !isDay(date)) return undefined
  return date === text ? { text: dayText(text, reader), iso: text } : { text: momentText(Date.parse(text), reader), iso: text }
}

/** Seconds or milliseconds since 1970, where the name of the member says that it is a moment. */
export function readEpoch(value: number, lastWord: string, reader: Reader): TimeReading | undefined {
  if (!MOMENT_WORDS.includes(lastWord) || !Number.isInteger(value)) return undefined
  const ms = isSeconds(value) ? value * 1_000 : isMilliseconds(value) ? value : undefined
  return ms === undefined ? undefined : { text: momentText(ms, reader), iso: new Date(ms).toISOString() }
}

const isDay = (date: string): boolean => {
  const ms = Date.parse(`${date}T00:00:00Z`)
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(date)
}

// With the zone: the value may have been written in another one.
const momentText = (ms: number, { locale, timeZone }: Reader): string =>
  new Date(ms).toLocaleString(locale, { dateStyle: 'medium', timeStyle: 'long', timeZone })

// A day is the same day for everybody.
const dayText = (date: string, { locale }: Reader): string =>
  new Date(date).toLocaleDateString(locale, { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' })
