import type { DatabaseSync } from 'node:sqlite'
import type { OrderStatus } from './database.ts'

/** The state changed by an effect: the order's status, and the stock of each product by its id. */
interface EffectState {
  status?: OrderStatus
  totalCents?: number
  stock?: Record<string, number>
}

/** One thing that really happened, in the order of `id`. */
export interface Effect {
  id: number
  at: string
  kind: 'order_placed' | 'status_changed'
  orderId: string
  idempotencyKey: string | null
  before: EffectState
  after: EffectState
}

interface EffectRow {
  id: number
  at: number
  kind: Effect['kind']
  order_id: string
  idempotency_key: string | null
  before: string
  after: string
}

const toEffect = (row: EffectRow): Effect => ({
  id: row.id,
  at: new Date(row.at).toISOString(),
  kind: row.kind,
  orderId: row.order_id,
  idempotencyKey: row.idempotency_key,
  before: JSON.parse(row.before),
  after: JSON.parse(row.after),
})

/** Call it in the transaction of the change itself: then an effect is logged exactly when it happened. */
export function logEffect(db: DatabaseSync, effect: Omit<Effect, 'id' | 'at'> & { atMs: number }): void {
  db.prepare('INSERT INTO effect (at, kind, order_id, idempotency_key, before, after) VALUES (?, ?, ?, ?, ?, ?)').run(
    effect.atMs,
    effect.kind,
    effect.orderId,
    effect.idempotencyKey,
    JSON.stringify(effect.before),
    JSON.stringify(effect.after),
  )
}

/** Effects newest first, with how many match in all. */
export function listEffects(
  db: DatabaseSync,
  filter: { orderId?: string | undefined; idempotencyKey?: string | undefined; limit: number },
): { items: Effect[]; total: number } {
  const where = 'WHERE (:orderId IS NULL OR order_id = :orderId) AND (:key IS NULL OR idempotency_key = :key)'
  const match = { orderId: filter.orderId ?? null, key: filter.idempotencyKey ?? null }
  const rows = db.prepare(`SELECT * FROM effect ${where} ORDER BY id DESC LIMIT :limit`).all({ ...match, limit: filter.limit })
  const total = Number(db.prepare(`SELECT count(*) AS total FROM effect ${where}`).get(match)?.total)
  return { items: (rows as unknown as EffectRow[]).map(toEffect), total }
}

/** The id of the newest effect, 0 before the first: pages compare it to know that something changed. */
export const newestEffectId = (db: DatabaseSync): number => Number(db.prepare('SELECT coalesce(max(id), 0) AS id FROM effect').get()?.id)
