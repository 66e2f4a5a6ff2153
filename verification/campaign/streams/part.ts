import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BOOTSTRAP_KEY } from '../../testing/bootstrap-key.ts'
import { type ChildServer, startChildServer } from '../../testing/child-server.ts'
import { createDatabase, dropDatabase, startPostgres } from '../../testing/postgres.ts'
import { startTarget } from '../../testing/target.ts'
import { temporaryFolder } from '../../testing/test-server.ts'
import type { Part, PartReport } from '../part.ts'
import { runStalled, type StalledReport } from './run-stalled.ts'
import { runStreams, type StreamsReport } from './run-streams.ts'
import { streamsSetup } from './setup.ts'

const CLIENTS = 500
const SOCKETS = 200
/** Measured: 104 to 194 MB, with 20 MB posted to each reader as with 72. Kept for the readers, the 20 MB would be 4 GB. */
const MAX_GROWTH_BYTES = 300_000_000
/** The longest wait of other clients while some readers are stalled. */
const MAX_P99_MS = 250
const PROCESSES = { sqlite: 1, postgres: 3 }
type Kind = keyof typeof PROCESSES

const headers = { authorization: `Bearer ${BOOTSTRAP_KEY}` }

interface Figures {
  database: Kind
  processes: number
  cut?: StreamsReport
  stalled?: StalledReport
}

/** Readers that are cut at random bytes, and readers that stand still. */
export const streamsPart: Part = async ({ seed, database, say }) => {
  const report: PartReport & { figures: Figures[] } = { violations: [], missing: [], figures: [] }
  for (const kind of database ? [database] : (['sqlite', 'postgres'] as const)) {
    const figures: Figures = { database: kind, processes: PROCESSES[kind] }
    report.figures.push(figures)
    const problem = (sentence: string) => report.violations.push(`${kind}: ${sentence}`)
    try {
      await withServers(kind, async (servers) => {
        const cut = await runStreams({ seed, clients: CLIENTS, servers: servers.map(({ admin }) => admin), headers })
        figures.cut = cut
        say(`streams ${kind}: ${cut.clients} readers, ${cut.connections} connections, ${cut.events} events`)
        if (cut.insideEvent < CLIENTS) report.missing.push(`${kind}: ${cut.insideEvent} cuts inside an event, ${CLIENTS} are needed`)
        if (cut.insideMessage < CLIENTS / 10) report.missing.push(`${kind}: ${cut.insideMessage} cuts inside a message`)
        const [first] = servers
        if (!first) return
        const memoryOf = () => residentBytes(first.pid)
        const stalled = await runStalled({ server: first.admin, headers, sockets: SOCKETS, memoryOf })
        figures.stalled = stalled
        say(`streams ${kind}: ${SOCKETS} readers stand still, ${Math.round(stalled.grewBytes / 1e6)} MB more`)
        if (stalled.grewBytes > MAX_GROWTH_BYTES) problem(`readers that stand still cost ${stalled.grewBytes} bytes`)
        const worst = Math.max(MAX_P99_MS, 2 * stalled.eventMs.alone.p99)
        if (stalled.eventMs.among.p99 > worst) problem(`others waited ${stalled.eventMs.among.p99} ms for their events`)
      })
    } catch (error) {
      problem(error instanceof Error ? error.message : String(error))
    }
  }
  return report
}

async function withServers(kind: Kind, work: (servers: ChildServer[]) => Promise<void>): Promise<void> {
  await using stack = new AsyncDisposableStack()
  const folder = stack.use(temporaryFolder())
  const { config, scripts } = streamsSetup(stack.use(await startTarget(() => ({ status: 200, body: { id: 9 } }))))
  const configFile = join(folder.path, 'countersign.json')
  writeFileSync(configFile, JSON.stringify(config))
  for (const [name, steps] of Object.entries(scripts)) writeFileSync(join(folder.path, `${name}.json`), JSON.stringify({ steps }))
  const environment: Record<string, string> = {}
  if (kind === 'postgres') {
    const cluster = stack.use(await startPostgres())
    const url = await createDatabase(cluster.url('postgres'))
    stack.defer(() => dropDatabase(url))
    environment.DATABASE_URL = url
  }
  const servers: ChildServer[] = []
  while (servers.length < PROCESSES[kind]) {
    servers.push(stack.use(await startChildServer({ configFile, dataDir: join(folder.path, 'data'), environment })))
  }
  await work(servers)
}

const residentBytes = (pid: number): number => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1_024
