export const ORDER_STATUSES = ['pending', 'processing', 'shipped', 'cancelled'] as const
export type OrderStatus = (typeof ORDER_STATUSES)[number]

const STATUS_WORDS: Record<OrderStatus, string> = {
  pending: 'pending',
  processing: 'process|processed|processing|in progress',
  shipped: 'ship|shipped|shipping|dispatch|dispatched|send out|sent out',
  cancelled: 'cancel|cancels|canceled|cancelled|cancelling|canceling|call off|abort',
}

const ALL_STATUS_WORDS = Object.values(STATUS_WORDS).join('|')

/** The status a word stands for: `ship`, `dispatched` → shipped. */
export const statusOf = (word: string): OrderStatus | undefined =>
  ORDER_STATUSES.find((status) => STATUS_WORDS[status].split('|').includes(word))

/** Matches one status word; its text is the whole match. */
export const statusPattern = (): RegExp => new RegExp(`\\b(?:${ALL_STATUS_WORDS})\\b`, 'g')

const UP_TO_TWENTY =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty'.split(
    ' ',
  )
const NUMBER_WORDS = new Map<string, number>([
  ...UP_TO_TWENTY.map((word, value): [string, number] => [word, value]),
  ['a', 1],
  ['an', 1],
  ['single', 1],
  ['couple', 2],
  ['pair', 2],
  ['both', 2],
  ['dozen', 12],
  ['thirty', 30],
  ['forty', 40],
  ['fifty', 50],
  ['hundred', 100],
])

/** The number a word means (`3`, `three`, `a`, `dozen`), or undefined. */
export const numberOf = (word: string): number | undefined => (/^\d{1,6}$/.test(word) ? Number(word) : NUMBER_WORDS.get(word))

/** A pattern for every word {@link numberOf} knows. */
export const NUMBER_PATTERN = `\\d{1,6}|${[...NUMBER_WORDS.keys()].join('|')}`

/** `ORD-001, ORD-002 and ORD-003`. */
export const listWords = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
