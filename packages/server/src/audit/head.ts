import { createHash } from 'node:crypto'
import type { AuditHeadRow, AuditRow } from '../store/index.ts'
import type { AuditKey } from './key.ts'
import { sha256 } from './row.ts'

export type Head = AuditHeadRow

/** What is signed: the canonical JSON of a head. */
export const headText = (head: Omit<Head, 'hash' | 'signature'>): string =>
  JSON.stringify({
    at: head.at,
    firstAt: head.first_at,
    firstId: head.first_id,
    key: head.key,
    lastAt: head.last_at,
    lastId: head.last_id,
    number: head.number,
    prev: head.prev,
    rowCount: head.row_count,
    rowsHash: head.rows_hash,
  })

export const headHashOf = (head: Omit<Head, 'hash' | 'signature'>): string => sha256(headText(head))

/** Characters. */
const MAX_PENDING = 16_384

/** Adds up rows in the order of their places to what a head says of them. */
export function createTally() {
  const digest = createHash('sha256')
  let lines = ''
  const seen = { rowCount: 0, firstId: 0, lastId: 0, firstAt: Number.POSITIVE_INFINITY, lastAt: 0 }
  return {
    add({ id, at, hash }: Pick<AuditRow, 'id' | 'at' | 'hash'>): void {
      lines += `${id} ${hash}\n`
      // A call for each line costs more than hashing it.
      if (lines.length > MAX_PENDING) {
        digest.update(lines)
        lines = ''
      }
      if (seen.rowCount++ === 0) seen.firstId = id
      seen.lastId = id
      seen.firstAt = Math.min(seen.firstAt, at)
      seen.lastAt = Math.max(seen.lastAt, at)
    },
    get rowCount() {
      return seen.rowCount
    },
    /** Call once, last. */
    end: () => ({
      first_id: seen.firstId,
      last_id: seen.lastId,
      row_count: seen.rowCount,
      first_at: seen.firstAt,
      last_at: seen.lastAt,
      rows_hash: digest.update(lines).digest('base64url'),
    }),
  }
}

/** The head over what a tally has seen, behind the head before it. */
export function makeHead(tally: ReturnType<typeof createTally>, before: Head | undefined, key: AuditKey, nowMs: number): Head {
  const unsigned = { number: (before?.number ?? 0) + 1, prev: before?.hash ?? '', at: nowMs, ...tally.end(), key: key.publicKey }
  const text = headText(unsigned)
  return { ...unsigned, hash: sha256(text), signature: key.sign(text) }
}
