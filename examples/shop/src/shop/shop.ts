import { openApp } from '../http.ts'
import { addApi } from './api.ts'
import { allowLocalPages } from './cors.ts'
import { openDatabase } from './database.ts'
import { seedIfEmpty } from './seed.ts'
import { addSite } from './site.ts'

const BODY_LIMIT_BYTES = 65_536

export interface ShopOptions {
  /** The SQLite file; it is made, with its folder and the seed data, when it is not there. */
  databaseFile: string
  /** Default 4400; 0 takes a free one. */
  port?: number
  /** Default `127.0.0.1`. */
  host?: string
  /** The clock, in epoch ms. Default `Date.now`. */
  nowMs?: () => number
}

export interface Shop {
  /** Where it listens, for example `http://127.0.0.1:4400`. */
  readonly url: string
  /** Ends open connections and closes the database. Calling it again is harmless. */
  close(): Promise<void>
}

/**
 * Starts the order desk: JSON routes under `/api`, pages for people at `/` and `/orders/{orderId}`.
 * @throws When the port is taken or the file is not a database.
 * @example
 * const shop = await createShop({ databaseFile: './data/shop.db', port: 0 })
 * console.log(await (await fetch(`${shop.url}/api/orders/ORD-001`)).json())
 * await shop.close()
 */
export async function createShop({ databaseFile, port = 4400, host = '127.0.0.1', nowMs = Date.now }: ShopOptions): Promise<Shop> {
  const db = openDatabase(databaseFile)
  try {
    seedIfEmpty(db, nowMs())
    const app = openApp({ service: 'shop', bodyLimitBytes: BODY_LIMIT_BYTES })
    app.addHook('onClose', async () => db.close())
    allowLocalPages(app)
    addApi(app, { db, nowMs })
    addSite(app, db)
    const url = await app.listen({ port, host })
    return { url, close: () => app.close() }
  } catch (error) {
    if (db.isOpen) db.close()
    throw error
  }
}
