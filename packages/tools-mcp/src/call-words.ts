import type { JsonObject } from '@countersign/core'
import { argumentWords, cutWords, wordsOf } from '@countersign/toolkit/internal'

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
  if (words.length > 0 && words.join(' ') !== plain.join(' ')) return `${cutWords(title.trim())} (${name})`
  const text = plain.join(' ')
  return text === '' ? name : text.charAt(0).toUpperCase() + text.slice(1)
}
