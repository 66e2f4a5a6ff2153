import type { DatabaseSync } from 'node:sqlite'
import { CURRENCY } from '../money.ts'
import { Refusal } from '../problem.ts'
import type { OrderStatus } from './database.ts'
import { logEffect } from './effects.ts'
import { restoreStock } from './products.ts'

export interface OrderSummary {
  id: string
  status: OrderStatus
  customerName: string | null
  customerEmail: string | null
  itemCount: number
  totalCents: number
  currency: string
  createdAt: string
  updatedAt: string
}

interface OrderLine {
  productId: string
  name: string
  quantity: number
  unitPriceCents: number
  lineTotalCents: number
}

export interface Order extends OrderSummary {
  lines: OrderLine[]
}

interface OrderRow {
  id: string
  status: OrderStatus
  customer_name: string | null
  customer_email: string | null
  item_count: number
  total_cents: number
  created_at: number
  updated_at: number
}

interface LineRow {
  product_id: string
  name: string
  quantity: number
  unit_price_cents: number
}

/** Where an order may go from each status. Shipped and cancelled orders are finished. */
const NEXT_STATUSES: Record<OrderStatus, readonly OrderStatus[]> = {
  pending: ['processing', 'cancelled'],
  processing: ['shipped', 'cancelled'],
  shipped: [],
  cancelled: [],
}

const SELECT_ORDER = `SELECT o.*, (SELECT coalesce(sum(quantity), 0) FROM order_line WHERE order_id = o.id) AS item_count FROM shop_order o`

const toSummary = (row: OrderRow): OrderSummary => ({
  id: row.id,
  status: row.status,
  customerName: row.customer_name,
  customerEmail: row.customer_email,
  itemCount: row.item_count,
  totalCents: row.total_cents,
  currency: CURRENCY,
  createdAt: new Date(row.created_at).toISOString(),
  updatedAt: new Date(row.updated_at).toISOString(),
})

const toLine = (row: LineRow): OrderLine => ({
  productId: row.product_id,
  name: row.name,
  quantity: row.quantity,
  unitPriceCents: row.unit_price_cents,
  lineTotalCents: row.unit_price_cents * row.quantity,
})

/** Orders newest first, with how many match in all. */
export function listOrders(
  db: DatabaseSync,
  filter: { status?: OrderStatus | undefined; limit: number },
): { items: OrderSummary[]; total: number } {
  const match = { status: filter.status ?? null }
  const where = 'WHERE (:status IS NULL OR status = :status)'
  const rows = db
    .prepare(`${SELECT_ORDER} ${where} ORDER BY o.created_at DESC, o.number DESC LIMIT :limit`)
    .all({ ...match, limit: filter.limit })
  const total = Number(db.prepare(`SELECT count(*) AS total FROM shop_order ${where}`).get(match)?.total)
  return { items: (rows as unknown as OrderRow[]).map(toSummary), total }
}

/** @throws Refusal 404 when there is no such order. */
export function readOrder(db: DatabaseSync, orderId: string): Order {
  const row = db.prepare(`${SELECT_ORDER} WHERE o.id = ?`).get(orderId) as unknown as OrderRow | undefined
  if (!row) throw new Refusal(404, `There is no order ${orderId}.`)
  const lines = db.prepare('SELECT * FROM order_line WHERE order_id = ? ORDER BY position').all(orderId)
  return { ...toSummary(row), lines: (lines as unknown as LineRow[]).map(toLine) }
}

/**
 * Moves an order and gives the goods of a cancelled one back to the stock. Call it inside a transaction.
 * @throws Refusal 404 for an unknown order; 409 when its status does not allow the move.
 */
export function changeStatus(
  db: DatabaseSync,
  change: { orderId: string; status: OrderStatus; idempotencyKey: string | null; atMs: number },
): Order {
  const { orderId, status: to, idempotencyKey, atMs } = change
  const { status: from, lines } = readOrder(db, orderId)
  if (!NEXT_STATUSES[from].includes(to)) throw new Refusal(409, refusal(orderId, from, to), { orderStatus: from })
  const moved = db
    .prepare('UPDATE shop_order SET status = ?, updated_at = max(?, created_at) WHERE id = ? AND status = ?')
    .run(to, atMs, orderId, from)
  if (moved.changes !== 1) throw new Error(`order ${orderId} moved inside our own transaction`)

  const before = { status: from, stock: {} as Record<string, number> }
  const after = { status: to, stock: {} as Record<string, number> }
  if (to === 'cancelled') {
    for (const { productId, quantity } of lines) {
      const stock = restoreStock(db, productId, quantity)
      before.stock[productId] = stock - quantity
      after.stock[productId] = stock
    }
  }
  logEffect(db, { kind: 'status_changed', orderId, idempotencyKey, before, after, atMs })
  return readOrder(db, orderId)
}

function refusal(orderId: string, from: OrderStatus, to: OrderStatus): string {
  if (from === to) return `Order ${orderId} is already ${to}.`
  const next = NEXT_STATUSES[from]
  const possible = next.length === 0 ? 'it cannot change any more' : `it can only become ${next.join(' or ')}`
  return `Order ${orderId} is ${from} and cannot become ${to}: ${possible}.`
}
