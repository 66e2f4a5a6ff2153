import { type FastifyError, type FastifyInstance, type FastifyReply, fastify } from 'fastify'
import { addApi } from './api.ts'
import { openDatabase } from './database.ts'
import { ShopError, toProblem } from './problem.ts'
import { seedIfEmpty } from './seed.ts'
import { addSite } from './site.ts'

const BODY_LIMIT_BYTES = 65_536
const SQLITE_BUSY = 5

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
    const app = fastify({ bodyLimit: BODY_LIMIT_BYTES, forceCloseConnections: true })
    app.addHook('onClose', async () => db.close())
    answerProblems(app)
    addApi(app, { db, nowMs })
    addSite(app, db)
    const url = await app.listen({ port, host })
    return { url, close: () => app.close() }
  } catch (error) {
    if (db.isOpen) db.close()
    throw error
  }
}

/** Every error is a problem document; what nobody foresaw is logged whole and answered without its message. */
function answerProblems(app: FastifyInstance): void {
  // A form or a text/plain post from a foreign page would need no preflight; only JSON is understood here.
  app.removeContentTypeParser('text/plain')

  app.setNotFoundHandler((request, reply) => sendProblem(reply, 404, `There is no ${request.method} ${request.url.slice(0, 200)} here.`))
  app.setErrorHandler((error: FastifyError | ShopError, _request, reply) => {
    if (error instanceof ShopError) return sendProblem(reply, error.status, error.message, error.extra)
    if (error.statusCode !== undefined && error.statusCode < 500) return sendProblem(reply, error.statusCode, error.message)
    if ('errcode' in error && error.errcode === SQLITE_BUSY) {
      return sendProblem(reply.header('retry-after', '1'), 503, 'The database is busy. Nothing was changed.')
    }
    console.error('shop.unexpected_error', error)
    return sendProblem(reply, 500, 'The shop could not answer. Look at its log.')
  })
}

const sendProblem = (reply: FastifyReply, status: number, detail: string, extra: Readonly<Record<string, unknown>> = {}) =>
  reply
    .code(status)
    .type('application/problem+json; charset=utf-8')
    .send(toProblem(status, detail, extra))
