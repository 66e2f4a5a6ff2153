import type { ServerResponse } from 'node:http'
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'

/** A request that takes longer is cut off. Work in the background has had its own time by then. */
const PATIENCE_MS = 5_000

/**
 * Makes the application answer the requests under way before it closes their connections: a caller without an answer does not know whether
 * its decision counts. Requests that begin meanwhile are refused at once.
 */
export function answerBeforeClosing(app: FastifyInstance): void {
  const underWay = new Set<ServerResponse>()
  // One function for all: each open stream would keep its own.
  function forget(this: ServerResponse) {
    underWay.delete(this)
  }
  app.addHook('onRequest', async (_request, { raw }) => {
    underWay.add(raw)
    raw.once('close', forget)
  })
  app.addHook('preClose', async () => {
    // Requests that have arrived are read first, and refused.
    await turn()
    const answers = [...underWay].map((raw) => new Promise((resolve) => raw.once('close', resolve)))
    await Promise.race([Promise.all(answers), wait(PATIENCE_MS, undefined, { ref: false })])
  })
}
