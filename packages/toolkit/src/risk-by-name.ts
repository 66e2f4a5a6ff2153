import type { Effect, Tool } from '@countersign/core'

/** Words that say in any place of a name that something goes for good, is taken from somebody, or costs money. */
const HIGH = new Set(
  [
    ['delete', 'remove', 'destroy', 'purge', 'drop', 'erase', 'wipe', 'truncate', 'uninstall'],
    ['ban', 'lock', 'void', 'reject', 'expire', 'close', 'disable', 'deactivate', 'revoke', 'cancel', 'suspend', 'terminate', 'shutdown'],
    ['refund', 'transfer', 'pay', 'payment', 'payout', 'charge', 'purchase', 'withdraw'],
  ]
    .flat()
    .flatMap((word) => [word, `${word}s`]),
)

/** Words that are a thing as often as a deed: they count where a deed stands, at the start of a name or of a part of it. */
const HIGH_AT_START = new Set(['order', 'block', 'kill', 'reset', 'clear'])

/** The known facts about a tool before anybody classified it. */
export interface Named {
  name: string
  effect: Effect
  /** The HTTP method, where a call is one request. */
  method?: string | undefined
  /** The tool's title from its source. */
  title?: string | undefined
}

/**
 * The risk of a tool that neither its source nor the configuration gives one: high where its method or a word of its name says that it
 * takes something away or spends money. Undefined for reads, and for names without a hint: that is medium.
 * @example
 * riskByName({ name: 'users.ban', effect: 'write' }) // { level: 'high', reason: 'its name says “ban”', isGuess: true }
 * riskByName({ name: 'reorderTasks', effect: 'write' }) // undefined
 */
export function riskByName({ name, effect, method, title = '' }: Named): Tool['risk'] {
  if (effect === 'read') return undefined
  if (method === 'DELETE') return { level: 'high', reason: 'it is a DELETE', isGuess: true }
  const word = highWordIn(name)
  if (word !== undefined) return { level: 'high', reason: `its name says “${word}”`, isGuess: true }
  const inTitle = highWordIn(title)
  return inTitle === undefined ? undefined : { level: 'high', reason: `its title says “${inTitle}”`, isGuess: true }
}

/** The first word of a name that says high risk. */
const highWordIn = (name: string): string | undefined =>
  name
    .split(/[./:]+/)
    .flatMap((part) => wordsOf(part).filter((word, at) => HIGH.has(word) || (at === 0 && HIGH_AT_START.has(word))))
    .at(0)

/**
 * The words of a name in lower case: `dropTable`, `drop_table`, `DROP-TABLE` and `Drop table` are all `drop`, `table`.
 * @example
 * wordsOf('postHTTPRequest2') // ['post', 'http', 'request', '2']
 */
export const wordsOf = (name: string): string[] =>
  (name.match(/\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+|\p{N}+|\p{Lo}+/gu) ?? []).map((word) => word.toLowerCase())
