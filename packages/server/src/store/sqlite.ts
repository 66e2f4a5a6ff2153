import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { assert, CountersignError } from '@countersign/core'
import { migrate } from './migrate.ts'
import { type Bindable, type BoundQuery, type PreparedQuery, prepareForSqlite, type Row, type Tx } from './query.ts'
import type { Outbox, Store } from './store.ts'

/** 3.7.0–3.51.2 can corrupt a WAL database that two connections use. */
const OLDEST_SQLITE = [3, 51, 3] as const

const PRAGMAS = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL; -- an fsync on every commit
  PRAGMA foreign_keys = ON;
  PRAGMA temp_store = MEMORY;
  PRAGMA cache_size = -65536; -- 64 MiB: with the default 2 MiB pages are read again from the file (351 against 274 cycles/s at 1 in flight)
  PRAGMA wal_autocheckpoint = 4000; -- pages
`

export interface SqliteOptions {
  /** Folder of the database; made when missing. */
  dataDir: string
  /** Called after each commit with what its transactions asked for, in their order. */
  onCommitted(outbox: Outbox): void
}

interface Waiting {
  work(outbox: Outbox): Tx<unknown>
  resolve(value: unknown): void
  reject(error: unknown): void
}

const NO_ROWS: Row[] = []

type Outcome = { ok: true; value: unknown; outbox: Outbox } | { ok: false; error: unknown }

interface Prepared extends PreparedQuery {
  statement: StatementSync
  columns: readonly string[]
}

/**
 * Opens (and migrates) the embedded database: `node:sqlite`, WAL, an fsync on every commit. One process owns a data folder at a time.
 * @throws Error when SQLite is too old, another process owns the folder, or the database is newer than this code.
 */
export function openSqlite({ dataDir, onCommitted }: SqliteOptions): Store {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const owner = takeOwnership(dataDir)
  const db = openDatabase(dataDir, owner)

  const prepared = new WeakMap<object, Prepared>()
  const begin = db.prepare('BEGIN IMMEDIATE')
  const commit = db.prepare('COMMIT')
  const rollback = db.prepare('ROLLBACK')
  const savepoint = db.prepare('SAVEPOINT member')
  const release = db.prepare('RELEASE member')
  const undo = db.prepare('ROLLBACK TO member')
  let waiting: Waiting[] = []
  let scheduled = false
  let closed = false

  function runQuery(query: BoundQuery): Row[] {
    let use = prepared.get(query.definition)
    if (!use) {
      const compiled = prepareForSqlite(query)
      const statement = db.prepare(compiled.sql)
      // Rows as lists, made into objects here: node:sqlite's own row objects are dictionaries, slow to make and slower to read.
      statement.setReturnArrays(true)
      use = { ...compiled, statement, columns: statement.columns().map((column) => column.name) }
      prepared.set(query.definition, use)
    }
    const values: Bindable[] = use.bind(query.values)
    if (query.want === 'change') {
      const { changes, lastInsertRowid } = use.statement.run(...values)
      return [{ changes: Number(changes), lastId: Number(lastInsertRowid) }]
    }
    const { columns } = use
    if (query.want === 'rows') return use.statement.all(...values).map((list) => toRow(columns, list))
    const list = use.statement.get(...values)
    return list === undefined ? NO_ROWS : [toRow(columns, list)]
  }

  function drive<T>(tx: Tx<T>): T {
    let next = tx.next([])
    while (!next.done) {
      let rows: Row[]
      try {
        rows = runQuery(next.value)
      } catch (error) {
        next = tx.throw(error)
        continue
      }
      next = tx.next(rows)
    }
    return next.value
  }

  function run(member: Waiting): Outcome {
    const outbox: Outbox = { events: [], sessions: new Set(), actions: new Set() }
    try {
      return { ok: true, value: drive(member.work(outbox)), outbox }
    } catch (error) {
      // A full disk ends the whole transaction by itself: then nothing of the batch is written, and nothing more of it may be.
      if (!db.isTransaction) throw error
      return { ok: false, error }
    }
  }

  function runApart(member: Waiting): Outcome {
    savepoint.run()
    const outcome = run(member)
    if (!outcome.ok) undo.run()
    release.run()
    return outcome
  }

  /** Runs a batch in the open transaction. A savepoint each costs a sixth of the throughput, so they are only taken once one has failed. */
  function runBatch(batch: readonly Waiting[]): Outcome[] {
    const outcomes: Outcome[] = []
    for (const member of batch) {
      const outcome = run(member)
      outcomes.push(outcome)
      if (outcome.ok) continue
      rollback.run()
      begin.run()
      return batch.length === 1 ? outcomes : batch.map(runApart)
    }
    return outcomes
  }

  function flush(): void {
    scheduled = false
    const batch = waiting
    waiting = []
    if (batch.length === 0) return
    let outcomes: Outcome[] = []
    try {
      begin.run()
      outcomes = runBatch(batch)
      commit.run()
    } catch (error) {
      // Nothing of a batch that broke, or whose commit failed, is durable: every member hears it, none of their results gets out.
      if (db.isTransaction) rollback.run()
      outcomes = batch.map(() => ({ ok: false, error }))
    }
    for (const outcome of outcomes) if (outcome.ok) onCommitted(outcome.outbox)
    batch.forEach((member, i) => {
      const outcome = outcomes[i]
      assert(outcome, 'every member of a batch has an outcome')
      if (outcome.ok) member.resolve(outcome.value)
      else member.reject(asStorageError(outcome.error))
    })
  }

  return {
    transact: <T>(work: (outbox: Outbox) => Tx<T>) => {
      if (closed) return Promise.reject(new CountersignError('not_ready', 'the server is shutting down'))
      return new Promise<T>((resolve, reject) => {
        waiting.push({ work, resolve: resolve as (value: unknown) => void, reject })
        // setImmediate, not a microtask: everything that this turn of the event loop still starts joins the same fsync.
        if (!scheduled) {
          scheduled = true
          setImmediate(flush)
        }
      })
    },
    // Between batches no transaction is open on the connection, so a read sees exactly what is committed.
    read: async (work) => drive(work()),
    close: async () => {
      closed = true
      flush()
      db.close()
      owner.close()
    },
  }
}

/** Gives the folder back when the database in it cannot be used: the reason is another one than "in use", also the second time. */
function openDatabase(dataDir: string, owner: DatabaseSync): DatabaseSync {
  const db = new DatabaseSync(join(dataDir, 'countersign.db'), { timeout: 5_000 })
  try {
    requireVersion(db)
    db.exec(PRAGMAS)
    migrate(db)
    return db
  } catch (error) {
    db.close()
    owner.close()
    throw error
  }
}

function toRow(columns: readonly string[], list: unknown): Row {
  const values = list as unknown[]
  const row: Row = {}
  for (const [i, column] of columns.entries()) row[column] = values[i]
  return row
}

/**
 * A second process on the same folder would take our executing actions for lost ones. The lock is a SQLite transaction held for life,
 * so the operating system gives it back even after kill -9.
 */
function takeOwnership(dataDir: string): DatabaseSync {
  const lock = new DatabaseSync(join(dataDir, 'owner.lock'), { timeout: 0 })
  try {
    lock.exec('PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE')
    return lock
  } catch (cause) {
    lock.close()
    throw new Error(`another Countersign process is using ${dataDir}; stop it, or choose another folder with --data`, { cause })
  }
}

function requireVersion(db: DatabaseSync): void {
  const version = String(db.prepare('select sqlite_version() as version').get()?.version)
  const parts = version.split('.').map(Number)
  for (const [i, oldest] of OLDEST_SQLITE.entries()) {
    if ((parts[i] ?? 0) > oldest) return
    if ((parts[i] ?? 0) < oldest)
      throw new Error(`SQLite ${version} is too old: ${OLDEST_SQLITE.join('.')} or newer is needed (Node 24.21+ or 26)`)
  }
}

function asStorageError(error: unknown): unknown {
  const code = error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : 0
  return code === 13 ? new CountersignError('storage_full', 'the disk is full: nothing was changed', {}, { cause: error }) : error
}
