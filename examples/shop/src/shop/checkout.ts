import type { DatabaseSync } from 'node:sqlite'
import { formatMoney } from '../money.ts'
import { Refusal } from '../problem.ts'
import { logEffect } from './effects.ts'
import { type Order, readOrder } from './orders.ts'
import { findProduct, type Product, takeStock } from './products.ts'

export interface CheckoutRequest {
  items: readonly { productId: string; quantity: number }[]
  customerName: string | null
  customerEmail: string | null
}

/** `ORD-007`, from the order's number. */
export const orderIdOf = (number: number): string => `ORD-${String(number).padStart(3, '0')}`

/**
 * Prices an order without placing it. Does not change the stock.
 * @returns The lines and the total at current prices, formatted for people.
 * @throws Refusal 422 for an unknown product.
 */
export function quote(db: DatabaseSync, items: CheckoutRequest['items']): { lines: QuotedLine[]; total: string } {
  const priced = sumByProduct(items).map(({ productId, quantity }) => ({ quantity, product: productOf(db, productId) }))
  return {
    lines: priced.map(({ product, quantity }) => ({
      product: product.name,
      quantity,
      price: formatMoney(product.priceCents),
      amount: formatMoney(product.priceCents * quantity),
    })),
    total: formatMoney(priced.reduce((sum, { product, quantity }) => sum + product.priceCents * quantity, 0)),
  }
}

type QuotedLine = { product: string; quantity: number; price: string; amount: string }

function productOf(db: DatabaseSync, productId: string): Product {
  const product = findProduct(db, productId)
  if (!product) throw new Refusal(422, `There is no product “${productId}”.`, { productId })
  return product
}

/**
 * Places an order: takes the stock, computes the totals, gives the next number. Call it inside a transaction.
 * @throws Refusal 422 for an unknown product; 409 when one is out of stock, naming it.
 */
export function checkout(db: DatabaseSync, request: CheckoutRequest, context: { idempotencyKey: string | null; atMs: number }): Order {
  const stockBefore: Record<string, number> = {}
  const stockAfter: Record<string, number> = {}
  const lines = sumByProduct(request.items).map(({ productId, quantity }) => {
    const product = productOf(db, productId)
    const left = takeStock(db, productId, quantity)
    if (left === undefined) throw outOfStock(product, quantity)
    stockBefore[productId] = left + quantity
    stockAfter[productId] = left
    return { productId, name: product.name, quantity, unitPriceCents: product.priceCents }
  })
  const totalCents = lines.reduce((sum, line) => sum + line.unitPriceCents * line.quantity, 0)

  const number = Number(db.prepare('SELECT coalesce(max(number), 0) + 1 AS next FROM shop_order').get()?.next)
  const orderId = orderIdOf(number)
  db.prepare(
    `INSERT INTO shop_order (id, number, status, customer_name, customer_email, total_cents, created_at, updated_at)
     VALUES (?, ?, 'pending', ?, ?, ?, ?, ?)`,
  ).run(orderId, number, request.customerName, request.customerEmail, totalCents, context.atMs, context.atMs)
  insertLines(db, orderId, lines)

  logEffect(db, {
    kind: 'order_placed',
    orderId,
    idempotencyKey: context.idempotencyKey,
    before: { stock: stockBefore },
    after: { status: 'pending', totalCents, stock: stockAfter },
    atMs: context.atMs,
  })
  return readOrder(db, orderId)
}

/** Writes the lines of an order with the names and prices of the day. */
export function insertLines(
  db: DatabaseSync,
  orderId: string,
  lines: readonly { productId: string; name: string; quantity: number; unitPriceCents: number }[],
): void {
  const insert = db.prepare(
    'INSERT INTO order_line (order_id, position, product_id, name, quantity, unit_price_cents) VALUES (?, ?, ?, ?, ?, ?)',
  )
  for (const [index, line] of lines.entries()) {
    insert.run(orderId, index + 1, line.productId, line.name, line.quantity, line.unitPriceCents)
  }
}

function sumByProduct(items: CheckoutRequest['items']): { productId: string; quantity: number }[] {
  const quantities = new Map<string, number>()
  for (const { productId, quantity } of items) quantities.set(productId, (quantities.get(productId) ?? 0) + quantity)
  return [...quantities].map(([productId, quantity]) => ({ productId, quantity }))
}

function outOfStock(product: { id: string; name: string; stock: number }, wanted: number): Refusal {
  const left = product.stock === 0 ? 'is out of stock' : `has only ${product.stock} left in stock, not ${wanted}`
  return new Refusal(409, `${product.name} ${left}. Nothing was ordered.`, { productId: product.id, stock: product.stock })
}
