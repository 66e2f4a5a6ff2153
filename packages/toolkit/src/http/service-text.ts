import { type JsonValue, parseJson } from '@countersign/core'
import { member } from './template.ts'

const MAX_MESSAGE_CHARACTERS = 500
/** The caller bounds the bytes; this only has to be out of the way (a byte that is not UTF-8 becomes three). */
const MAX_BYTES = 4_000_000

/**
 * The body of an answer: JSON when it is strictly that (no duplicate keys), with the text of a number that no double stands for, such as an
 * id of 64 bits; else the text; undefined when empty.
 */
export function readBody(text: string): JsonValue | undefined {
  if (text.trim() === '') return undefined
  const parsed = parseJson(text, { maxBytes: MAX_BYTES, keepsNumbers: true })
  return parsed.ok ? parsed.value : text.toWellFormed()
}

/**
 * Returns the service's own short sentence about a failure: the `detail` of a problem document, `{error}`, `{error: {message}}`,
 * `{message}`, `title`, or a plain text body. One line, no invisible characters, at most 500 characters; undefined when there is none (or a
 * web page).
 */
export function serviceMessage(body: JsonValue | undefined): string | undefined {
  const error = member(body, 'error')
  const said = [member(body, 'detail'), error, member(error, 'message'), member(body, 'message'), member(body, 'title'), body]
  const text = said.find((value) => typeof value === 'string')
  if (text === undefined || /^\s*</.test(text)) return undefined
  const line = text
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim()
    .replace(/\.$/, '')
  if (line === '') return undefined
  return line.length > MAX_MESSAGE_CHARACTERS ? `${line.slice(0, MAX_MESSAGE_CHARACTERS - 1).toWellFormed()}…` : line
}
