import { createHash } from 'node:crypto'
import type { AuditHeadRow, audit } from '../store/index.ts'
import type { AuditKey } from './key.ts'
import { sha256 } from './row.ts'

export type Head = AuditHeadRow
type Unsigned = Omit<Head, 'hash' | 'signature'>

/** Number and hash of a head: enough to recognise it and all heads before it. Number 0 and an empty hash mean that there is none. */
export type HeadRef = Pick<Head, 'number' | 'hash'>

export const NO_HEAD: HeadRef = { number: 0, hash: '' }

export const refOf = (head: HeadRef | undefined): HeadRef => (head ? { number: head.number, hash: head.hash } : NO_HEAD)

export const isSameHead = (a: HeadRef, b: HeadRef): boolean => a.number === b.number && a.hash === b.hash

/** The format of the heads that this version signs. */
export const HEAD_FORMAT = 2

/** A gap that a person accepted: the record before this head differs from the one that the server remembered. */
export interface HeadGap {
  /** `behind`: newer heads were missing. `changed`: sealed data was modified. */
  kind: 'behind' | 'changed'
  /** The newest head that was in the database. */
  found: HeadRef
  /** The newest head that the server remembered. */
  remembered: HeadRef
  /** Id of the person who accepted it, or `system` for the command line. */
  by: string
  reason: string
}

export const gapOf = ({ gap }: Pick<Head, 'gap'>): HeadGap | undefined => (gap === null ? undefined : JSON.parse(gap))

/** Returns the text that is signed: the canonical JSON of a head. */
export const headText = (head: Unsigned): string =>
  JSON.stringify({
    at: head.at,
    firstAt: head.first_at,
    firstId: head.first_id,
    ...(head.format >= HEAD_FORMAT && { format: head.format, gap: head.gap }),
    key: head.key,
    lastAt: head.last_at,
    lastId: head.last_id,
    number: head.number,
    prev: head.prev,
    rowCount: head.row_count,
    rowsHash: head.rows_hash,
  })

export const headHashOf = (head: Unsigned): string => sha256(headText(head))

/** Returns the number of the head after `before`, and the hash that it continues from. */
function nextOf(before: HeadRef, gap: Pick<HeadGap, 'found' | 'remembered'> | undefined): { number: number; prev: string } {
  // After a gap, numbering continues after all heads that are known to have been signed, so that no number is used twice.
  const last = gap && gap.remembered.number >= gap.found.number ? gap.remembered : before
  return { number: last.number + 1, prev: last.hash }
}

/** Returns true when a head continues from `before`: directly, or over a gap that was accepted with it. */
export function follows(head: Head, before: HeadRef): boolean {
  const gap = gapOf(head)
  const { number, prev } = nextOf(before, gap)
  return head.number === number && head.prev === prev && (gap === undefined || isSameHead(gap.found, before))
}

/** Characters. */
const MAX_PENDING = 16_384

/** Creates a digest over short lines, which it batches: a call for each line costs more than hashing it. */
function createLineDigest() {
  const digest = createHash('sha256')
  let lines = ''
  return {
    add(line: string): void {
      lines += line
      if (lines.length <= MAX_PENDING) return
      digest.update(lines)
      lines = ''
    },
    end: (): string => digest.update(lines).digest('base64url'),
  }
}

/** Sums up rows, in the order of their places, into the fields of a head. */
export function createTally() {
  const plain = createLineDigest()
  const linked = createLineDigest()
  const seen = { rowCount: 0, firstId: 0, lastId: 0, firstAt: Number.POSITIVE_INFINITY, lastAt: 0 }
  return {
    add({ id, at, hash, follows: place }: audit.SealedRow): void {
      plain.add(`${id} ${hash}\n`)
      linked.add(`${id} ${hash} ${place ?? '-'}\n`)
      if (seen.rowCount++ === 0) seen.firstId = id
      seen.lastId = id
      seen.firstAt = Math.min(seen.firstAt, at)
      seen.lastAt = Math.max(seen.lastAt, at)
    },
    get rowCount() {
      return seen.rowCount
    },
    /** Call it once, last. @param format Of the head that it is for. */
    end: (format: number) => ({
      first_id: seen.firstId,
      last_id: seen.lastId,
      row_count: seen.rowCount,
      first_at: seen.firstAt,
      last_at: seen.lastAt,
      rows_hash: (format >= HEAD_FORMAT ? linked : plain).end(),
    }),
  }
}

/**
 * Returns the head over the rows of a tally.
 * @param after The head before it, and the gap that was accepted between the two.
 */
export function makeHead(
  tally: ReturnType<typeof createTally>,
  { before, gap }: { before: HeadRef | undefined; gap?: HeadGap | undefined },
  key: AuditKey,
  nowMs: number,
): Head {
  const unsigned = {
    ...nextOf(before ?? NO_HEAD, gap),
    ...tally.end(HEAD_FORMAT),
    ...{ at: nowMs, key: key.publicKey, format: HEAD_FORMAT, gap: gap ? JSON.stringify(gap) : null },
  }
  const text = headText(unsigned)
  return { ...unsigned, hash: sha256(text), signature: key.sign(text) }
}
