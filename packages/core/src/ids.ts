import { assert } from './errors.ts'

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

/** The kinds of id and their prefixes. */
export type IdPrefix =
  | 'ses'
  | 'msg'
  | 'run'
  | 'act'
  | 'key'
  | 'prn'
  | 'prc'
  | 'con'
  | 'call'
  | 'gra'
  | 'del'
  | 'obj'
  | 'kre'
  | 'och'
  | 'whk'
  | 'evt'
  | 'emb'
  | 'psh'

/**
 * An id that sorts by time of making: prefix, 9 characters of time, 16 of randomness (80 bits).
 * @param nowMs Epoch milliseconds.
 * @param random At least 16 random bytes; core knows no source of randomness itself.
 * @throws Error when a caller breaks either promise: a weak id would look like a good one.
 * @example
 * makeId('act', Date.now(), crypto.getRandomValues(new Uint8Array(16))) // 'act_01k9f3v7qs4m…'
 */
export function makeId(prefix: IdPrefix, nowMs: number, random: Uint8Array): string {
  assert(Number.isSafeInteger(nowMs) && nowMs >= 0, 'nowMs is whole milliseconds')
  assert(random.length >= 16, 'an id has 16 random bytes')
  let time = ''
  for (let rest = nowMs, i = 0; i < 9; i++, rest = Math.floor(rest / 32)) time = ALPHABET[rest % 32] + time
  let tail = ''
  for (let i = 0; i < 16; i++) tail += ALPHABET[(random[i] ?? 0) & 31]
  return `${prefix}_${time}${tail}`
}
