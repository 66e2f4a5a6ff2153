import type { JsonObject, JsonValue } from '@countersign/core'
import { wordsOf } from '@countersign/toolkit/internal'

/** The maximum lengths of one value and of all of them in a headline. The card shows the full arguments elsewhere. */
const MAX_VALUE = 80
const MAX_ARGUMENTS = 240

/**
 * Returns a call in words, from the arguments that it is made with. A title comes from the server: if it differs from the name, the name is
 * added, so that no title hides which tool is called.
 * @example
 * callWords({ name: 'drop_table', title: '' }, { table: 'users', cascade: true }) // 'Drop table: table "users", cascade true'
 * callWords({ name: 'drop_table', title: 'Tidy up' }, {}) // 'Tidy up (drop_table)'
 */
export function callWords({ name, title }: { name: string; title: string }, args: JsonObject): string {
  const said = argumentWords(args)
  return `${heading(name, title)}${said === '' ? '' : `: ${said}`}`
}

function heading(name: string, title: string): string {
  const plain = wordsOf(name)
  const words = wordsOf(title)
  if (words.length > 0 && words.join(' ') !== plain.join(' ')) return `${cut(title.trim(), MAX_VALUE)} (${name})`
  const text = plain.join(' ')
  return text === '' ? name : text.charAt(0).toUpperCase() + text.slice(1)
}

function argumentWords(args: JsonObject): string {
  const all = Object.entries(args).map(([key, value]) => `${cut(key, MAX_VALUE)} ${valueWords(value)}`)
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
const valueWords = (value: JsonValue): string => cut(JSON.stringify(value), MAX_VALUE)

const cut = (text: string, max: number): string => (text.length <= max ? text : `${text.slice(0, max).toWellFormed()}…`)
