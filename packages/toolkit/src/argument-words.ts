import type { JsonObject, JsonValue } from '@countersign/core'

/** The maximum lengths of one name or value and of all of them in a headline. The card shows the full arguments elsewhere. */
const MAX_VALUE = 80
const MAX_ARGUMENTS = 240

/**
 * Returns the arguments of a call as they stand in its headline, and how many more there are. Empty without arguments.
 * @example
 * argumentWords({ table: 'users', cascade: true }) // 'table "users", cascade true'
 */
export function argumentWords(args: JsonObject): string {
  const all = Object.entries(args).map(([key, value]) => `${cutWords(key)} ${valueWords(value)}`)
  const kept: string[] = []
  let room = MAX_ARGUMENTS
  for (const words of all) {
    room -= words.length + 2
    if (room < 0 && kept.length > 0) break
    kept.push(words)
  }
  const more = all.length - kept.length
  return [...kept, ...(more > 0 ? [`and ${more} more`] : [])].join(', ')
}

/** Returns the value as JSON, so that strings differ from other values and each ends where its quotes end. */
const valueWords = (value: JsonValue): string => cutWords(JSON.stringify(value))

/** Returns the text as it fits into a headline beside others. */
export const cutWords = (text: string): string => (text.length <= MAX_VALUE ? text : `${text.slice(0, MAX_VALUE).toWellFormed()}…`)
