import type { AuditRow } from '../store/index.ts'
import type { Head, HeadRef } from './head.ts'

/**
 * An exported record is lines of JSON: a start, then for each head its rows in the order of their places and the head itself, then a signed
 * end. Each line has exactly one valid spelling, so that a reader can detect any changed byte.
 */
export const FORMAT = 'countersign-audit/2'

/** The format of earlier exports: their rows do not name the row they follow, and their end does not state the remembered head. */
const EARLIER_FORMAT = 'countersign-audit/1'

/** A row of an export. `follows` is undefined in a file of the earlier format. */
export type ExportedRow = Omit<AuditRow, 'follows'> & { follows?: number | null }

/** The first line. */
export interface ExportStart {
  /** The format of the file. */
  format: typeof FORMAT | typeof EARLIER_FORMAT
  /** The key that signs the end of this file. */
  publicKey: string
  /** The time of the export, in epoch milliseconds like all times in it. */
  exportedAt: number
  /** The start of the requested period; null for everything. A file has complete heads, so it may hold somewhat more. */
  since: number | null
  /** The end of the requested period; null for everything. */
  until: number | null
}

/** The last line: it proves that nothing is missing before it. */
export interface ExportEnd {
  /** The number of rows. */
  rows: number
  /** The number of heads. */
  heads: number
  /** SHA-256 over all lines before, each with its line feed. */
  lines: string
  /** The same time as in the first line. */
  exportedAt: number
  /** Number and hash of the newest head that the server remembers; null without a memory. Absent in the earlier format. */
  remembered?: HeadRef | null
}

export const startLine = ({ format, publicKey, exportedAt, since, until }: ExportStart): string =>
  JSON.stringify({ format, publicKey, exportedAt, since, until })

/** @param data Canonical JSON; null where it was redacted. */
export const rowLine = (row: ExportedRow, data: string | null = row.data): string =>
  `{"id":${row.id},"scope":${JSON.stringify(row.scope)},"seq":${row.seq},${row.follows === undefined ? '' : `"follows":${row.follows},`}"at":${row.at},"kind":${JSON.stringify(row.kind)},"actor":${JSON.stringify(row.actor)},` +
  `"action":${JSON.stringify(row.action_id)},"data":${data},"salt":${JSON.stringify(row.salt)},"dataHash":${JSON.stringify(row.data_hash)},` +
  `"prev":${JSON.stringify(row.prev)},"hash":${JSON.stringify(row.hash)}}`

/**
 * Returns a head in the format of a file:
 * - `format`: 2. Absent in heads of earlier versions, whose `rowsHash` does not cover `follows`.
 * - `number`: The number of the head, from 1.
 * - `prev`: The hash of the head before.
 * - `at`: The time of the signature.
 * - `firstId`, `lastId`: The ids of the first and the last row.
 * - `rowCount`: The number of rows.
 * - `firstAt`, `lastAt`: The times of the earliest and the latest row.
 * - `rowsHash`: SHA-256 over one line `<id> <hash> <follows, or ->` for each row, in order.
 * - `gap`: The difference that a person accepted before this head: `kind`, the head `found`, the one `remembered`, `by` and `reason`; null in
 *   almost all.
 * - `key`: The public key of the signature.
 * - `hash`: SHA-256 over the canonical JSON of all fields above, in which a `gap` is a text of JSON.
 * - `signature`: The Ed25519 signature of the same text.
 */
export const headFields = (head: Head) => ({
  ...(head.format > 1 && { format: head.format }),
  number: head.number,
  prev: head.prev,
  at: head.at,
  firstId: head.first_id,
  lastId: head.last_id,
  rowCount: head.row_count,
  firstAt: head.first_at,
  lastAt: head.last_at,
  rowsHash: head.rows_hash,
  ...(head.format > 1 && { gap: head.gap === null ? null : JSON.parse(head.gap) }),
  key: head.key,
  hash: head.hash,
  signature: head.signature,
})

export const headLine = (head: Head): string => JSON.stringify({ head: headFields(head) })

/** Reads the output of {@link headFields}. Undefined when writing it again does not give the same text. */
export function readHead(text: string): Head | undefined {
  const line = readLine(text)
  return line && 'head' in line ? line.head : undefined
}

/** Returns the text that the signature of a file's end covers. */
export const endText = ({ rows, heads, lines, exportedAt, remembered }: ExportEnd): string =>
  JSON.stringify({ exportedAt, heads, lines, remembered, rows })

export const endLine = ({ rows, heads, lines, exportedAt, remembered }: ExportEnd, signature: string): string =>
  JSON.stringify({ end: { rows, heads, lines, exportedAt, remembered }, signature })

const DATA = ',"data":'
const SALT = ',"salt":'

/** The content of a line; undefined for one that no export writes. */
export type Line = { row: ExportedRow } | { head: Head } | { end: ExportEnd; signature: string } | { start: ExportStart }

/** Reads a line. Undefined when writing it again does not give the same bytes. */
export function readLine(text: string): Line | undefined {
  try {
    return parseLine(text)
  } catch {
    return undefined
  }
}

function parseLine(text: string): Line | undefined {
  const said = JSON.parse(text)
  if ('scope' in said) {
    const { id, scope, seq, follows, prev, at, kind, actor, action, salt, dataHash, hash } = said
    // The original bytes, because the row's hash covers them. No text in a line holds an unescaped quote.
    const data = said.data === null ? null : text.slice(text.indexOf(DATA) + DATA.length, text.lastIndexOf(SALT))
    const row: ExportedRow = { id, scope, seq, follows, prev, at, kind, actor, action_id: action, data, salt, data_hash: dataHash, hash }
    return rowLine(row) === text ? { row } : undefined
  }
  if ('head' in said) {
    const {
      format = 1,
      number,
      prev,
      at,
      firstId,
      lastId,
      rowCount,
      firstAt,
      lastAt,
      rowsHash,
      gap = null,
      key,
      hash,
      signature,
    } = said.head
    const head: Head = {
      ...{ number, prev, at, first_id: firstId, last_id: lastId, row_count: rowCount, first_at: firstAt, last_at: lastAt },
      ...{ rows_hash: rowsHash, key, hash, signature, format, gap: gap === null ? null : JSON.stringify(gap) },
    }
    return headLine(head) === text ? { head } : undefined
  }
  if ('end' in said) return endLine(said.end, said.signature) === text ? { end: said.end, signature: said.signature } : undefined
  const isOurs = said.format === FORMAT || said.format === EARLIER_FORMAT
  return isOurs && startLine(said) === text ? { start: said } : undefined
}
