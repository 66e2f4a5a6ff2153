const SECONDS = /^\d+(?:\.\d+)?$/
/** Any of the forms of an HTTP date. `Date.parse` alone reads `-5` as a day. */
const DATE = /^[A-Z][a-z]{2,8},? [\w :-]+$/

type Headers = Readonly<Record<string, string | string[] | undefined>>

/**
 * Returns how long the answer asks clients to wait, in milliseconds and at least 0; undefined when its `Retry-After` is absent or no time. A
 * date is compared with the answer's own `Date`, so that a wrong clock here changes nothing. The caller caps it: a hostile service asks
 * for years.
 * @param nowMs For an answer without a `Date`.
 * @example
 * readRetryAfter({ 'retry-after': '30' }, Date.now()) // 30_000
 */
export function readRetryAfter(headers: Headers, nowMs: number): number | undefined {
  const after = textOf(headers['retry-after'])
  if (SECONDS.test(after)) return Math.ceil(Number(after) * 1_000)
  const until = dateOf(after)
  return until === undefined ? undefined : Math.max(0, until - (dateOf(textOf(headers.date)) ?? nowMs))
}

const textOf = (value: string | string[] | undefined): string => (typeof value === 'string' ? value.trim() : '')

function dateOf(text: string): number | undefined {
  const ms = DATE.test(text) ? Date.parse(text.endsWith('GMT') ? text : `${text} GMT`) : Number.NaN
  return Number.isNaN(ms) ? undefined : ms
}

/** Says it to a person or a model, as a sentence; an empty text when nothing was asked. */
export function retryAfterWords(waitMs: number | undefined): string {
  if (waitMs === undefined || waitMs === 0) return ''
  const seconds = Math.ceil(waitMs / 1_000)
  if (seconds > 86_400) return ' It asks not to be called again for more than a day.'
  return ` It asks not to be called again for ${seconds < 120 ? `${seconds} s` : `${Math.ceil(seconds / 60)} minutes`}.`
}
