import { sql } from 'kysely'
import { ask, type Tx } from '../query.ts'
import type { OwnConnection } from './processes.ts'

const CHANNEL = 'countersign'
/** Postgres takes less than 8,000 bytes. */
export const MAX_NOTICE_BYTES = 7_900

/** Hears from now on what any process tells. */
export const listen = (connection: OwnConnection): Promise<unknown> => connection.query({ text: `listen ${CHANNEL}` })

/** Tells every process that listens, with the commit, to look at everything again: what no server wrote. */
export function* tellToLookAgain(): Tx<void> {
  yield* ask((db) => ({ compile: () => sql`select pg_notify(${sql.lit(CHANNEL)}, '')`.compile(db) }))
}

/** Tells every process that listens, this one too. */
export const notify = (connection: OwnConnection, text: string): Promise<unknown> =>
  connection.query({ name: 'notify', text: `select pg_notify('${CHANNEL}', $1)`, values: [text] })
