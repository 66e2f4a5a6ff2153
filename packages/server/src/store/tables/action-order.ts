import { RiskLevel, type SettledOrder } from '@countersign/core'
import { type RawBuilder, sql } from 'kysely'
import type { Dialect } from '../dialect.ts'
import { riskOf, wasAsked } from '../stored-action.ts'
import type { ActionRow } from './action-rows.ts'
import type { ActionSearch } from './action-search.ts'

/** The place of an action in an order: the stretch that it is in, its key there, and its id among those with the same key. */
export interface OrderPlace {
  stretch: number
  key: number
  id: string
}

/** A part of an order: all settled actions of one kind, along one index. An order without parts would need a sort of everything. */
interface Stretch {
  /** What its actions have in common; undefined for all settled actions. Literals, so that the partial index of these actions is used. */
  only?: (dialect: Dialect) => RawBuilder<boolean>
  has?: (row: ActionRow) => boolean
  /** The number by which they are ordered, and its value for a row. */
  key: RawBuilder<number>
  keyOf: (row: ActionRow) => number
  isAscending?: true
}

const SETTLED_AT = sql<number>`settled_at`
const bySettled = { key: SETTLED_AT, keyOf: ({ settled_at }: ActionRow) => settled_at ?? 0 }

// As in the index of 0020_orders.sql.
const WAITED = sql<number>`(coalesce(decided_at, settled_at) - created_at)`
const verdict = (dialect: Dialect) => dialect.jsonText('action.policy', 'verdict')

const ofRisk = (level: RiskLevel): Stretch => ({
  only: (dialect) => sql`${dialect.jsonText('action.risk', 'level')} = ${sql.lit(JSON.stringify(level))}`,
  has: (row) => riskOf(row).level === level,
  ...bySettled,
})

/** Each order as its stretches. Every settled action is in exactly one stretch of each: none is missing for having no value to order by. */
const ORDERS: Readonly<Record<SettledOrder, readonly Stretch[]>> = {
  settled: [bySettled],
  settled_oldest: [{ ...bySettled, isAscending: true }],
  waited: [
    {
      only: (dialect) => sql`${verdict(dialect)} = '"ask"'`,
      has: wasAsked,
      key: WAITED,
      keyOf: ({ decided_at, settled_at, created_at }) => (decided_at ?? settled_at ?? created_at) - created_at,
    },
    { only: (dialect) => sql`coalesce(${verdict(dialect)}, '') <> '"ask"'`, ...bySettled },
  ],
  risk: RiskLevel.options.toReversed().map(ofRisk),
}

/** How many stretches an order has. */
export const stretchesOf = (order: SettledOrder): number => ORDERS[order].length

const stretchAt = (order: SettledOrder, at: number): Stretch => ORDERS[order][at] ?? bySettled

/** Returns the place of a settled action in an order. */
export function placeIn(order: SettledOrder, row: ActionRow): OrderPlace {
  const stretch = ORDERS[order].findIndex(({ has }) => has === undefined || has(row))
  return { stretch, key: stretchAt(order, stretch).keyOf(row), id: row.id }
}

/** A piece of a stretch: behind the place `after`, up to the place `upTo`, which is in it. */
export interface Piece {
  order: SettledOrder
  stretch: number
  after?: OrderPlace | undefined
  upTo?: OrderPlace | undefined
}

/** True where a stretch is along the times at which actions were settled: then the range of its index also bounds the times of a search. */
export const isAlongTimes = ({ order, stretch }: Pick<Piece, 'order' | 'stretch'>): boolean => stretchAt(order, stretch).key === SETTLED_AT

/** The key of a piece and the direction of its order. */
export function orderOf({ order, stretch }: Pick<Piece, 'order' | 'stretch'>): { key: RawBuilder<number>; direction: 'asc' | 'desc' } {
  const { key, isAscending } = stretchAt(order, stretch)
  return { key, direction: isAscending ? 'asc' : 'desc' }
}

/** True for the settled actions of a piece, in the time of a search. */
export function isInPiece({ order, stretch, after, upTo }: Piece, search: ActionSearch, dialect: Dialect): RawBuilder<boolean> {
  const { key, only, isAscending } = stretchAt(order, stretch)
  const { settledAfter = 0, settledBefore = Number.MAX_SAFE_INTEGER } = search
  const [low, high] = isAscending ? [after, upTo] : [upTo, after]
  const conditions: RawBuilder<boolean>[] = only ? [only(dialect)] : []
  // The plain bounds name the range of the index: of a row value SQLite takes the first column only where nothing else bounds it.
  if (key === SETTLED_AT) {
    conditions.push(sql`settled_at >= ${Math.max(settledAfter, low?.key ?? 0)}`)
    conditions.push(high === undefined ? sql`settled_at < ${settledBefore}` : sql`settled_at <= ${high.key}`)
  } else {
    conditions.push(sql`settled_at is not null`)
    if (low !== undefined) conditions.push(sql`${key} >= ${low.key}`)
    if (high !== undefined) conditions.push(sql`${key} <= ${high.key}`)
  }
  if (low !== undefined) conditions.push(sql`(${key}, id) ${isAscending ? sql`>` : sql`>=`} (${low.key}, ${low.id})`)
  if (high !== undefined) conditions.push(sql`(${key}, id) ${isAscending ? sql`<=` : sql`<`} (${high.key}, ${high.id})`)
  return sql`(${sql.join(conditions, sql` and `)})`
}
