import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { canonicalJson } from '@countersign/core'
import { Client } from 'pg'
import { dataHashOf, rowHashOf } from '../../packages/server/src/audit/row.ts'
import type { AuditRow, Database } from '../../packages/server/src/store/index.ts'

type Value = string | number | null

/** Somebody who can write to the database, knows our code, and has neither the key nor the files beside it. */
export interface Forger extends AsyncDisposable {
  /** Runs one statement; `?` stands for a value. */
  run(text: string, ...values: Value[]): Promise<Record<string, unknown>[]>
}

/** Opens a database past the server. */
export async function openForger(database: Database): Promise<Forger> {
  if (database.kind === 'sqlite') {
    const db = new DatabaseSync(join(database.dataDir, 'countersign.db'))
    return {
      run: async (text, ...values) => db.prepare(text).all(...values),
      [Symbol.asyncDispose]: async () => db.close(),
    }
  }
  const client = new Client({ connectionString: database.url })
  await client.connect()
  return {
    async run(text, ...values) {
      let n = 0
      const { rows } = await client.query(
        text.replaceAll('?', () => `$${++n}`),
        values,
      )
      return rows
    },
    [Symbol.asyncDispose]: () => client.end(),
  }
}

/** Every row of the record, by place. */
export async function readRows({ run }: Forger): Promise<AuditRow[]> {
  const rows = await run('select * from audit order by id')
  return rows.map((row) => ({
    ...(row as unknown as AuditRow),
    ...{ id: Number(row.id), seq: Number(row.seq), at: Number(row.at), follows: row.follows === null ? null : Number(row.follows) },
  }))
}

/**
 * Makes a row say something else: changes its data, then every hash that depends on it, in its row and in all rows behind it in its scope.
 * The heads stay as they are.
 */
export async function rewriteRow(forger: Forger, place: number, change: (data: Record<string, unknown>) => object): Promise<void> {
  const rows = await readRows(forger)
  const changed = rows.find(({ id }) => id === place)
  if (!changed) throw new Error(`there is no row at ${place}`)
  let prev = changed.prev
  for (const row of rows.filter(({ scope, seq }) => scope === changed.scope && seq >= changed.seq)) {
    const data = row === changed ? canonicalJson(change(JSON.parse(row.data ?? '{}')) as never) : row.data
    const data_hash = row === changed ? dataHashOf(row.salt ?? '', data ?? '') : row.data_hash
    const next = { ...row, prev, data, data_hash }
    const hash = rowHashOf(next)
    await forger.run('update audit set prev = ?, data = ?, data_hash = ?, hash = ? where id = ?', prev, data, data_hash, hash, row.id)
    await forger.run('update session set audit_hash = ? where id = ? and audit_place = ?', hash, row.scope, row.id)
    prev = hash
  }
}

/** Takes away the heads that cover a place, and all after them. */
export const deleteHeadsFrom = (forger: Forger, place: number) => forger.run('delete from audit_head where last_id >= ?', place)
