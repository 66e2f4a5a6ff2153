import { createHash } from 'node:crypto'
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite'
import type { ActionState, Principal } from '@countersign/core'
import type { ActionRow } from '../../packages/server/src/store/index.ts'
import { migrate } from '../../packages/server/src/store/migrate.ts'

/** One change of an action's state, revision or hold, as the database saw it: not as anybody says it was. */
export interface Move {
  id: string
  /** Null for an action that is new. */
  from: ActionState | null
  to: ActionState
  epoch: number
  wasEpoch: number
  attempt: number
  wasAttempt: number
  /** The process that carries it out, by its id; null for none. */
  runner: string | null
  wasRunner: string | null
  /** When it moved, by the clock of who moved it. */
  updatedAtMs: number
  key: string
}

// Temporary: the triggers watch the tables of the migrations without being part of them, inside the transaction that they watch.
const WATCH = `
  create temp table move (n integer primary key, id, was, state, epoch, was_epoch, attempt, was_attempt, key, runner, was_runner, updated_at);
  create temp trigger action_made after insert on main.action begin
    insert into move (id, was, state, epoch, was_epoch, attempt, was_attempt, key, runner, was_runner, updated_at)
      values (new.id, null, new.state, new.epoch, 0, new.attempt, 0, new.idempotency_key, new.runner, null, new.updated_at);
  end;
  create temp trigger action_moved after update on main.action
    when old.state <> new.state or old.epoch <> new.epoch or old.attempt <> new.attempt or old.idempotency_key <> new.idempotency_key
  begin
    insert into move (id, was, state, epoch, was_epoch, attempt, was_attempt, key, runner, was_runner, updated_at)
      values (new.id, old.state, new.state, new.epoch, old.epoch, new.attempt, old.attempt, new.idempotency_key, new.runner, old.runner, new.updated_at);
  end;
`

const INSTALLATION = `insert into instance (only_one, id, epoch) values (1, 'of a simulated world', 1)`

/** Tables that are not emptied: migrations, and principals, which exist from the beginning. */
const KEPT = new Set(['migration', 'principal'])

/** The rows of each table. */
export type DatabaseCopy = ReadonlyMap<string, readonly Record<string, SQLOutputValue>[]>

/** The database of simulated worlds: migrated once, in memory, emptied between worlds. Its content is what survived every crash. */
export interface WorldDatabase {
  readonly connection: DatabaseSync
  /** Until it is called again with null: what the next COMMIT fails with. */
  failCommits(error: Error | null): void
  /** Empties it for a new world, whose time is its time. */
  begin(timeline: { nowMs: number }): void
  /** All rows as they are now. */
  copy(): DatabaseCopy
  /** Puts the rows of a copy in the place of its own. Those are no moves. */
  restore(copy: DatabaseCopy): void
  /** True when nothing in the rows calls for anything but people. */
  isAtRest(): boolean
  /** SHA-256 of all rows. */
  digest(): string
  /** Returns the moves since the last call. */
  takeMoves(): Move[]
  action(id: string): ActionRow | undefined
  /** Ids of a session's actions, oldest first; of those without a session for null. */
  actionsOf(sessionId: string | null): { id: string; state: ActionState }[]
  /** True when this person's decision is in the rows. */
  hasVote(actionId: string, principalId: string, verdict: string): boolean
  all<R>(sql: string, ...values: (string | number | null)[]): R[]
}

export function openWorldDatabase(people: readonly Principal[]): WorldDatabase {
  let commitError: Error | null = null
  const connection = withFailingCommits(new DatabaseSync(':memory:'), () => commitError)
  connection.exec('PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY')
  migrate(connection)
  connection.exec(WATCH)
  const addPrincipal = connection.prepare('insert into principal (id, kind, name, roles, created_at) values (?, ?, ?, ?, 0)')
  for (const { id, kind, name, roles } of people) addPrincipal.run(id, kind, name, JSON.stringify(roles))

  const tables = connection.prepare(`select name from sqlite_schema where type = 'table'`).all()
  const names = tables.map((table) => String(table.name)).filter((name) => !KEPT.has(name))
  // Off meanwhile: nobody has to work out an order in which no row is left that another one names.
  const empty = `PRAGMA foreign_keys = OFF; ${names.map((name) => `delete from ${name};`).join(' ')} delete from move; PRAGMA foreign_keys = ON;`

  const statements = new Map<string, ReturnType<DatabaseSync['prepare']>>()
  const all = <R>(sql: string, ...values: (string | number | null)[]): R[] => {
    const statement = statements.get(sql) ?? connection.prepare(sql)
    statements.set(sql, statement)
    return statement.all(...values) as R[]
  }
  let lastMove = 0
  let now = { nowMs: 0 }
  connection.function('world_now', () => now.nowMs)
  return {
    connection,
    all,
    failCommits(error) {
      commitError = error
    },
    begin(timeline) {
      connection.exec(empty)
      connection.exec(INSTALLATION)
      lastMove = 0
      now = timeline
    },
    copy: () => new Map(names.map((name) => [name, all(`select * from ${name}`)])),
    restore(copy) {
      connection.exec(empty)
      connection.exec('PRAGMA foreign_keys = OFF')
      for (const [name, rows] of copy) {
        for (const row of rows) {
          const columns = Object.keys(row)
          const insert = connection.prepare(`insert into ${name} (${columns.join()}) values (${columns.map(() => '?').join()})`)
          insert.run(...Object.values(row))
        }
      }
      connection.exec('PRAGMA foreign_keys = ON; delete from move')
      lastMove = 0
    },
    isAtRest: () =>
      all(`select 1 from action where state = 'executing' or (state = 'approved' and executor = 'server')
          or (state = 'outcome_unknown' and due_at is not null)
        union all select 1 from run where state = 'open' and not exists (select 1 from action
            where action.session_id = run.session_id and (state = 'proposed' or (state = 'approved' and executor = 'client')))
        union all select 1 from message where queued = 1
          and not exists (select 1 from run where run.session_id = message.session_id and run.state = 'open')`).length === 0,
    digest() {
      const hash = createHash('sha256')
      // The installation draws its own id.
      for (const name of names) if (name !== 'instance') hash.update(JSON.stringify(all(`select * from ${name} order by 1, 2`)))
      return hash.digest('hex')
    },
    takeMoves() {
      const found = all<Move & { n: number }>(
        `select n, id, was as "from", state as "to", epoch, was_epoch as wasEpoch, attempt, was_attempt as wasAttempt, key, runner, was_runner as wasRunner,
          updated_at as updatedAtMs
           from move where n > ? order by n`,
        lastMove,
      )
      lastMove = found.at(-1)?.n ?? lastMove
      return found
    },
    action: (id) => all<ActionRow>('select * from action where id = ?', id)[0],
    actionsOf: (sessionId) => all('select id, state from action where session_id is ? order by id', sessionId),
    hasVote: (actionId, principalId, verdict) =>
      all('select 1 from vote where action_id = ? and principal_id = ? and verdict = ?', actionId, principalId, verdict).length > 0,
  }
}

/**
 * Wraps the connection so that COMMIT may fail, as it does on a broken disk. A failed COMMIT leaves its transaction open, for other code to
 * end.
 */
function withFailingCommits(connection: DatabaseSync, failure: () => Error | null): DatabaseSync {
  const prepare = (text: string) => {
    const statement = connection.prepare(text)
    if (text !== 'COMMIT') return statement
    const commit = () => {
      const error = failure()
      if (error) throw error
      return statement.run()
    }
    return new Proxy(statement, { get: (_, name) => (name === 'run' ? commit : undefined) })
  }
  return new Proxy(connection, {
    get(target, name) {
      if (name === 'prepare') return prepare
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
