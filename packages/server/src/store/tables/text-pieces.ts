import { type Kysely, type SelectQueryBuilder, sql } from 'kysely'
import { ask, lit, type Tx } from '../query.ts'
import { isInPiece, type OrderPlace, orderOf, type Piece } from './action-order.ts'
import type { ActionRow } from './action-rows.ts'
import { type ActionSearch, idsSettledIn } from './action-search.ts'
import type { Schema } from './schema.ts'

// The pieces of a search for a text. SQLite reads all arguments in the event loop, 250 KB of one action, so that a number of actions alone bounds
// no time. The lengths are read without the texts.

/** How much a piece has at most, but for the last action in it. */
export interface PieceSize {
  count: number
  bytes: number
}

const BYTES = sql<number>`octet_length(action.arguments) + octet_length(action.description)`

type Place = Pick<OrderPlace, 'key' | 'id'>

/** The id at which a piece before the id `before` ends; nothing where fewer actions are left. With `state`, only actions in it count. */
export const textPieceBefore = (before: string, state: ActionRow['state'] | undefined, size: PieceSize): Tx<Place[]> =>
  ask((db) => {
    const rows = db
      .selectFrom('action')
      .select(['id', sql<number>`0`.as('key'), BYTES.as('bytes')])
      .where('id', '<', before)
    return endOf(db, state === undefined ? rows : rows.where('state', '=', lit(state)), 'desc', size)
  })

/** The place in an order of settled actions at which a piece ends; nothing where fewer actions are left. */
export const textPieceBehind = (piece: Piece, search: ActionSearch, size: PieceSize): Tx<Place[]> =>
  ask((db, dialect) => {
    const { key, direction } = orderOf(piece)
    const rows = db
      .selectFrom('action')
      .select(['id', key.as('key'), BYTES.as('bytes')])
      .where(isInPiece(piece, search, dialect))
    return endOf(db, rows.orderBy(key, direction), direction, size)
  })

/** How much text the actions have that were settled in the time of a search. */
export const settledBytes = (search: ActionSearch): Tx<{ bytes: number }[]> =>
  ask((db) =>
    db
      .selectFrom('action')
      .select(sql<number>`coalesce(sum(${BYTES}), 0)`.as('bytes'))
      .where(sql<boolean>`action.id in (${idsSettledIn(search)})`),
  )

function endOf(
  db: Kysely<Schema>,
  rows: SelectQueryBuilder<Schema, 'action', Place & { bytes: number }>,
  direction: 'asc' | 'desc',
  { count, bytes }: PieceSize,
) {
  const along = sql`over (order by key ${sql.raw(direction)}, id ${sql.raw(direction)} rows unbounded preceding)`
  const counted = db
    .selectFrom(
      rows
        .orderBy('id', direction)
        .limit(count + 1)
        .as('listed'),
    )
    .select(['id', 'key', sql<number>`count(*) ${along}`.as('number'), sql<number>`sum(bytes) ${along}`.as('total')])
  return db
    .selectFrom(counted.as('counted'))
    .select(['id', 'key'])
    .where(sql<boolean>`number > ${count} or total > ${bytes}`)
    .orderBy('number')
    .limit(1)
}
