import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import type { Place } from './adapter.ts'

/** Where a program keeps the state of a library that stores nothing itself: one row a session, replaced at each save. */
export interface HandStore {
  save(sessionId: string, state: string): Promise<void>
  /** @throws Error when nothing was saved for the session. */
  load(sessionId: string): Promise<string>
  close(): Promise<void>
}

const TABLE = 'create table if not exists session (id text primary key, state text not null)'

const foundIn = (row: { state?: unknown } | undefined, sessionId: string): string => {
  if (row === undefined) throw new Error(`session ${sessionId} was never saved`)
  return String(row.state)
}

export async function openHandStore(place: Place): Promise<HandStore> {
  if (place.database === 'postgres') {
    const pool = new pg.Pool({ connectionString: place.url, max: 32 })
    await pool.query(TABLE)
    const upsert = 'insert into session values ($1, $2) on conflict (id) do update set state = excluded.state'
    return {
      save: async (id, state) => void (await pool.query({ name: 'save', text: upsert, values: [id, state] })),
      load: async (id) => {
        const { rows } = await pool.query({ name: 'load', text: 'select state from session where id = $1', values: [id] })
        return foundIn(rows[0], id)
      },
      close: () => pool.end(),
    }
  }
  const db = new DatabaseSync(join(place.folder, 'sessions.db'))
  db.exec(`pragma journal_mode=wal; pragma synchronous=full; ${TABLE}`)
  const save = db.prepare('insert into session values (?, ?) on conflict (id) do update set state = excluded.state')
  const load = db.prepare('select state from session where id = ?')
  return {
    save: async (id, state) => void save.run(id, state),
    load: async (id) => foundIn(load.get(id), id),
    close: async () => db.close(),
  }
}
