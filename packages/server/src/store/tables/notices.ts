import { sql } from 'kysely'
import { ask, type Tx } from '../query.ts'
import type { OwnConnection } from './processes.ts'

const CHANNEL = 'countersign'
/** Postgres takes less than 8,000 bytes. */
export const MAX_NOTICE_BYTES = 7_900

/** Listens to the notices of all processes from now on. */
export const listen = (connection: OwnConnection): Promise<unknown> => connection.query({ text: `listen ${CHANNEL}` })

/** Tells every listening process, on commit, to read everything again, because the writer is not a server. */
export function* tellToLookAgain(): Tx<void> {
  yield* ask((db) => ({ compile: () => sql`select pg_notify(${sql.lit(CHANNEL)}, '')`.compile(db) }))
}

/** Sends a notice to every listening process, including this one. */
export const notify = (connection: OwnConnection, text: string): Promise<unknown> =>
  connection.query({ name: 'notify', text: `select pg_notify('${CHANNEL}', $1)`, values: [text] })
