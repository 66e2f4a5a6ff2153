import { createHash } from 'node:crypto'
import { canonicalJson } from '@countersign/core'
import { createTally, type Head, makeHead } from '../../packages/server/src/audit/head.ts'
import type { AuditKey } from '../../packages/server/src/audit/key.ts'
import {
  type ExportEnd,
  type ExportedRow,
  endLine,
  endText,
  headLine,
  readLine,
  rowLine,
  startLine,
} from '../../packages/server/src/audit/line.ts'
import { dataHashOf, rowHashOf } from '../../packages/server/src/audit/row.ts'

/** The means of somebody who wants to falsify an exported record: the file, a key of their own, and all our code. */
export interface Tamperer {
  lines: readonly string[]
  ownKey: AuditKey
  /** A whole number below `below`. */
  pick(below: number): number
}

/** Ways to change a record. Each answers other lines than it was given. */
export const TAMPERS: Record<string, (by: Tamperer) => string[]> = {
  'flip a bit': ({ lines, pick }) => {
    const at = pick(lines.length)
    const bytes = Buffer.from(lines[at] ?? '')
    const byte = pick(bytes.length)
    bytes[byte] = (bytes[byte] ?? 0) ^ (1 << pick(7))
    return lines.with(at, bytes.toString()).flatMap((line) => line.split('\n'))
  },
  'drop a line': ({ lines, pick }) => lines.toSpliced(pick(lines.length), 1),
  'say a line twice': ({ lines, pick }) => {
    const at = pick(lines.length)
    return lines.toSpliced(pick(lines.length), 0, lines[at] ?? '')
  },
  'change places': ({ lines, pick }) => {
    const at = pick(lines.length - 1)
    return lines.with(at, lines[at + 1] ?? '').with(at + 1, lines[at] ?? '')
  },
  'move a line': ({ lines, pick }) => {
    const from = pick(lines.length)
    const to = (from + 1 + pick(lines.length - 2)) % lines.length
    return lines.toSpliced(from, 1).toSpliced(to, 0, lines[from] ?? '')
  },
  'cut the end off': ({ lines, pick }) => lines.slice(0, 1 + pick(lines.length - 1)),
  'cut inside a line': ({ lines, pick }) => {
    const at = pick(lines.length)
    return [...lines.slice(0, at), (lines[at] ?? '').slice(0, pick((lines[at] ?? '').length))]
  },
  'add a row that fits': (by) => {
    const [at, row] = pickRow(by)
    const added = resealed({ ...row, id: row.id + 0.5, seq: row.seq + 1, prev: row.hash, actor: 'prn_other' })
    return by.lines.toSpliced(at + 1, 0, rowLine({ ...added, id: Math.ceil(added.id) }))
  },
  'swap a field of two rows': (by) => {
    const [at, row] = pickRow(by)
    const others = rowsOf(by.lines).filter(([, other]) => other.hash !== row.hash)
    const [otherAt, other] = others[by.pick(others.length)] ?? [at, row]
    const fields = (Object.keys(row) as (keyof ExportedRow)[]).filter((field) => row[field] !== other[field])
    const field = fields[by.pick(fields.length)] ?? 'hash'
    return by.lines.with(at, rowLine({ ...row, [field]: other[field] })).with(otherAt, rowLine({ ...other, [field]: row[field] }))
  },
  'change a row and its hashes': (by) => {
    const [at, row] = pickRow(by)
    return by.lines.with(at, rowLine(resealed(lied(row))))
  },
  'pretend a redaction': (by) => {
    const [at, row] = pickRow(by)
    return by.lines.with(at, rowLine({ ...row, data: null, salt: null }))
  },
  'rewrite a scope from a row on': (by) => {
    const [, first] = pickRow(by)
    let prev: string | undefined
    return by.lines.map((line) => {
      const row = rowIn(line)
      if (!row || row.scope !== first.scope || row.seq < first.seq) return line
      const next = resealed(prev === undefined ? lied(row) : { ...row, prev })
      prev = next.hash
      return rowLine(next)
    })
  },
  'edit a head': (by) => {
    const [at, head] = pickHead(by)
    const fields = (Object.keys(head) as (keyof Head)[]).filter((field) => typeof head[field] === 'number')
    const field = fields[by.pick(fields.length)] ?? 'at'
    return by.lines.with(at, headLine({ ...head, [field]: Number(head[field]) + 1 + by.pick(9) }))
  },
  'leave a head and its rows out': (by) => {
    const [at] = pickHead(by)
    const before = by.lines.slice(0, at).findLastIndex((line) => headIn(line) !== undefined)
    return [...by.lines.slice(0, Math.max(before + 1, 1)), ...by.lines.slice(at + 1)]
  },
  'leave the last head out and sign a new end': (by) => {
    const heads = headsOf(by.lines)
    const keep = by.lines.slice(0, (heads.at(-2)?.[0] ?? 0) + 1)
    return withEnd(keep, by.ownKey)
  },
  'rewrite all of it with another key': (by) => forge(by, by.ownKey, false),
  'rewrite all of it under our name': (by) => forge(by, by.ownKey, true),
}

export const rowIn = (line: string | undefined): ExportedRow | undefined => {
  const said = line === undefined ? undefined : readLine(line)
  return said && 'row' in said ? said.row : undefined
}
const headIn = (line: string | undefined): Head | undefined => {
  const said = line === undefined || !line.startsWith('{"head"') ? undefined : readLine(line)
  return said && 'head' in said ? said.head : undefined
}

const rowsOf = (lines: readonly string[]): [number, ExportedRow][] =>
  lines.flatMap((line, at) => {
    const row = rowIn(line)
    return row ? [[at, row] as [number, ExportedRow]] : []
  })
const headsOf = (lines: readonly string[]): [number, Head][] =>
  lines.flatMap((line, at) => {
    const head = headIn(line)
    return head ? [[at, head] as [number, Head]] : []
  })

function pickRow({ lines, pick }: Tamperer): [number, ExportedRow] {
  for (;;) {
    const at = pick(lines.length)
    const row = rowIn(lines[at])
    if (row?.data) return [at, row]
  }
}

function pickHead({ lines, pick }: Tamperer): [number, Head] {
  const heads = headsOf(lines)
  const head = heads[pick(heads.length)]
  if (!head) throw new Error('the record has a head')
  return head
}

/** The same row, saying that somebody else did it and that it was about something else. */
const lied = (row: ExportedRow): ExportedRow => {
  const data = canonicalJson({ ...JSON.parse(row.data ?? '{}'), lied: true })
  return { ...row, actor: 'prn_other', data, data_hash: dataHashOf(row.salt ?? '', data) }
}

export const resealed = (row: ExportedRow): ExportedRow => ({ ...row, hash: rowHashOf(row) })

/** The lines with an end that fits them, as an export writes it that finds them in the database. */
export function withEnd(lines: readonly string[], key: AuditKey): string[] {
  const [start] = lines
  const said = start === undefined ? undefined : readLine(start)
  const exportedAt = said && 'start' in said ? said.start.exportedAt : 0
  const digest = createHash('sha256')
  for (const line of lines) digest.update(`${line}\n`)
  const end: ExportEnd = { rows: 0, heads: 0, lines: digest.digest('base64url'), exportedAt }
  for (const line of lines.slice(1)) line.startsWith('{"head"') ? end.heads++ : end.rows++
  return [...lines, endLine(end, key.sign(endText(end)))]
}

/** A record of one piece that nobody but us could tell from a real one: by its key. @param asOurs Claims our key nevertheless. */
function forge({ lines, pick }: Tamperer, key: AuditKey, asOurs: boolean): string[] {
  const ends = new Map<string, string>()
  const at = pick(lines.length)
  const forged = lines.map((line, n) => {
    const said = readLine(line)
    if (said && 'start' in said && !asOurs) return startLine({ ...said.start, publicKey: key.publicKey })
    if (!said || !('row' in said)) return line
    const row = resealed({ ...(n === at ? lied(said.row) : said.row), prev: ends.get(said.row.scope) ?? '' })
    ends.set(row.scope, row.hash)
    return rowLine(row)
  })
  return sealAnew(forged, key)
}

/** Puts new heads and a new end over rows as they are. */
export function sealAnew(lines: readonly string[], key: AuditKey): string[] {
  let tally = createTally()
  let last: Head | undefined
  const sealed: string[] = []
  for (const line of lines) {
    const said = readLine(line)
    if (!said || 'end' in said) continue
    if ('row' in said) tally.add({ ...said.row, follows: said.row.follows ?? null })
    if ('head' in said) {
      last = makeHead(tally, { before: last }, key, said.head.at)
      tally = createTally()
      sealed.push(headLine(last))
    } else sealed.push(line)
  }
  return withEnd(sealed, key)
}
