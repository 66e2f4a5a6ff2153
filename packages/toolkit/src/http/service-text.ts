import { type JsonValue, parseJson } from '@countersign/core'
import { isObject } from '@countersign/core/text'
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
 * `{message}`, `title`, or a plain text body; after it what a list in `detail`, `errors` or `message` says, as frameworks report invalid
 * values. One line, no invisible characters, at most 500 characters; undefined when there is none (or a web page).
 */
export function serviceMessage(body: JsonValue | undefined): string | undefined {
  const [detail, error, message] = [member(body, 'detail'), member(body, 'error'), member(body, 'message')]
  const main = [detail, together(error, message), member(error, 'message'), error, message, member(body, 'title'), body].find(isText)
  if (main !== undefined && /^\s*</.test(main)) return undefined
  const listed = [detail, member(body, 'errors'), message].flatMap(findings)
  // Django answers with nothing but the findings.
  const all = main === undefined && listed.length === 0 && isObject(body) && Object.values(body).every(isTextList) ? findings(body) : listed
  const start = main === undefined ? '' : withoutStop(main).slice(0, MAX_MESSAGE_CHARACTERS + 1)
  // Each has a character at least, so later ones would be cut off.
  const more = all.slice(0, MAX_MESSAGE_CHARACTERS).map(({ place, text }) => ({ place, text: withoutStop(text) }))
  const rest = more.filter(({ text }) => !start.includes(text)).map(({ place, text }) => `${place}${text}`)
  const line = [start, rest.join('; ')].filter((part) => part !== '').join(': ')
  if (line === '') return undefined
  return line.length > MAX_MESSAGE_CHARACTERS ? `${line.slice(0, MAX_MESSAGE_CHARACTERS - 1).toWellFormed()}…` : line
}

/** The text of `error` and `message`. Beside a message, some frameworks put only the status in words into `error`. */
const together = (error: JsonValue | undefined, message: JsonValue | undefined): string | undefined => {
  if (!isText(error) || !isText(message)) return undefined
  return message.includes(error) ? message : `${error}: ${message}`
}

/** A sentence about one value, and where the value is: empty, or with a colon at its end. */
interface Finding {
  place: string
  text: string
}

/** The findings in a list of sentences, a list of objects that have one, or an object with sentences for each field. */
function findings(said: JsonValue | undefined): Finding[] {
  if (isObject(said)) {
    return Object.entries(said).flatMap(([field, value]) => {
      const text = isTextList(value) ? value.map(withoutStop).join(', ') : value
      return isText(text) ? [{ place: `${oneLine(field)}: `, text }] : []
    })
  }
  if (!Array.isArray(said)) return []
  return said.flatMap((entry) => {
    if (isText(entry)) return [{ place: '', text: entry }]
    const text = ['detail', 'message', 'msg', 'title'].map((key) => member(entry, key)).find(isText)
    return text === undefined ? [] : [{ place: placeOf(entry), text }]
  })
}

function placeOf(entry: JsonValue): string {
  const place = ['loc', 'path', 'field'].map((key) => member(entry, key)).find((value) => isText(value) || Array.isArray(value))
  const parts = (Array.isArray(place) ? place : [place]).filter((part) => isText(part) || typeof part === 'number')
  return parts.length === 0 ? '' : `${oneLine(parts.join('.'))}: `
}

const isText = (value: JsonValue | undefined): value is string => typeof value === 'string' && value.trim() !== ''

const isTextList = (value: JsonValue | undefined): value is string[] => Array.isArray(value) && value.length > 0 && value.every(isText)

const oneLine = (text: string): string => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ').trim()

const withoutStop = (text: string): string => oneLine(text).replace(/\.$/, '')
