import { createHash } from 'node:crypto'
import { assert } from '@countersign/core'
import type { BoundQuery, Row } from '../query.ts'
import { statementOf } from './session.ts'
import type { Answer, Statement } from './statement-group.ts'

/** A small read that was not sent yet. */
interface Held {
  query: BoundQuery
  answer: PromiseWithResolvers<Row[]>
}

/** Columns that no table has. */
const ANSWERS = '~answers'
const IS_FOUND = '~is_found'

/** Statements that were made, by the names of their parts: few, as the code has few paths. */
const made = new Map<string, Statement>()
const MAX_MADE = 1_000

/** True for a read whose answer is a few short columns. */
export const isSmall = ({ definition, want }: BoundQuery): boolean =>
  (want === 'row' || want === 'rows') && definition.isFixed && (definition.remembered !== undefined || definition.countUpTo !== undefined)

/** True for a read that may be sent together with small ones: one that answers with one row at most. */
export const mayCarry = ({ definition, want }: BoundQuery): boolean => want === 'row' && definition.isFixed

/**
 * Small reads of a transaction that wait for the next larger one, to be sent with it as one statement: on Postgres most of the cost of a small
 * read is that it is a statement of its own. Their rows come as JSON in a column of the larger read's row.
 */
export class ReadsAhead {
  #held: Held[] = []

  get isEmpty(): boolean {
    return this.#held.length === 0
  }

  /** Returns the answer that the query will have. It is never settled when the query is not sent. */
  hold(query: BoundQuery): Promise<Row[]> {
    const answer = Promise.withResolvers<Row[]>()
    this.#held.push({ query, answer })
    return answer.promise
  }

  /** Forgets the queries. */
  drop(): void {
    this.#held = []
  }

  /** Sends each query as a statement of its own. */
  send(ask: (query: BoundQuery) => Promise<Row[]>): void {
    for (const { query, answer } of this.#take()) ask(query).then(answer.resolve, answer.reject)
  }

  /** Sends the queries with a larger one. Resolves with the answer of that one. */
  async sendWith(query: BoundQuery, ask: (statement: Statement) => Promise<Answer>): Promise<Answer> {
    const held = this.#take()
    try {
      const answer = await ask(combine([query, ...held.map((one) => one.query)]))
      const [first] = answer.rows
      assert(first, 'it has a row, whether or not the larger read has')
      const { [ANSWERS]: answers, [IS_FOUND]: isFound, ...row } = first
      const read = readAnswers(String(answers))
      for (const [at, one] of held.entries()) one.answer.resolve(one.query.want === 'row' ? (read[at] ?? []).slice(0, 1) : (read[at] ?? []))
      return { ...answer, rows: isFound === true ? [row] : [] }
    } catch (error) {
      for (const { answer } of held) answer.reject(error)
      throw error
    }
  }

  #take(): Held[] {
    const held = this.#held
    this.#held = []
    // Its failure is that of the transaction, which learns of it from the statement.
    for (const { answer } of held) answer.promise.catch(() => undefined)
    return held
  }
}

function combine(queries: readonly BoundQuery[]): Statement {
  const statements = queries.map(statementOf)
  const key = statements.map(({ name }) => name).join()
  let combined = made.get(key)
  if (!combined) {
    combined = { text: textOf(statements), name: createHash('sha256').update(`reads ${key}`).digest('base64url').slice(0, 20) }
    if (made.size < MAX_MADE) made.set(key, combined)
  }
  return { ...combined, values: statements.flatMap(({ values = [] }) => values) }
}

function textOf(statements: readonly Statement[]): string {
  let offset = 0
  const [larger, ...small] = statements.map(({ text, values = [] }) => {
    const moved = text.replaceAll(/\$(\d+)/g, (_, number) => `$${Number(number) + offset}`)
    offset += values.length
    return moved
  })
  const answers = small.map((text) => `(select json_agg(part) from (${text}) as part)`)
  return `select whole.*, json_build_array(${answers.join(', ')})::text as "${ANSWERS}" from (select 1) as one
    left join lateral (select part.*, true as "${IS_FOUND}" from (${larger}) as part limit 1) as whole on true`
}

/** The rows of each query; null for none. The text was decoded as a whole, and JSON takes no NUL that is not escaped. */
const readAnswers = (text: string): (Row[] | null)[] =>
  JSON.parse(text.replaceAll('\0', '\\u0000'), (_, value) => {
    const isSafe = typeof value !== 'number' || !Number.isInteger(value) || Number.isSafeInteger(value)
    assert(isSafe, `${value} from the database is a number that can be counted with`)
    return value
  })
