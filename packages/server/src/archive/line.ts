import { createHash } from 'node:crypto'

/**
 * A file of the archive is lines of JSON: `{"hash":"<64 hex digits>","line":<body>}`. A hash covers the hash of the previous line and the
 * bytes of the body, so changing, removing, adding or moving a line invalidates every later hash. The first line of a file continues from
 * the last one of the previous file; the very first one from `NO_HASH`.
 */
export const NO_HASH = '0'.repeat(64)

const BEFORE_HASH = '{"hash":"'
const BEFORE_BODY = '","line":'
const BODY_AT = BEFORE_HASH.length + NO_HASH.length + BEFORE_BODY.length

export const hashOf = (previous: string, body: string): string => createHash('sha256').update(`${previous}\n${body}`).digest('hex')

/** Formats one line, without its end. */
export const sealLine = (hash: string, body: string): string => `${BEFORE_HASH}${hash}${BEFORE_BODY}${body}}`

/** Returns the hash and the body of a line, verbatim; undefined for an invalid line. */
export function openLine(text: string): { hash: string; body: string } | undefined {
  const hash = text.slice(BEFORE_HASH.length, BEFORE_HASH.length + NO_HASH.length)
  const body = text.slice(BODY_AT, -1)
  return text.startsWith(BEFORE_HASH) && text.endsWith('}') && sealLine(hash, body) === text ? { hash, body } : undefined
}

export const FORMAT = 'countersign-archive/1'

/** The first line of a file. */
export interface FileHead {
  format: typeof FORMAT
  /** The database that it comes from. */
  database: string
  /** Its position among the files of that database, from 1. */
  file: number
  /** The hash that it continues from. */
  previous: string
  archivedAt: string
}

/** The last line: it proves that nothing is missing before it. */
export interface FileEnd {
  end: true
  /** Lines between the first and this one. */
  rows: number
  sessions: number
}
