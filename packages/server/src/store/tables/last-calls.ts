import { sql } from 'kysely'
import { ask, type Tx } from '../query.ts'
import type { ActionRow } from './action-rows.ts'
import { actionIsVisible, type Reader } from './visibility.ts'

/** How many of the newest calls of all tools are looked at. */
const LOOK_AT = 10_000

export type LastCall = Pick<ActionRow, 'id' | 'tool' | 'state' | 'created_at'>

/**
 * The newest call of each tool among the newest {@link LOOK_AT} calls of all tools, as far as the reader sees them. One statement, whatever
 * the number of tools. An index by tool would also find a call of long ago, and would cost every proposal.
 */
export const lastCalls = (reader: Reader | undefined): Tx<LastCall[]> =>
  ask((db, dialect) => {
    const oldest = sql`coalesce((select oldest.id from action as oldest order by oldest.id desc limit 1 offset ${sql.lit(LOOK_AT - 1)}), '')`
    const visible = reader === undefined ? sql`true` : actionIsVisible(reader, 'lately', dialect)
    const newest = sql<string>`(select max(lately.id) from action as lately where lately.id >= ${oldest} and ${visible} group by lately.tool)`
    return db
      .selectFrom('action')
      .select(['id', 'tool', 'state', 'created_at'])
      .where('id', 'in', newest)
      .orderBy('id', 'desc')
      .limit(LOOK_AT)
  })
