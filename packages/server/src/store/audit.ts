import { lit, question, type Tx, takePlaces } from './query.ts'
import type { AuditRow } from './schema.ts'

const insert = question<{ [K in keyof AuditRow]: AuditRow[K] }>((db, p) =>
  db.insertInto('audit').values({
    id: p.id,
    scope: p.scope,
    seq: p.seq,
    prev: p.prev,
    at: p.at,
    kind: p.kind,
    actor: p.actor,
    action_id: p.action_id,
    data: p.data,
    salt: p.salt,
    data_hash: p.data_hash,
    hash: p.hash,
  }),
)

/** Stores one row of the record, at the next place. It fails, and its transaction with it, when another one has its number in the scope. */
export function* insertRow(row: Omit<AuditRow, 'id'>): Tx<void> {
  yield* insert.run({ id: yield* takePlaces(1), ...row })
}

/** The last row of a scope. */
export const lastOfScope = question<{ scope: string }, Pick<AuditRow, 'seq' | 'hash'>>((db, p) =>
  db.selectFrom('audit').select(['seq', 'hash']).where('scope', '=', p.scope).orderBy('seq', 'desc').limit(lit(1)),
)
