import type { DatabaseSync } from 'node:sqlite'
import { CURRENCY } from '../money.ts'

export interface Product {
  id: string
  name: string
  description: string
  priceCents: number
  currency: string
  stock: number
}

interface ProductRow {
  id: string
  name: string
  description: string
  price_cents: number
  stock: number
}

const toProduct = (row: ProductRow): Product => ({
  id: row.id,
  name: row.name,
  description: row.description,
  priceCents: row.price_cents,
  currency: CURRENCY,
  stock: row.stock,
})

/** Every product by name, at most 500. */
export const listProducts = (db: DatabaseSync): Product[] =>
  (db.prepare('SELECT * FROM product ORDER BY name LIMIT 500').all() as unknown as ProductRow[]).map(toProduct)

export function findProduct(db: DatabaseSync, productId: string): Product | undefined {
  const row = db.prepare('SELECT * FROM product WHERE id = ?').get(productId) as unknown as ProductRow | undefined
  return row && toProduct(row)
}

/** Takes from the stock if there is enough. @returns The stock left, or undefined when there was not enough and nothing was taken. */
export function takeStock(db: DatabaseSync, productId: string, quantity: number): number | undefined {
  const row = db
    .prepare('UPDATE product SET stock = stock - :quantity WHERE id = :productId AND stock >= :quantity RETURNING stock')
    .get({ productId, quantity })
  return row && Number(row.stock)
}

/** @returns The stock after putting `quantity` back. */
export const restoreStock = (db: DatabaseSync, productId: string, quantity: number): number =>
  Number(db.prepare('UPDATE product SET stock = stock + ? WHERE id = ? RETURNING stock').get(quantity, productId)?.stock)
