import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type BenchDatabase, copyActions } from './database.ts'
import { statsOf } from './stats.ts'

const MAIN = fileURLToPath(new URL('../packages/server/src/main.ts', import.meta.url))
const KEY = 'the-key-of-the-benchmarks'
/** Lets earlier work finish, garbage collection above all. */
const REST_MS = 5_000
const IDLE_MS = 10_000

/** Begins a service that the one tool of the configuration calls; tells when each call arrived. */
async function startTarget() {
  const arrivals = new Map<string, () => void>()
  const server = createServer((request, response) => {
    arrivals.get(String(request.headers['idempotency-key']))?.()
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, arrivals, close: () => server.close() }
}

/** A server of its own process, as people start it. */
async function startServer(configFile: string, database: BenchDatabase) {
  const begin = performance.now()
  const flags = ['serve', '--config', configFile, '--port', '0', '--no-open', '--log-level', 'error', ...database.flags]
  const child = spawn(process.execPath, ['--conditions=countersign-source', '--disable-warning=ExperimentalWarning', MAIN, ...flags], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { COUNTERSIGN_BOOTSTRAP_KEY: KEY },
  })
  const url = await new Promise<string>((resolve, reject) => {
    let text = ''
    child.stdout.on('data', (chunk) => {
      text += chunk
      const found = /ready at (http:\S+)/.exec(text)?.[1]
      if (found) resolve(found)
    })
    child.once('exit', (code) => reject(new Error(`the server ended with ${code}`)))
  })
  const call = async (path: string, body?: unknown) => {
    const response = await fetch(`${url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${KEY}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return response.json()
  }
  await call('/readyz')
  return {
    startMs: Math.round(performance.now() - begin),
    call,
    /** Processor time that the process has used, in ms (a tick of the kernel is 10 ms). */
    cpuMs: () => {
      const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
      return (Number(fields[11]) + Number(fields[12])) * 10
    },
    stop: async () => {
      child.kill('SIGTERM')
      await once(child, 'exit')
    },
  }
}

/**
 * How a server does with `waiting` actions waiting for people: from the decision to the arrival at the target, a page of the inbox, the
 * start of the process, and what it costs to do nothing.
 */
export async function benchWaiting(openDatabase: (folder: string) => Promise<BenchDatabase>, waiting: number, decisions: number) {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-bench-'))
  const database = await openDatabase(folder)
  const target = await startTarget()
  const configFile = join(folder, 'countersign.json')
  const tool = {
    method: 'POST',
    path: '/things',
    input: { type: 'object', required: ['what'], properties: { what: { type: 'string' } } },
    describe: 'Do {what}',
    idempotent: true,
  }
  writeFileSync(configFile, JSON.stringify({ tools: { desk: { prefix: false, routes: { baseUrl: target.url, tools: { act: tool } } } } }))

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
