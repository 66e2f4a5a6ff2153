import type { DatabaseSync } from 'node:sqlite'
import { insertLines, orderIdOf } from './checkout.ts'
import { type OrderStatus, transaction } from './database.ts'
import { listProducts } from './products.ts'

const HOUR_MS = 3_600_000

/** Stock is what is left after the orders below. */
const PRODUCTS: readonly [id: string, name: string, description: string, priceCents: number, stock: number][] = [
  ['mug', 'Stoneware mug', 'Speckled glaze, 350 ml, dishwasher safe', 1450, 24],
  ['notebook', 'Dotted notebook', 'A5, 160 pages, lies flat', 1290, 40],
  ['pen', 'Gel pen', 'Black ink, 0.5 mm', 320, 120],
  ['tote', 'Canvas tote bag', 'Organic cotton, long handles', 1800, 15],
  ['bottle', 'Steel water bottle', 'Insulated, 500 ml', 2690, 9],
  ['lamp', 'Desk lamp', 'Warm dimmable LED, brass arm', 7900, 3],
  ['poster', 'City map poster', '50 × 70 cm, unframed', 2400, 1],
  ['candle', 'Beeswax candle', 'Hand poured, burns 30 hours', 1150, 0],
]

const ORDERS: readonly [hoursAgo: number, status: OrderStatus, name: string, items: Record<string, number>][] = [
  [212, 'pending', 'Ines Moreau', { mug: 2, notebook: 1 }],
  [188, 'shipped', 'Tomasz Zielinski', { lamp: 1 }],
  [171, 'pending', 'Grace Okafor', { tote: 2 }],
  [143, 'processing', 'Henrik Dahl', { bottle: 1, pen: 4 }],
  [120, 'shipped', 'Mei Tanaka', { notebook: 6, pen: 12 }],
  [97, 'cancelled', 'Rosa Delgado', { candle: 3 }],
  [74, 'processing', 'Samir Haddad', { mug: 6 }],
  [58, 'shipped', 'Clara Lindqvist', { poster: 1, candle: 2 }],
  [41, 'processing', 'Owen Price', { tote: 1, bottle: 2, notebook: 2 }],
  [26, 'pending', 'Yara Santos', { lamp: 1, mug: 1 }],
  [9, 'cancelled', 'Felix Brandt', { bottle: 1 }],
  [3, 'pending', 'Noor Rahman', { notebook: 3, pen: 3, tote: 1 }],
]

/** Fills an empty shop with products and ORD-001 … ORD-012, dated back from `nowMs`. A shop that has products is left alone. */
export function seedIfEmpty(db: DatabaseSync, nowMs: number): void {
  transaction(db, () => {
    if (listProducts(db).length > 0) return
    const addProduct = db.prepare('INSERT INTO product (id, name, description, price_cents, stock) VALUES (?, ?, ?, ?, ?)')
    for (const product of PRODUCTS) addProduct.run(...product)

    const catalogue = new Map(listProducts(db).map((product) => [product.id, product]))
    const addOrder = db.prepare(
      `INSERT INTO shop_order (id, number, status, customer_name, customer_email, total_cents, created_at, updated_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    )
    for (const [index, [hoursAgo, status, name, items]] of ORDERS.entries()) {
      const lines = Object.entries(items).map(([productId, quantity]) => {
        const product = catalogue.get(productId)
        if (!product) throw new Error(`the seed names a product that it does not have: ${productId}`)
        return { productId, name: product.name, quantity, unitPriceCents: product.priceCents }
      })
      const totalCents = lines.reduce((sum, line) => sum + line.unitPriceCents * line.quantity, 0)
      const createdAt = nowMs - hoursAgo * HOUR_MS
      const updatedAt = status === 'pending' ? createdAt : createdAt + 2 * HOUR_MS
      const email = `${name.toLowerCase().replace(' ', '.')}@example.com`
      addOrder.run(orderIdOf(index + 1), index + 1, status, name, email, totalCents, createdAt, updatedAt)
      insertLines(db, orderIdOf(index + 1), lines)
    }
  })
}
