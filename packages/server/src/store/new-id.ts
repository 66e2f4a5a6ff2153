import { randomFillSync } from 'node:crypto'
import { type IdPrefix, makeId } from '@countersign/core'

const BYTES_PER_ID = 16

// A system call for each id took 80 µs of a gated cycle, so 256 ids are drawn at a time.
const pool = new Uint8Array(256 * BYTES_PER_ID)
let used = pool.length
let fill: (bytes: Uint8Array) => void = randomFillSync

/** Draws further ids from `source`, for a reproducible simulation. */
export function drawIdsFrom(source: (bytes: Uint8Array) => void): void {
  fill = source
  used = pool.length
  salts = ''
  latest.clear()
}

/** Returns 16 random bytes, valid until the next call. */
function draw(): Uint8Array {
  if (used === pool.length) {
    fill(pool)
    used = 0
  }
  used += BYTES_PER_ID
  return pool.subarray(used - BYTES_PER_ID, used)
}

/** The newest id of each kind: its millisecond, and how many of that millisecond came before it. */
const latest = new Map<IdPrefix, { ms: number; before: number }>()
const MOST_OF_ONE_MS = 2 ** 15 - 1

/**
 * Returns a new id of its kind; see {@link makeId}. Ids that this process makes in one millisecond sort in the order of their making, up to
 * 32,768 of a kind: lists are sorted by id, and two calls in a row came into one millisecond on a fast machine.
 */
export function newId(prefix: IdPrefix, nowMs: number): string {
  const last = latest.get(prefix)
  // A transaction that began earlier may draw later, so an earlier millisecond counts on, too.
  const isLater = last === undefined || nowMs > last.ms
  const before = isLater ? 0 : Math.min(last.before + 1, MOST_OF_ONE_MS)
  latest.set(prefix, { ms: isLater ? nowMs : last.ms, before })
  const random = draw()
  // Each byte becomes a character of 5 bits.
  random[0] = before >> 10
  random[1] = (before >> 5) & 31
  random[2] = before & 31
  return makeId(prefix, nowMs, random)
}

/** Returns 32 unpredictable bytes. */
export const newSecret = (): Uint8Array => Uint8Array.from([...draw(), ...draw()])

const SALT_CHARACTERS = 22
let salts = ''

/** Returns 132 random bits as text: hashed together with a value, they prevent others from guessing the value by its hash. */
export function newSalt(): string {
  if (salts.length < SALT_CHARACTERS) {
    // Drawn in batches: formatting 16 bytes as text costs more than hashing with them.
    const bytes = new Uint8Array(3_960)
    fill(bytes)
    salts = Buffer.from(bytes).toString('base64url')
  }
  const salt = salts.slice(0, SALT_CHARACTERS)
  salts = salts.slice(SALT_CHARACTERS)
  return salt
}
