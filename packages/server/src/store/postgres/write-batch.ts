import { createHash } from 'node:crypto'
import type { BoundQuery } from '../query.ts'
import { statementOf } from './session.ts'
import type { Statement } from './statement-group.ts'

/** A write that was not sent yet. */
interface Pending {
  statement: Statement & { name: string }
  /** True when it has to change a row: see `expectChange`. */
  isExpected: boolean
}

/** The tables that a statement writes to and reads. */
interface Tables {
  writes: string
  /** True for new rows only. An insert that may update a row instead is like an update. */
  isInsert: boolean
  reads: readonly string[]
}

/** Batches that were made, by the names of their statements: few, as the code has few paths. */
const made = new Map<string, Statement>()
const MAX_MADE = 1_000

/**
 * Writes that a transaction sends as one statement, `with w0 as (insert …), w1 as (update …) select 1`: on Postgres most of the cost of a
 * small write is that it is a statement of its own. Its parts do not see each other's changes and run in no fixed order, so a batch takes
 * only writes to which neither matters: see {@link WriteBatch.takes}.
 * @see https://www.postgresql.org/docs/current/queries-with.html#QUERIES-WITH-MODIFYING
 */
export class WriteBatch {
  #pending: Pending[] = []
  #isClosed = false
  readonly #written = new Map<string, 'inserted' | 'changed'>()

  /** True when the write may be sent together with those of the batch, in any order. */
  takes(query: BoundQuery): boolean {
    if (this.#pending.length === 0) return true
    const tables = tablesOf(statementOf(query))
    if (!tables || this.#isClosed) return false
    const { writes, isInsert, reads } = tables
    const before = this.#written.get(writes)
    return (before === undefined || (before === 'inserted' && isInsert)) && !reads.some((table) => this.#written.has(table))
  }

  add(query: BoundQuery, isExpected: boolean): void {
    const statement = statementOf(query)
    const { text, values = [], name = '' } = statement
    this.#pending.push({ statement: { text, values, name }, isExpected })
    const tables = tablesOf(statement)
    if (tables) this.#written.set(tables.writes, tables.isInsert ? 'inserted' : 'changed')
    // The tables of this statement are not known, so it is sent alone.
    else this.#isClosed = true
  }

  /** Empties the batch. Returns it as one statement, which fails with a division by zero when an expected change did not happen. */
  take(): Statement | undefined {
    const pending = this.#pending
    this.#pending = []
    this.#written.clear()
    this.#isClosed = false
    const [first] = pending
    if (!first) return undefined
    if (pending.length === 1 && !first.isExpected) return first.statement
    const key = pending.map(({ statement, isExpected }) => statement.name + (isExpected ? '!' : '')).join()
    let batch = made.get(key)
    if (!batch) {
      batch = { text: combine(pending), name: createHash('sha256').update(key).digest('base64url').slice(0, 20) }
      if (made.size < MAX_MADE) made.set(key, batch)
    }
    return { ...batch, values: pending.flatMap(({ statement }) => statement.values ?? []) }
  }
}

function combine(pending: readonly Pending[]): string {
  let offset = 0
  const parts = pending.map(({ statement, isExpected }, i) => {
    const text = statement.text.replaceAll(/\$(\d+)/g, (_, number) => `$${Number(number) + offset}`)
    offset += statement.values?.length ?? 0
    return `w${i} as (${text}${isExpected ? ' returning 1' : ''})`
  })
  const changes = pending.flatMap(({ isExpected }, i) => (isExpected ? [`(select count(*) from w${i})`] : []))
  return `with ${parts.join(', ')} select 1${changes.length > 0 ? ` / (${changes.join(' * ')})` : ''}`
}

const known = new Map<string, Tables | undefined>()

/** Undefined for statements that are not put into batches: those that only read, and those with a part that this does not recognise. */
function tablesOf({ text, name }: Statement): Tables | undefined {
  if (name === undefined) return undefined
  if (!known.has(text)) known.set(text, readTables(text))
  return known.get(text)
}

function readTables(text: string): Tables | undefined {
  const [, verb, writes] = /^\s*(insert into|update|delete from)\s+([\w."]+)/i.exec(text) ?? []
  if (verb === undefined || writes === undefined) return undefined
  const words = text.replaceAll(/'[^']*'/g, '')
  // RETURNING, ON CONFLICT DO NOTHING and WITH could depend on the other writes in ways that this does not read.
  if (/\b(returning|with|do nothing)\b/i.test(words)) return undefined
  // A statement may say that the rows which it touches are none of those of other statements on the table.
  const [, rows = ''] = /\/\* rows: (\w+) \*\//.exec(text) ?? []
  const rest = text.slice(text.indexOf(writes) + writes.length)
  const reads = [...rest.matchAll(/\b(?:from|join)\s+([\w."]+)/gi)].map(([, table]) => table ?? '')
  return { writes: plain(writes) + rows, isInsert: /^insert/i.test(verb) && !/\bdo update\b/i.test(words), reads: reads.map(plain) }
}

const plain = (table: string): string => table.replaceAll('"', '')
