import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type BenchDatabase, copyActions } from './database.ts'
import { startServer, startTarget, writeServerConfig } from './server.ts'
import { statsOf } from './stats.ts'

/** Lets earlier work finish, garbage collection above all. */
const REST_MS = 5_000
const IDLE_MS = 10_000

/**
 * How a server does with `waiting` actions waiting for people: from the decision to the arrival at the target, a page of the inbox, the
 * start of the process, and what it costs to do nothing.
 */
export async function benchWaiting(openDatabase: (folder: string) => Promise<BenchDatabase>, waiting: number, decisions: number) {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-bench-'))
  const database = await openDatabase(folder)
  const target = await startTarget()
  const configFile = writeServerConfig(folder, target.url)

  const first = await startServer(configFile, database)
  const { id } = await first.call('/api/actions', { tool: 'act', arguments: { what: 'a thing' } })
  await first.stop()
  await copyActions(database, id, waiting)

  const server = await startServer(configFile, database)
  const decisionToStart: number[] = []
  for (let i = 0; i < decisions + 20; i++) {
    const action = await server.call('/api/actions', { tool: 'act', arguments: { what: `thing ${i}` } })
    const arrived = Promise.withResolvers<void>()
    target.arrivals.set(action.idempotencyKey, arrived.resolve)
    const begin = performance.now()
    const [, endMs] = await Promise.all([
      server.call(`/api/actions/${action.id}/decision`, { verdict: 'approve' }),
      arrived.promise.then(() => performance.now()),
    ])
    // The first ones warm the process up.
    if (i >= 20) decisionToStart.push(endMs - begin)
    await server.call(`/api/actions/${action.id}?wait=10&until=settled`)
  }
  const page: number[] = []
  for (let i = 0; i < 120; i++) {
    const begin = performance.now()
    const { items } = await server.call('/api/actions?state=proposed')
    if (items.length !== 50) throw new Error(`the inbox page has ${items.length} actions`)
    if (i >= 20) page.push(performance.now() - begin)
  }
  await delay(REST_MS)
  const cpuBefore = server.cpuMs()
  await delay(IDLE_MS)
  const idleCpuPercent = Number((((server.cpuMs() - cpuBefore) / IDLE_MS) * 100).toFixed(2))
  await server.stop()
  target.close()
  await database.close()
  await rm(folder, { recursive: true })
  return {
    waiting,
    startMs: server.startMs,
    decisionToArrivalMs: statsOf(decisionToStart),
    inboxPageMs: statsOf(page),
    idleCpuPercent,
  }
}
