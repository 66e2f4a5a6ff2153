import type { JsonValue } from '@countersign/core'

/** The replacement of a secret. */
export const REDACTED = '[redacted]'

/** Headers whose value is a secret wherever it was taken from. */
const SECRET_HEADER = /auth|cookie|credential|key|password|secret|session|token/i
/** Shorter ones would blank out ordinary words of an answer. */
const MIN_SECRET_CHARACTERS = 6
const SCHEME = /^(basic|bearer|digest|apikey|token)$/i

/** The values in these headers that are secrets by the name of their header. */
export const secretHeaders = (headers: Readonly<Record<string, string>>): string[] =>
  Object.entries(headers).flatMap(([name, value]) => (SECRET_HEADER.test(name) ? [value.trim()] : []))

/**
 * Removes the secrets of this process from incoming data. It runs where an answer arrives, before anything reads it: in calls of tools, on
 * events of models, before a line of the log is written. So a removed secret is nowhere after that: not in the database, an event, a card,
 * an error or a model's history.
 */
export interface Redactor {
  text(text: string): string
  /** Keys and values. The value itself where it holds no secret. */
  json(value: JsonValue): JsonValue
  /** For a text that comes in pieces: holds back what may be the beginning of a secret. */
  pieces(): { take(piece: string): string; end(): string }
}

/**
 * @param secrets Values as they were configured. Each is known in the spellings an echo may have: as it is, its parts (of `Bearer abc`:
 *   `abc`), inside JSON, inside an address, in base64. One that has fewer than 6 characters is not looked for.
 * @example
 * createRedactor(['Bearer abc-123']).text('you sent abc-123') // 'you sent [redacted]'
 */
export function createRedactor(secrets: readonly string[]): Redactor {
  const known = spellings(secrets)
  const longest = known[0]?.length ?? 0

  const text = (given: string): string => known.reduce((left, secret) => left.replaceAll(secret, REDACTED), given)
  const json = (value: JsonValue): JsonValue => {
    if (typeof value === 'string') return text(value)
    if (value === null || typeof value !== 'object' || known.length === 0) return value
    if (Array.isArray(value)) return value.map(json)
    return Object.fromEntries(Object.entries(value).map(([key, child]) => [text(key), json(child)]))
  }
  const heldFrom = (given: string): number => {
    for (let at = Math.max(0, given.length - longest + 1); at < given.length; at++) {
      const tail = given.slice(at)
      if (known.some((secret) => secret.startsWith(tail))) return at
    }
    return given.length
  }
  return {
    text,
    json,
    pieces() {
      let held = ''
      return {
        take(piece) {
          const whole = text(held + piece)
          const from = heldFrom(whole)
          held = whole.slice(from)
          return whole.slice(0, from)
        },
        end() {
          const rest = held
          held = ''
          return rest
        },
      }
    },
  }
}

/** Longest first, so that of a secret inside another the whole goes. */
function spellings(secrets: readonly string[]): string[] {
  const parts = secrets.flatMap((value) => [value, ...value.split(/[\s;,]+/)])
  // Of `session=abc` the value is the secret; the name is an ordinary word.
  const values = parts.flatMap((part) => (/^[\w-]+=[^=]/.test(part) ? [part, part.slice(part.indexOf('=') + 1)] : [part]))
  const wanted = [...values, ...secrets.flatMap(ofBasic)].filter((value) => value.length >= MIN_SECRET_CHARACTERS && !SCHEME.test(value))
  const found = wanted.flatMap((value) => [
    value,
    JSON.stringify(value).slice(1, -1),
    encodeURIComponent(value.toWellFormed()),
    Buffer.from(value).toString('base64').replace(/=+$/, ''),
    Buffer.from(value).toString('base64url'),
  ])
  return [...new Set(found)].sort((a, b) => b.length - a.length)
}

/** The name and password in a `Basic` header, together and the password alone. */
function ofBasic(value: string): string[] {
  const encoded = /^basic\s+([\w+/=-]+)$/i.exec(value.trim())?.[1]
  if (encoded === undefined) return []
  const pair = Buffer.from(encoded, 'base64').toString()
  return [pair, pair.slice(pair.indexOf(':') + 1)]
}
