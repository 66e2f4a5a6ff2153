import { assert } from '@countersign/core'
import { checkpoint } from '@countersign/toolkit/internal'
import { PLACES_PER_TRANSACTION } from '../dialect.ts'
import type { BoundQuery, JointRequest, LockRequest, Request, Row, Tx } from '../query.ts'
import { failureOf, isOfTheFuture } from './errors.ts'
import { type Session, statementOf } from './session.ts'

/** The database's number of a transaction, with which its result can be asked later. */
type TransactionId = string

/** The connection broke after COMMIT was sent: the transaction may or may not be committed. */
export class CommitUnanswered extends Error {
  readonly transactionId: TransactionId

  constructor(transactionId: TransactionId, cause: unknown) {
    super(`no answer to the COMMIT of transaction ${transactionId}`, { cause })
    this.transactionId = transactionId
  }
}

/** Separates these locks from other uses of the same database. */
const LOCK_SEED = 4_319
// An advisory lock, not a row lock: a transaction that waits for a row lock gets its number before the lock. It also writes nothing.
const LOCK = { text: `select pg_advisory_xact_lock(hashtextextended($1, ${LOCK_SEED}))`, name: 'lock' }
// First the lock, then the number, so that numbers are in the order of the locks.
const LOCK_AND_ID = {
  text: `with held as materialized (select pg_advisory_xact_lock(hashtextextended($1, ${LOCK_SEED})))
    select pg_current_xact_id()::text as id from held`,
  name: 'lock-and-id',
}
const ID = { text: 'select pg_current_xact_id()::text as id', name: 'transaction-id' }
const ID_IF_ANY = { text: 'select pg_current_xact_id_if_assigned()::text as id', name: 'transaction-id-if-any' }
const NO_ROWS: Row[] = []

/** The first query of callers that sent more queries after it. */
const firstOfSeveral = new WeakSet<object>()

/** A transaction of one connection. */
export class Transaction {
  readonly #session: Session
  /** The first error is the reason; later ones only say that the transaction has failed. */
  readonly #failures: unknown[] = []
  #id: Promise<TransactionId> | undefined
  #placesTaken = 0

  constructor(session: Session) {
    this.#session = session
  }

  /**
   * Runs `tx` to its COMMIT.
   * @param firstTransaction The transaction that counts as the first of the log.
   * @throws The error of the first failed statement, or of `tx`, after ROLLBACK; CommitUnanswered.
   */
  async write<T>(tx: Tx<T>, firstTransaction: number): Promise<T> {
    try {
      this.#session.begin(this.#onError)
      const value = await drive(tx, (request) => {
        if ('places' in request) return this.#takePlaces(request.places, firstTransaction)
        return 'lock' in request ? this.#lock(request) : this.#ask(request)
      })
      await this.#commit()
      return value
    } catch (error) {
      if (error instanceof CommitUnanswered) throw error
      await this.#session.ask({ text: 'ROLLBACK' }).catch(() => this.#session.destroy())
      throw this.#failures[0] ?? error
    }
  }

  /** Runs the queries of `work` on one consistent snapshot of the database. */
  async read<T>(work: () => Tx<T>): Promise<T> {
    const tx = work()
    const first = tx.next(NO_ROWS)
    if (first.done) return first.value
    const request = asReading(first.value)
    if ('definition' in request && request.definition.isFixed && !firstOfSeveral.has(request.definition)) {
      // A single query has its own snapshot. When it turns out to be the first of several, they start again in a transaction.
      const next = tx.next(await this.#send(request))
      if (next.done) return next.value
      firstOfSeveral.add(request.definition)
    }
    return this.#readSeveral(work())
  }

  async #readSeveral<T>(tx: Tx<T>): Promise<T> {
    this.#session.beginReading(this.#onError)
    try {
      return await drive(tx, (request) => this.#ask(asReading(request)))
    } catch (error) {
      throw this.#failures[0] ?? error
    } finally {
      // Its answer is not awaited: the next query of this connection follows it.
      this.#session.tell({ text: 'COMMIT' }, this.#onError)
    }
  }

  readonly #onError = (error: unknown): void => {
    this.#failures.push(error)
  }

  #ask(request: BoundQuery | JointRequest): Promise<Row[]> | Row[] {
    if ('definition' in request) return this.#send(request)
    return Promise.all(request.together.map((query) => this.#send(query))).then((answers) => [{ answers }])
  }

  #send(query: BoundQuery): Promise<Row[]> | Row[] {
    const { want } = query
    const statement = statementOf(query)
    const rows = want === 'nothing' ? this.#session.tell(statement, this.#onError) : this.#rowsOf(want, this.#session.ask(statement))
    if (want === 'nothing' || want === 'change') this.#id ??= this.#askForId()
    return rows ?? NO_ROWS
  }

  #lock({ lock, givesPlace }: LockRequest): Row[] {
    // Numbered after it gets the lock, a transaction follows its predecessors in the log.
    if (givesPlace && !this.#id) this.#id = this.#askForId({ ...LOCK_AND_ID, values: [lock] })
    else this.#session.tell({ ...LOCK, values: [lock] }, this.#onError)
    return NO_ROWS
  }

  async #rowsOf(want: BoundQuery['want'], answer: ReturnType<Session['ask']>): Promise<Row[]> {
    try {
      const { rows, rowCount } = await answer
      if (want === 'change') return [{ changes: rowCount ?? 0 }]
      return want === 'rows' ? rows : rows.slice(0, 1)
    } catch (error) {
      this.#onError(error)
      throw error
    }
  }

  /** Sends without awaiting the answer: it arrives with that of the next query. */
  #askForId(query: Parameters<Session['ask']>[0] = ID): Promise<TransactionId> {
    const answer = this.#session.ask(query).then(({ rows }) => (rows[0]?.id === null ? '' : String(rows[0]?.id)))
    // A failure here means that an earlier query failed or the connection broke, which its caller reports.
    answer.catch(this.#onError)
    return answer
  }

  async #takePlaces(count: number, firstTransaction: number): Promise<Row[]> {
    this.#id ??= this.#askForId()
    this.#placesTaken += count
    const placesTaken = this.#placesTaken
    assert(placesTaken < PLACES_PER_TRANSACTION, `one transaction says at most ${PLACES_PER_TRANSACTION - 1} events`)
    return [{ last: (Number(await this.#id) - firstTransaction) * PLACES_PER_TRANSACTION + placesTaken }]
  }

  async #commit(): Promise<void> {
    // Without its number, the result of an unanswered COMMIT could not be found out. A transaction without writes has none.
    const id = await (this.#id ?? this.#askForId(ID_IF_ANY))
    if (this.#failures.length > 0) throw this.#failures[0]
    checkpoint('commit.before_send')
    const answer = this.#session.ask({ text: 'COMMIT' })
    checkpoint('commit.after_send')
    const command = await answer.then(
      (result) => result.command,
      (error) => {
        // A pooler's message that the server behind it is gone is no answer either. With the connection, the answers to the writes just
        // before are lost, because they were in transit together.
        const isUnanswered = [...this.#failures, error].every((failure) => failureOf(failure) === 'lost')
        if (isUnanswered && id !== '') throw new CommitUnanswered(id, error)
        throw error
      },
    )
    if (this.#failures.length > 0) throw this.#failures[0]
    assert(command === 'COMMIT', `COMMIT was answered with ${command}`)
    checkpoint('commit.after_answer')
  }
}

function asReading(request: Request): BoundQuery | JointRequest {
  assert('definition' in request || 'together' in request, 'a read-only transaction yields only queries')
  return request
}

/** Sends one query after the other, without waiting where nobody needs the answer. */
async function drive<T>(tx: Tx<T>, answer: (request: Request) => Promise<Row[]> | Row[]): Promise<T> {
  let next = tx.next(NO_ROWS)
  while (!next.done) {
    const rows = answer(next.value)
    next = tx.next(rows instanceof Promise ? await rows : rows)
  }
  return next.value
}

/**
 * Returns the result of a transaction: true when it was committed, undefined while it is open. After a crash of the database its number may
 * belong to another one.
 */
export async function findFate(session: Session, id: TransactionId): Promise<boolean | undefined> {
  try {
    const { rows } = await session.ask({ text: 'select pg_xact_status($1::text::xid8) as fate', values: [id] })
    const fate = rows[0]?.fate
    return fate === 'in progress' ? undefined : fate === 'committed'
  } catch (error) {
    // After a failover the new primary may not know the number: then the transaction was not committed there.
    if (isOfTheFuture(error)) return false
    throw error
  }
}
