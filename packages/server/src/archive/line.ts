import { createHash } from 'node:crypto'

/**
 * A file of the archive is lines of JSON: `{"hash":"<64 hex digits>","line":<body>}`. A hash covers the hash of the line before and the
 * bytes of the body, so a line cannot be changed, left out, added or moved without every later hash telling. The first line of a file goes
 * on from the last one of the file before; the very first goes on from `NO_HASH`.
 */
export const NO_HASH = '0'.repeat(64)

const BEFORE_HASH = '{"hash":"'
const BEFORE_BODY = '","line":'
const BODY_AT = BEFORE_HASH.length + NO_HASH.length + BEFORE_BODY.length

export const hashOf = (previous: string, body: string): string => createHash('sha256').update(`${previous}\n${body}`).digest('hex')

/** One line, without its end. */
export const sealLine = (hash: string, body: string): string => `${BEFORE_HASH}${hash}${BEFORE_BODY}${body}}`

/** The hash and the body of a line, as they stand there; undefined when it is none. */
export function openLine(text: string): { hash: string; body: string } | undefined {
  const hash = text.slice(BEFORE_HASH.length, BEFORE_HASH.length + NO_HASH.length)
  const body = text.slice(BODY_AT, -1)
  return text.startsWith(BEFORE_HASH) && text.endsWith('}') && sealLine(hash, body) === text ? { hash, body } : undefined
}

export const FORMAT = 'countersign-archive/1'

/** The first line of a file. */
export interface FileHead {
  format: typeof FORMAT
  /** Which database it comes from. */
  database: string
  /** Its place among the files of that database, from 1. */
  file: number
  /** The hash that it goes on from. */
  previous: string
  archivedAt: string
}

/** The last line: behind it nothing is missing. */
export interface FileEnd {
  end: true
  /** Lines between the first and this one. */
  rows: number
  sessions: number
}
