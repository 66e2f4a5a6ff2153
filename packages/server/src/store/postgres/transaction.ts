import { assert } from '@countersign/core'
import { checkpoint } from '@countersign/toolkit/internal'
import { PLACES_PER_TRANSACTION } from '../dialect.ts'
import { type BoundQuery, type JointRequest, type LockRequest, type Request, RIGHTS, type Row, type Tx } from '../query.ts'
import { keyOf } from '../query-cache.ts'
import type { SessionMemory } from '../session-memory.ts'
import { ANY_TABLE, tableWrittenBy } from '../written-table.ts'
import { failureOf, isNotAsExpected, isOfTheFuture } from './errors.ts'
import { isSmall, mayCarry, ReadsAhead } from './reads-ahead.ts'
import { COMMIT, ROLLBACK, type Session, statementOf } from './session.ts'
import type { Statement } from './statement-group.ts'
import { writeText } from './text.ts'
import { WriteBatch } from './write-batch.ts'

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

/** A write that was expected to change a row changed none. Nothing was committed. */
export class NotAsExpected extends Error {}

/** Separates these locks from other uses of the same database. */
const LOCK_SEED = 4_319
// An advisory lock, not a row lock: a transaction that waits for a row lock gets its number before the lock. It also writes nothing.
const LOCK = { text: `select pg_advisory_xact_lock(hashtextextended($1, ${LOCK_SEED}))`, name: 'lock' }
const LOCK_SHARED = { text: `select pg_advisory_xact_lock_shared(hashtextextended($1, ${LOCK_SEED}))`, name: 'lock-shared' }
// First the lock, then the number, so that numbers are in the order of the locks.
const LOCK_AND_ID = {
  text: `with held as materialized (select pg_advisory_xact_lock(hashtextextended($1, ${LOCK_SEED})))
    select pg_current_xact_id()::text as id from held`,
  name: 'lock-and-id',
}
const SHARED_LOCK_AND_ID = {
  text: LOCK_AND_ID.text.replace('pg_advisory_xact_lock(', 'pg_advisory_xact_lock_shared('),
  name: 'shared-lock-and-id',
}
// In the order of their parts: each takes the one before it as its only row.
const LOCK_UNDER_RIGHTS_AND_ID = {
  text: `with held as materialized (select pg_advisory_xact_lock(hashtextextended($1, ${LOCK_SEED}))),
    kept as materialized (select pg_advisory_xact_lock_shared(hashtextextended($2, ${LOCK_SEED})) from held)
    select pg_current_xact_id()::text as id from kept`,
  name: 'lock-under-rights-and-id',
}
const ID = { text: 'select pg_current_xact_id()::text as id', name: 'transaction-id' }
const ID_IF_ANY = { text: 'select pg_current_xact_id_if_assigned()::text as id', name: 'transaction-id-if-any' }
const NO_ROWS: Row[] = []
const ONE_CHANGE: Row[] = [{ changes: 1 }]

/** The first query of callers that sent more queries after it. */
const firstOfSeveral = new WeakSet<object>()

/** A transaction of one connection. */
export class Transaction {
  readonly #session: Session
  /** The first error is the reason; later ones only say that the transaction has failed. */
  readonly #failures: unknown[] = []
  #id: Promise<TransactionId> | undefined
  #placesTaken = 0
  readonly #locks = new Set<string>()
  /** Answers of queries that are marked `remembered`, by definition and values. */
  readonly #remembered: Answers = new Map()

  /** Answers of queries that were sent ahead, by definition and values, until anything is written. */
  readonly #ahead: Answers = new Map()
  readonly #held = new ReadsAhead()
  readonly #isExpecting: boolean
  readonly #batch = new WriteBatch()

  readonly #memory: SessionMemory | undefined

  /**
   * @param isExpecting False to wait for the number of rows of each write: after {@link NotAsExpected}.
   * @param memory What it may use of what the process remembers of sessions. Default: nothing.
   */
  constructor(session: Session, { isExpecting = true, memory }: { isExpecting?: boolean; memory?: SessionMemory } = {}) {
    this.#session = session
    this.#isExpecting = isExpecting
    this.#memory = memory
  }

  /**
   * Runs `tx` to its COMMIT.
   * @param firstTransaction The transaction that counts as the first of the log.
   * @throws The error of the first failed statement, or of `tx`, after ROLLBACK; CommitUnanswered; NotAsExpected.
   */
  async write<T>(tx: Tx<T>, firstTransaction: number): Promise<T> {
    try {
      this.#session.begin(this.#onError)
      const value = await drive(tx, (request) => {
        if ('places' in request) return this.#takePlaces(request.places, firstTransaction)
        if ('ahead' in request) return this.#sendAhead(request.ahead)
        if ('recall' in request) return this.#memory ? [{ value: request.recall(this.#memory) }] : NO_ROWS
        return 'lock' in request ? this.#lock(request) : this.#ask(request)
      })
      await this.#commit()
      return value
    } catch (error) {
      if (error instanceof CommitUnanswered) throw error
      // It may be an error only because an expected change did not happen: that is known when the change was sent.
      this.#sendBatch()
      await this.#session.ask(ROLLBACK).catch(() => this.#session.destroy())
      throw this.#failures[0] ?? error
    }
  }

  /** Runs the queries of `work` on one consistent snapshot of the database. */
  async read<T>(work: () => Tx<T>): Promise<T> {
    const tx = work()
    const first = afterRecalls(tx, tx.next(NO_ROWS))
    if (first.done) return first.value
    const request = asReading(first.value)
    if ('definition' in request && request.definition.isFixed && !firstOfSeveral.has(request.definition)) {
      // A single query has its own snapshot. When it turns out to be the first of several, they start again in a transaction.
      const next = afterRecalls(tx, tx.next(await this.#send(request)))
      if (next.done) return next.value
      firstOfSeveral.add(request.definition)
    }
    return this.#readSeveral(work())
  }

  async #readSeveral<T>(tx: Tx<T>): Promise<T> {
    this.#session.beginReading(this.#onError)
    try {
      return await drive(tx, (request) => ('recall' in request ? NO_ROWS : this.#ask(asReading(request))))
    } catch (error) {
      throw this.#failures[0] ?? error
    } finally {
      // Its answer is not awaited: the next query of this connection follows it.
      this.#session.tell(COMMIT, this.#onError)
    }
  }

  readonly #onError = (error: unknown): void => {
    this.#failures.push(error)
  }

  #ask(request: BoundQuery | JointRequest): Promise<Row[]> | Row[] {
    if ('definition' in request) return this.#send(request)
    return Promise.all(request.together.map((query) => this.#send(query))).then((answers) => [{ answers }])
  }

  #sendAhead(queries: readonly BoundQuery[]): Row[] {
    for (const query of queries) {
      if (this.#answerOf(query) !== undefined) continue
      const answer = isSmall(query) ? this.#held.hold(query) : this.#sendNow(query)
      // A failure is reported by `#onError`.
      if (answer instanceof Promise) answer.catch(() => undefined)
      keep(query.definition.remembered === undefined ? this.#ahead : this.#remembered, query, answer)
    }
    return NO_ROWS
  }

  #send(query: BoundQuery): Promise<Row[]> | Row[] {
    const sent = this.#answerOf(query)
    if (sent !== undefined) {
      this.#sendHeld()
      return sent
    }
    const answer = this.#sendNow(query)
    return query.definition.remembered === undefined ? answer : keep(this.#remembered, query, answer)
  }

  /** The answer of a query that was sent, or will be. */
  #answerOf(query: BoundQuery): Promise<Row[]> | Row[] | undefined {
    // No key is made of a write: its values may be long.
    return this.#ahead.get(query.definition)?.get(keyOf(query)) ?? this.#remembered.get(query.definition)?.get(keyOf(query))
  }

  #sendHeld(): void {
    if (this.#held.isEmpty) return
    this.#sendBatch()
    this.#held.send((query) => this.#rowsOf(query.want, this.#session.ask(statementOf(query))))
  }

  #sendNow(query: BoundQuery): Promise<Row[]> | Row[] {
    const { want } = query
    const { text } = statementOf(query)
    const written = tableWrittenBy(text)
    if (written !== undefined || !mayCarry(query)) this.#sendHeld()
    if (written !== undefined) this.#forget(written)
    if (want === 'nothing' || (want === 'expected change' && this.#isExpecting)) {
      if (!this.#batch.takes(query)) this.#sendBatch()
      this.#batch.add(query, want === 'expected change')
      this.#id ??= this.#askForId()
      return want === 'nothing' ? NO_ROWS : ONE_CHANGE
    }
    this.#sendBatch()
    const ask = (statement: Statement) => this.#session.ask(statement)
    const rows = this.#rowsOf(want, this.#held.isEmpty ? ask(statementOf(query)) : this.#held.sendWith(query, ask))
    if (want !== 'rows' && want !== 'row') this.#id ??= this.#askForId()
    return rows
  }

  #sendBatch(): void {
    const statement = this.#batch.take()
    if (statement) this.#session.tell(statement, (error) => this.#onError(isNotAsExpected(error) ? new NotAsExpected() : error))
  }

  /** Forgets what was read of a table that is written to; everything when the table is unknown. */
  #forget(table: string): void {
    this.#ahead.clear()
    for (const definition of this.#remembered.keys()) {
      if (table === ANY_TABLE || definition.remembered === table) this.#remembered.delete(definition)
    }
  }

  #lock({ isUnderRights, ...request }: LockRequest): Row[] {
    if (!isUnderRights) return this.#lockOne(request)
    const { lock } = request
    const rights = `${RIGHTS}, shared`
    if (this.#id || [lock, RIGHTS, rights].some((held) => this.#locks.has(held))) {
      this.#lockOne({ lock, givesPlace: false })
      return this.#lockOne({ lock: RIGHTS, givesPlace: true, isShared: true })
    }
    this.#locks.add(lock).add(rights)
    this.#beginAnew()
    // One statement instead of two: a small one costs the server about as much as what it does.
    this.#id = this.#askForId({ ...LOCK_UNDER_RIGHTS_AND_ID, values: [writeText(lock), RIGHTS] })
    return NO_ROWS
  }

  #lockOne({ lock, givesPlace, isShared }: LockRequest): Row[] {
    const held = isShared ? `${lock}, shared` : lock
    if (this.#locks.has(held) || this.#locks.has(lock)) return NO_ROWS
    this.#locks.add(held)
    this.#beginAnew()
    // Numbered after it gets the lock, a transaction follows its predecessors in the log.
    const values = [writeText(lock)]
    if (givesPlace && !this.#id) this.#id = this.#askForId({ ...(isShared ? SHARED_LOCK_AND_ID : LOCK_AND_ID), values })
    else this.#session.tell({ ...(isShared ? LOCK_SHARED : LOCK), values }, this.#onError)
    return NO_ROWS
  }

  /** Before a lock: another transaction may write while this one waits. */
  #beginAnew(): void {
    this.#sendBatch()
    this.#remembered.clear()
    this.#ahead.clear()
    this.#held.drop()
  }

  async #rowsOf(want: BoundQuery['want'], answer: ReturnType<Session['ask']>): Promise<Row[]> {
    try {
      const { rows, rowCount } = await answer
      if (want === 'change' || want === 'expected change') return [{ changes: rowCount ?? 0 }]
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
    this.#sendBatch()
    // Without its number, the result of an unanswered COMMIT could not be found out. A transaction without writes has none.
    const id = await (this.#id ?? this.#askForId(ID_IF_ANY))
    if (this.#failures.length > 0) throw this.#failures[0]
    checkpoint('commit.before_send')
    const answer = this.#session.ask(COMMIT)
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

type Answers = Map<BoundQuery['definition'], Map<string, Promise<Row[]> | Row[]>>

function keep(answers: Answers, query: BoundQuery, answer: Promise<Row[]> | Row[]): Promise<Row[]> | Row[] {
  const known = answers.get(query.definition) ?? new Map<string, Promise<Row[]> | Row[]>()
  answers.set(query.definition, known.set(keyOf(query), answer))
  return answer
}

/** Continues a transaction to its next query: see `recall`. */
function afterRecalls<T>(tx: Tx<T>, step: IteratorResult<Request, T>): IteratorResult<Request, T> {
  let next = step
  while (!next.done && 'recall' in next.value) next = tx.next(NO_ROWS)
  return next
}

function asReading(request: Request): BoundQuery | JointRequest {
  if ('ahead' in request) return { together: request.ahead }
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
