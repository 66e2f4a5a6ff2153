import type { AuditRow } from '../store/index.ts'
import type { Head } from './head.ts'

/**
 * An exported record is lines of JSON: what it is, then for each head its rows in the order of their places and the head itself, then a
 * signed end. Each line is written in one way only, so that whoever reads it can say whether a byte of it was changed.
 */
export const FORMAT = 'countersign-audit/1'

/** A row as it is taken along. Where the one before it stands in the database is said by its hash. */
export type ExportedRow = Omit<AuditRow, 'follows'>

/** The first line. */
export interface ExportStart {
  format: typeof FORMAT
  /** Whose signature the end of this file has. */
  publicKey: string
  /** Epoch milliseconds, as all times in it. */
  exportedAt: number
  /** What was asked for; null for all. A file has whole heads: somewhat more than that. */
  since: number | null
  until: number | null
}

/** The last line: nothing is missing before it. */
export interface ExportEnd {
  rows: number
  heads: number
  /** SHA-256 over all lines before, each with its line feed. */
  lines: string
  exportedAt: number
}

export const startLine = ({ format, publicKey, exportedAt, since, until }: ExportStart): string =>
  JSON.stringify({ format, publicKey, exportedAt, since, until })

/** @param data Canonical JSON; null where it was redacted. */
export const rowLine = (row: ExportedRow, data: string | null = row.data): string =>
  `{"id":${row.id},"scope":${JSON.stringify(row.scope)},"seq":${row.seq},"at":${row.at},"kind":${JSON.stringify(row.kind)},"actor":${JSON.stringify(row.actor)},` +
  `"action":${JSON.stringify(row.action_id)},"data":${data},"salt":${JSON.stringify(row.salt)},"dataHash":${JSON.stringify(row.data_hash)},` +
  `"prev":${JSON.stringify(row.prev)},"hash":${JSON.stringify(row.hash)}}`

export const headLine = (head: Head): string =>
  JSON.stringify({
    head: {
      number: head.number,
      prev: head.prev,
      at: head.at,
      firstId: head.first_id,
      lastId: head.last_id,
      rowCount: head.row_count,
      firstAt: head.first_at,
      lastAt: head.last_at,
      rowsHash: head.rows_hash,
      key: head.key,
      hash: head.hash,
      signature: head.signature,
    },
  })

/** What the end of a file is signed by. */
export const endText = ({ rows, heads, lines, exportedAt }: ExportEnd): string => JSON.stringify({ exportedAt, heads, lines, rows })

export const endLine = ({ rows, heads, lines, exportedAt }: ExportEnd, signature: string): string =>
  JSON.stringify({ end: { rows, heads, lines, exportedAt }, signature })

const DATA = ',"data":'
const SALT = ',"salt":'

/** What a line of a file says; undefined for one that no export writes. */
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
    const { id, scope, seq, prev, at, kind, actor, action, salt, dataHash, hash } = said
    // As it stands there: the row's hash is over these very bytes. No text in a line holds an unescaped quote.
    const data = said.data === null ? null : text.slice(text.indexOf(DATA) + DATA.length, text.lastIndexOf(SALT))
    const row: ExportedRow = { id, scope, seq, prev, at, kind, actor, action_id: action, data, salt, data_hash: dataHash, hash }
    return rowLine(row) === text ? { row } : undefined
  }
  if ('head' in said) {
    const { number, prev, at, firstId, lastId, rowCount, firstAt, lastAt, rowsHash, key, hash, signature } = said.head
    const head: Head = {
      ...{ number, prev, at, first_id: firstId, last_id: lastId, row_count: rowCount, first_at: firstAt, last_at: lastAt },
      ...{ rows_hash: rowsHash, key, hash, signature },
    }
    return headLine(head) === text ? { head } : undefined
  }
  if ('end' in said) return endLine(said.end, said.signature) === text ? { end: said.end, signature: said.signature } : undefined
  return said.format === FORMAT && startLine(said) === text ? { start: said } : undefined
}
