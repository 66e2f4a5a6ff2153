import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import type { Place, System } from '../adapter.ts'
import { answerTo, callsFor } from '../script.ts'

// What one gated cycle of Countersign writes on SQLite with the payload of script.ts, counted by triggers on its tables over 100 cycles:
// 7 transactions; 21 inserted rows (session, run, action, 5 messages, 2 model calls, vote, 6 events, 4 of the audit record); 12 updates of
// the session, the run and the action; 16,753 bytes of growth after a checkpoint. The floor writes as many rows and bytes in as many
// transactions, and nothing else: no reads, no indexes but the keys, no computing.
const STATES = 3
const TRANSACTIONS = [
  { states: STATES, updates: 0, bodies: 0 },
  { states: 0, updates: 3, bodies: 3 },
  { states: 0, updates: 3, bodies: 3 },
  { states: 0, updates: 0, bodies: 3 },
  { states: 0, updates: 3, bodies: 3 },
  { states: 0, updates: 0, bodies: 3 },
  { states: 0, updates: 3, bodies: 3 },
] as const
type Transaction = (typeof TRANSACTIONS)[number]

const BODY = 'x'.repeat(Math.round(16_753 / 18))

interface Floor {
  /** Resolves when the transaction is on disk. */
  commit(session: number, transaction: Transaction): Promise<void>
  close(): Promise<void>
}

const TABLES = `
  create table if not exists state (session integer, part integer, version integer, primary key (session, part));
  create table if not exists body (id BIGSERIAL primary key, body text)`

/** One connection; transactions that wait at the same time share a commit, as Countersign's do. */
function openSqlite(folder: string): Floor {
  const db = new DatabaseSync(join(folder, 'floor.db'))
  db.exec(`pragma journal_mode=wal; pragma synchronous=full; ${TABLES.replace('BIGSERIAL', 'integer')}`)
  const insertState = db.prepare('insert into state (session, part, version) values (?, ?, 0)')
  const updateState = db.prepare('update state set version = version + 1 where session = ? and part = ?')
  const insertBody = db.prepare('insert into body (body) values (?)')
  let waiting: { write(): void; done(): void }[] = []
  const flush = () => {
    const batch = waiting
    waiting = []
    db.exec('begin immediate')
    for (const { write } of batch) write()
    db.exec('commit')
    for (const { done } of batch) done()
  }
  return {
    commit: (session, { states, updates, bodies }) =>
      new Promise((done) => {
        if (waiting.length === 0) setImmediate(flush)
        const write = () => {
          for (let part = 0; part < states; part++) insertState.run(session, part)
          for (let part = 0; part < updates; part++) updateState.run(session, part)
          for (let i = 0; i < bodies; i++) insertBody.run(BODY)
        }
        waiting.push({ write, done })
      }),
    close: async () => db.close(),
  }
}

/** A pool of connections; each transaction is one statement, which is one round trip. */
async function openPostgres(url: string): Promise<Floor> {
  const pool = new pg.Pool({ connectionString: url, max: 32 })
  await pool.query(TABLES)
  const insertStates = 'insert into state (session, part, version) select $1, part, 0 from generate_series(0, $2::int - 1) part'
  const update = `with body as (insert into body (body) select $1 from generate_series(1, $2::int))
    update state set version = version + 1 where session = $3 and part < $4`
  return {
    commit: async (session, { states, updates, bodies }) => {
      if (states > 0) await pool.query({ name: 'states', text: insertStates, values: [session, states] })
      else await pool.query({ name: 'update', text: update, values: [BODY, bodies, session, updates] })
    },
    close: () => pool.end(),
  }
}

export async function open(place: Place): Promise<System> {
  const floor = place.database === 'postgres' ? await openPostgres(place.url) : openSqlite(place.folder)
  const messages: string[] = []
  const commitEach = async (sessionId: string, transactions: readonly Transaction[]): Promise<void> => {
    for (const transaction of transactions) await floor.commit(Number(sessionId), transaction)
  }
  return {
    async start(message) {
      const id = String(messages.push(message) - 1)
      await commitEach(id, TRANSACTIONS.slice(0, 3))
      return id
    },
    decide: (sessionId) => commitEach(sessionId, TRANSACTIONS.slice(3, 4)),
    async finish(sessionId) {
      const calls = callsFor(messages[Number(sessionId)] ?? '')
      for (const call of calls) await place.effect(call)
      await commitEach(sessionId, TRANSACTIONS.slice(4))
      return answerTo(calls.length)
    },
    recover: async () => 'the floor has no recovery',
    close: () => floor.close(),
  }
}
