import { type JsonValue, parseJson } from '@countersign/core'
import { member } from './template.ts'

const MAX_MESSAGE_CHARACTERS = 500
/** The caller bounds the bytes; this only has to be out of the way (a byte that is not UTF-8 becomes three). */
const MAX_BYTES = 4_000_000

/** The body of an answer: JSON when it is strictly that (no duplicate keys, no unsafe numbers), else the text; undefined when empty. */
export function readBody(text: string): JsonValue | undefined {
  if (text.trim() === '') return undefined
  const parsed = parseJson(text, { maxBytes: MAX_BYTES })
  return parsed.ok ? parsed.value : text.toWellFormed()
}

/**
 * The service's own short sentence about a failure: the `detail` of a problem document, `{error}`, `{error: {message}}`, `{message}`,
 * `title`, or a plain text body. One line, no invisible characters, at most 500 characters; undefined when there is none (or a web page).
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

/** Headers whose value is a secret wherever it was taken from. */
const SECRET_HEADER = /auth|cookie|credential|key|password|secret|session|token/i
/** Shorter ones would blank out ordinary words of an answer. */
const MIN_SECRET_CHARACTERS = 6
const SCHEME = /^(basic|bearer|digest|apikey|token)$/i

/**
 * The texts that must never leave this process except in a route table's headers, longest first.
 * @param known Secrets by origin: what the configuration took from the environment. Headers that are secrets by their name are added.
 */
export function secretsOf(headers: Readonly<Record<string, string>>, known: readonly string[]): string[] {
  const values = Object.entries(headers).flatMap(([name, value]) => (SECRET_HEADER.test(name) ? [value.trim()] : []))
  const pieces = [...known, ...values].flatMap((value) => [value, ...value.split(/[\s;,]+/)])
  // Of `session=abc` the value is the secret; the name is an ordinary word.
  const found = pieces.flatMap((piece) => (/^[\w-]+=[^=]/.test(piece) ? [piece, piece.slice(piece.indexOf('=') + 1)] : [piece]))
  return [...new Set(found)]
    .filter((text) => text.length >= MIN_SECRET_CHARACTERS && !SCHEME.test(text))
    .sort((a, b) => b.length - a.length)
}

/** An answer without the secrets that its request carried: a service may echo headers into a body or an error. */
export function withoutSecrets(value: JsonValue, secrets: readonly string[]): JsonValue {
  if (typeof value === 'string') return secrets.reduce((text, secret) => text.replaceAll(secret, '[secret]'), value)
  if (value === null || typeof value !== 'object' || secrets.length === 0) return value
  if (Array.isArray(value)) return value.map((child) => withoutSecrets(child, secrets))
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [withoutSecrets(key, secrets), withoutSecrets(child, secrets)]))
}
