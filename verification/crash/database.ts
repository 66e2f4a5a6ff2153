import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Pool, types } from 'pg'
import {
  type ActionRow,
  type EventRow,
  events,
  type MessageRow,
  type RunRow,
  type SessionRow,
  type VoteRow,
} from '../../packages/server/src/store/index.ts'
import { createDatabase, dropDatabase, type PostgresCluster } from '../testing/postgres.ts'

/** The rows that the checks read, directly from the database. */
export interface Rows {
  actions: ActionRow[]
  votes: VoteRow[]
  sessions: SessionRow[]
  runs: RunRow[]
  messages: MessageRow[]
  events: EventRow[]
}

/** Something that somebody still has to do. */
export interface Unfinished {
  /** A sentence. */
  what: string
  /** Epoch milliseconds since when it stands like this. */
  sinceMs: number
}

/** A database that the servers of one world share. */
export interface CampaignDatabase extends AsyncDisposable {
  readonly kind: 'sqlite' | 'postgres'
  /** How many processes work on it at a time. */
  readonly processes: number
  /** Environment variables that point a server at this database. */
  readonly environment: Record<string, string>
  readAll(): Promise<Rows>
  /** Returns the actions that are neither settled nor waiting for a person, and those that wait. */
  readOpen(): Promise<{ unfinished: Unfinished[]; waiting: ActionRow[] }>
  readonly view: View
}

type Ask = (sql: string) => Promise<Record<string, unknown>[]>
/** Runs work that asks several things of one and the same state of the database. */
export type View = <T>(work: (ask: Ask) => Promise<T>) => Promise<T>

const UNFINISHED = `
  select 'action ' || id || ' is ' || state || ', run by ' || coalesce(runner, 'nobody') as what, updated_at as since_ms
    from action where state in ('approved', 'executing') and executor = 'server'
  union all
  select 'run ' || id || ' is open and waits for nothing', updated_at from run where state = 'open' and not exists
    (select 1 from action where action.session_id = run.session_id and action.state in ('proposed', 'approved', 'executing'))
  union all
  select 'message ' || message.id || ' is queued behind nothing', session.updated_at from message join session on session.id = session_id where queued = 1
    and not exists (select 1 from run where run.session_id = message.session_id and run.state = 'open')
  union all
  select 'action ' || id || ' is still to be checked', due_at from action where state = 'outcome_unknown' and due_at is not null
  union all
  select 'action ' || id || ' is held by a client', due_at from action where executor = 'client' and state = 'executing'
  union all
  select 'action ' || id || ' is ' || state || ' behind its deadline', due_at from action where due_at < NOW
  limit 20`

function readerOf(view: View): Pick<CampaignDatabase, 'readAll' | 'readOpen' | 'view'> {
  return {
    view,
    readAll: () =>
      view(async (ask) => {
        const table = async <R>(name: string, order: string) => (await ask(`select * from ${name} order by ${order}`)) as R[]
        return {
          actions: await table('action', 'id'),
          votes: await table('vote', 'action_id, created_at'),
          sessions: await table('session', 'id'),
          runs: await table('run', 'session_id, number'),
          messages: await table('message', 'session_id, seq'),
          // Rows keep the JSON of their events in a short form.
          events: (await table<EventRow>('event', 'session_id, last_seq, id')).map((row) => ({ ...row, events: events.eventsJson(row) })),
        }
      }),
    readOpen: () =>
      view(async (ask) => ({
        unfinished: (await ask(UNFINISHED.replace('NOW', String(Date.now() - 1_000)))).map(({ what, since_ms }) => ({
          what: String(what),
          sinceMs: Number(since_ms),
        })),
        waiting: (await ask(`select * from action where state = 'proposed' order by id`)) as unknown as ActionRow[],
      })),
  }
}

/** The embedded database of one server. */
export function openSqliteWorld(folder: string): CampaignDatabase {
  const view: View = async (work) => {
    // Opened anew each time: a connection that stays would keep the next server from finding the database as the crash left it.
    const db = new DatabaseSync(join(folder, 'data', 'countersign.db'), { readOnly: true })
    try {
      db.exec('begin')
      return await work(async (sql) => db.prepare(sql).all())
    } finally {
      db.close()
    }
  }
  return { kind: 'sqlite', processes: 1, environment: {}, ...readerOf(view), [Symbol.asyncDispose]: async () => undefined }
}

/** Puts something between servers and their database. Answers where the database is found behind it, and what goes past it where it cannot pass. */
export type Detour = (databaseUrl: string) => Promise<AsyncDisposable & { readonly url: string; readonly directUrl?: string }>

/** A new database for three servers. */
export async function openPostgresWorld(cluster: PostgresCluster, openDetour?: Detour): Promise<CampaignDatabase> {
  const url = await createDatabase(cluster.url('postgres'))
  const detour = await openDetour?.(url)
  // Whole numbers as numbers, as the rows of the other database have them.
  const getTypeParser = (oid: number, format?: 'text' | 'binary') =>
    oid === types.builtins.INT8 ? Number : types.getTypeParser(oid, format as 'text')
  const pool = new Pool({ connectionString: url, max: 2, types: { getTypeParser: getTypeParser as typeof types.getTypeParser } })
  const view: View = async (work) => {
    const client = await pool.connect()
    try {
      await client.query('begin isolation level repeatable read read only')
      return await work(async (sql) => (await client.query(sql)).rows)
    } finally {
      await client.query('commit')
      client.release()
    }
  }
  return {
    kind: 'postgres',
    processes: 3,
    environment: {
      DATABASE_URL: detour?.url ?? url,
      ...(detour?.directUrl !== undefined && { DATABASE_DIRECT_URL: detour.directUrl }),
    },
    ...readerOf(view),
    async [Symbol.asyncDispose]() {
      await pool.end()
      await detour?.[Symbol.asyncDispose]()
      await dropDatabase(url)
    },
  }
}
