import { assert } from '@countersign/core'
import { Client, DatabaseError, type QueryResult } from 'pg'
import { type BoundQuery, prepareForPostgres, type Row } from '../query.ts'
import { ConnectionLost } from './errors.ts'
import { readText } from './text.ts'

/** Longer than any query takes; shorter than people wait. */
const STATEMENT_TIMEOUT_MS = 30_000
const LOCK_TIMEOUT_MS = 20_000
/** A process that is suspended in the middle of a transaction holds its session's row no longer than this. */
const IDLE_IN_TRANSACTION_MS = 10_000
const CONNECT_TIMEOUT_MS = 5_000

export interface SessionOptions {
  url: string
  /** True with a pooler in transaction mode: settings for the whole connection are impossible then. */
  isPooled: boolean
}

/** A statement in wire format. */
export interface Statement {
  text: string
  values?: (string | number | null)[]
  name?: string | undefined
}

const prepared = new WeakMap<object, ReturnType<typeof prepareForPostgres>>()

/** One connection. Queries are sent at once, one after the other, without waiting for earlier answers. */
export class Session {
  readonly #client: Client
  readonly #isPooled: boolean
  #isBroken = false
  #isCorked = false

  private constructor(client: Client, isPooled: boolean) {
    this.#client = client
    this.#isPooled = isPooled
  }

  /** @throws ConnectionLost, or the error with which the server refuses the connection. */
  static async connect({ url, isPooled }: SessionOptions): Promise<Session> {
    const client = new Client({
      connectionString: url,
      application_name: 'countersign',
      pipeline: true,
      keepAlive: true,
      keepAliveInitialDelayMillis: 5_000,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      types: { getTypeParser: parserOf as () => (text: string) => unknown },
      ...(isPooled
        ? {}
        : {
            statement_timeout: STATEMENT_TIMEOUT_MS,
            lock_timeout: LOCK_TIMEOUT_MS,
            idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
          }),
    })
    const session = new Session(client, isPooled)
    client.on('error', () => {
      session.#isBroken = true
    })
    client.on('end', () => {
      session.#isBroken = true
    })
    try {
      await client.connect()
    } catch (error) {
      throw asSessionError(error)
    }
    return session
  }

  /** True once the connection can no longer be used. */
  get isBroken(): boolean {
    return this.#isBroken
  }

  /** Begins a transaction that sees concurrent commits. Returns without waiting for the answer. */
  begin(onError: (error: unknown) => void): void {
    this.tell({ text: this.#isPooled ? `BEGIN; ${LOCAL_TIMEOUTS}` : 'BEGIN' }, onError)
  }

  /** Begins a read-only transaction that sees the database as it is at its first query. */
  beginReading(onError: (error: unknown) => void): void {
    this.tell({ text: `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY${this.#isPooled ? `; ${LOCAL_TIMEOUTS}` : ''}` }, onError)
  }

  /** Sends a statement without waiting for its answer. `onError` is called before the answer to any later one arrives. */
  tell(statement: Statement, onError: (error: unknown) => void): void {
    this.#cork()
    this.#client.query(statement, (error: Error | null) => {
      if (error) onError(asSessionError(error))
    })
  }

  ask(statement: Statement): Promise<QueryResult<Row>> {
    this.#cork()
    return new Promise((resolve, reject) => {
      this.#client.query<Row>(statement, (error: Error | null, result) => {
        if (error) reject(asSessionError(error))
        else resolve(result)
      })
    })
  }

  /** Sends several messages in one packet. */
  #cork(): void {
    if (this.#isCorked) return
    this.#isCorked = true
    const { stream } = this.#client.connection
    stream.cork()
    process.nextTick(() => {
      this.#isCorked = false
      stream.uncork()
    })
  }

  /** Closes the connection immediately; callers that wait for an answer get the error of a broken connection. */
  destroy(): void {
    this.#isBroken = true
    this.#client.connection.stream.destroy()
  }

  async close(): Promise<void> {
    this.#isBroken = true
    await this.#client.end()
  }
}

const LOCAL_TIMEOUTS = `SET LOCAL statement_timeout = ${STATEMENT_TIMEOUT_MS}; SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}; \
SET LOCAL idle_in_transaction_session_timeout = ${IDLE_IN_TRANSACTION_MS}`

/** Returns a query as a statement, compiled and named once. */
export function statementOf(query: BoundQuery): Statement {
  let use = prepared.get(query.definition)
  if (!use) {
    use = prepareForPostgres(query)
    prepared.set(query.definition, use)
  }
  return { text: use.sql, values: use.bind(query.values), name: use.name }
}

const asSessionError = (error: unknown): unknown => (error instanceof DatabaseError ? error : new ConnectionLost(error))

const INT8 = 20
const NUMBERS = new Set([21, 23, 26, 700, 701])
const BOOLEAN = 16

/** Parses numbers and booleans; all other values stay text. */
function parserOf(type: number): (text: string) => unknown {
  if (type === INT8) return readInteger
  if (NUMBERS.has(type)) return Number
  return type === BOOLEAN ? (text) => text === 't' : readText
}

function readInteger(text: string): number {
  const value = Number(text)
  assert(Number.isSafeInteger(value), `${text} from the database is a number that can be counted with`)
  return value
}
