import { assert } from '@countersign/core'
import { Client, DatabaseError } from 'pg'
import { type BoundQuery, prepareForPostgres } from '../query.ts'
import { ConnectionLost } from './errors.ts'
import { type Answer, type GroupOptions, type Statement, StatementGroup } from './statement-group.ts'
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

const prepared = new WeakMap<object, ReturnType<typeof prepareForPostgres>>()

/** One connection. Queries are sent at once, one after the other, without waiting for earlier answers. */
export class Session {
  readonly #client: Client
  readonly #isPooled: boolean
  readonly #groupOptions: GroupOptions
  /** The queries since the last packet. */
  #group: StatementGroup | undefined
  #isBroken = false

  private constructor(client: Client, isPooled: boolean) {
    this.#client = client
    this.#isPooled = isPooled
    this.#groupOptions = { prepared: new Map(), keepsColumns: !isPooled, parserOf }
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
    // Its own packet: within that of a transaction it would end with a rollback.
    if (!isPooled) await session.ask({ text: `select ${durable(false)}`, name: 'durable' })
    return session
  }

  /** True once the connection can no longer be used. */
  get isBroken(): boolean {
    return this.#isBroken
  }

  /** Begins a transaction that sees concurrent commits. Returns without waiting for the answer. */
  begin(onError: (error: unknown) => void): void {
    this.tell(BEGIN, onError)
    if (this.#isPooled) this.tell(LOCAL_TIMEOUTS, onError)
  }

  /** Begins a read-only transaction that sees the database as it is at its first query. */
  beginReading(onError: (error: unknown) => void): void {
    this.tell(BEGIN_READING, onError)
    if (this.#isPooled) this.tell(LOCAL_TIMEOUTS, onError)
  }

  /** Sends a statement without waiting for its answer. `onError` is called before the answer to any later one arrives. */
  tell(statement: Statement, onError: (error: unknown) => void): void {
    this.#add(statement, (error) => {
      if (error) onError(asSessionError(error))
    })
  }

  ask(statement: Statement): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#add(statement, (error, answer) => {
        if (error) reject(asSessionError(error))
        else resolve(answer)
      })
    })
  }

  /** Sends it in one packet with everything that is asked before the caller waits. */
  #add(...statement: Parameters<StatementGroup['add']>): void {
    if (!this.#group) {
      this.#group = new StatementGroup(this.#groupOptions)
      process.nextTick(() => this.#flush())
    }
    this.#group.add(...statement)
  }

  #flush(): void {
    const group = this.#group
    this.#group = undefined
    if (group) this.#client.query(group)
  }

  /** Closes the connection immediately; callers that wait for an answer get the error of a broken connection. */
  destroy(): void {
    this.#isBroken = true
    this.#client.connection.stream.destroy()
  }

  async close(): Promise<void> {
    this.#flush()
    this.#isBroken = true
    await this.#client.end()
  }
}

// The names stand in each packet, where the text does not: a transaction can be followed on the wire.
// The isolation is named, because an administrator may have changed the default: under another one, who waited for a lock would see the
// database as it was before.
const BEGIN: Statement = { text: 'BEGIN ISOLATION LEVEL READ COMMITTED', name: 'BEGIN' }
const BEGIN_READING: Statement = { text: 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', name: 'BEGIN reading' }
export const COMMIT: Statement = { text: 'COMMIT', name: 'COMMIT' }
export const ROLLBACK: Statement = { text: 'ROLLBACK', name: 'ROLLBACK' }
/**
 * Keeps the level of `synchronous_commit` for a connection or transaction, whatever becomes of the settings of the role, the database or the
 * server: with `off` a decision that was answered could be forgotten.
 */
const durable = (isLocal: boolean): string =>
  `set_config('synchronous_commit', replace(current_setting('synchronous_commit'), 'off', 'on'), ${isLocal})`
const LOCAL_TIMEOUTS: Statement = {
  text: `select set_config('statement_timeout', '${STATEMENT_TIMEOUT_MS}', true), set_config('lock_timeout', '${LOCK_TIMEOUT_MS}', true),
    set_config('idle_in_transaction_session_timeout', '${IDLE_IN_TRANSACTION_MS}', true), ${durable(true)}`,
  name: 'timeouts',
}

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
