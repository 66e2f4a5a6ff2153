import { type Connection, type FieldDef, Query } from 'pg'
import type { Row } from '../query.ts'

/** A statement in wire format. One with a name stays prepared under it. */
export interface Statement {
  text: string
  values?: (string | number | null)[]
  name?: string | undefined
}

/** The answer to a statement. */
export interface Answer {
  rows: Row[]
  /** Rows written or returned; null for a statement that has none. */
  rowCount: number | null
  command: string
}

type ParserOf = (type: number) => (text: string) => unknown
type OnAnswer = (error: unknown, answer: Answer) => void

/** How the rows of a statement are read. */
interface Columns {
  names: readonly string[]
  parsers: readonly ((text: string) => unknown)[]
}

/** The statements that a connection has prepared, with their columns; undefined before their first answer, and for ever through a pooler. */
export type PreparedStatements = Map<string, Columns | undefined>

interface Sent {
  statement: Statement
  onAnswer: OnAnswer
  isNew: boolean
  columns: Columns | undefined
  answer: Answer
}

const NO_COLUMNS: Columns = { names: [], parsers: [] }

export interface GroupOptions {
  prepared: PreparedStatements
  /** False through a pooler: the server that answers next may know another version of the tables. */
  keepsColumns: boolean
  parserOf: ParserOf
}

/**
 * Statements that are sent in one packet with one Sync at the end, which the server answers in one packet. After a failure it skips the
 * others, which then fail with the same error.
 *
 * node-postgres would send a Sync after each statement, and ask for the columns of a prepared statement each time. It accepts this class
 * while other queries are under way because the class extends its own.
 * @see https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-PIPELINING
 */
export class StatementGroup extends Query {
  readonly #options: GroupOptions
  readonly #sent: Sent[] = []
  /** How many are answered. */
  #answered = 0

  constructor(options: GroupOptions) {
    super({ text: '' }, () => undefined)
    this.#options = options
  }

  add(statement: Statement, onAnswer: OnAnswer): void {
    const answer: Answer = { rows: [], rowCount: null, command: '' }
    this.#sent.push({ statement, onAnswer, isNew: false, columns: undefined, answer })
  }

  override submit = (connection: Connection): null => {
    const { prepared } = this.#options
    connection.stream.cork()
    for (const sent of this.#sent) {
      const { text, name = '', values = [] } = sent.statement
      if (name === '' || !prepared.has(name)) {
        sent.isNew = true
        // After a failure it is not known whether the statement was prepared before.
        if (name !== '') connection.close({ type: 'S', name }, true)
        connection.parse({ text, name, types: [] }, true)
        if (name !== '') prepared.set(name, undefined)
      }
      sent.columns = prepared.get(name)
      connection.bind({ statement: name, values: values.map((value) => (typeof value === 'number' ? String(value) : value)) }, true)
      if (!sent.columns) connection.describe({ type: 'P' }, true)
      connection.execute(null, true)
    }
    connection.sync()
    connection.stream.uncork()
    return null
  }

  handleRowDescription({ fields }: { fields: readonly FieldDef[] }): void {
    const { parserOf } = this.#options
    this.#know({ names: fields.map(({ name }) => name), parsers: fields.map(({ dataTypeID }) => parserOf(dataTypeID)) })
  }

  handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
    const sent = this.#sent[this.#answered]
    if (!sent) return
    const { names, parsers } = sent.columns ?? NO_COLUMNS
    const row: Row = {}
    for (const [at, name] of names.entries()) {
      const text = fields[at] ?? null
      row[name] = text === null ? null : parsers[at]?.(text)
    }
    sent.answer.rows.push(row)
  }

  handleCommandComplete({ text }: { text: string }): void {
    const sent = this.#sent[this.#answered++]
    if (!sent) return
    const [command = '', ...counts] = text.split(' ')
    const count = counts.at(-1)
    sent.answer.command = command
    if (count !== undefined) sent.answer.rowCount = Number(count)
    sent.onAnswer(undefined, sent.answer)
  }

  /** Also called for all unanswered groups when the connection breaks. */
  handleError(error: unknown): void {
    const failed = this.#sent.slice(this.#answered)
    this.#answered = this.#sent.length
    for (const { statement, isNew } of failed) if (isNew) this.#options.prepared.delete(statement.name ?? '')
    for (const { onAnswer, answer } of failed) onAnswer(error, answer)
  }

  handleReadyForQuery(): void {}

  #know(columns: Columns): void {
    const sent = this.#sent[this.#answered]
    if (!sent) return
    sent.columns = columns
    const { name } = sent.statement
    if (name !== undefined && this.#options.keepsColumns) this.#options.prepared.set(name, columns)
  }
}
