import { Logger as GraphileLogger, runMigrations } from 'graphile-worker'
import { Pool } from 'pg'
import type { Logger } from 'pino'
import { systemClock } from '../clock.ts'
import { reach } from '../points.ts'
import { claims, inMigrationLock, type JobName } from '../store/index.ts'
import type { Dispatch } from './dispatch.ts'
import { type JobPool, openJobPool } from './job-pool.ts'
import type { Notices } from './notices.ts'
import type { Processes } from './processes.ts'
import { createSessionLoops } from './session-loops.ts'
import { createUnderWay } from './under-way.ts'

/** Connections for jobs: two that hear of new ones, and enough to fetch and end them. */
const CONNECTIONS = 5
/** How often `idle` looks whether jobs are left. */
const LOOK_MS = 20

export interface GraphileOptions {
  /** Of the database itself, not of a pooler. */
  url: string
  processes: Processes
  notices: Notices
  /** Jobs of each kind at once, at most. They share nothing: sessions that wait for slow models keep nobody from executing. */
  limits: Record<JobName, number>
  log: Logger
}

/** The dispatch of a process among others: every wake-up is a job in the database, written by the transaction that calls for it. */
export interface GraphileDispatch extends Dispatch {
  /** Looks for jobs now. */
  lookForJobs(): void
  close(): Promise<void>
}

/** @throws Error when the tables of graphile-worker cannot be made. */
export async function openGraphile({ url, processes, notices, limits, log }: GraphileOptions): Promise<GraphileDispatch> {
  const { connection } = processes
  const pg = await openJobConnections(url)
  const underWay = createUnderWay(log)
  const ids: Record<JobName, readonly string[]> = { advance: [], execute: [] }
  let pools: Record<JobName, JobPool> | undefined
  let isStopped = false
  let stopLoops = () => {}
  let stopped: Promise<unknown> = Promise.resolve()

  /** @returns What resolves when the pool has told under which ids it takes jobs. */
  async function saveIds(name: JobName, current: readonly string[], ended: string | undefined): Promise<void> {
    ids[name] = current
    await processes.usePools([...ids.advance, ...ids.execute])
    if (ended === undefined) return
    await claims.unlockJobs(connection, [ended])
    lookForJobs()
  }

  const openPool = (name: JobName, size: number, work: (id: string) => Promise<void>): JobPool =>
    openJobPool({
      name,
      size,
      pg,
      log,
      onIds: (current, ended) => underWay.add(saveIds(name, current, ended)),
      run(id) {
        const job = runJob(name, id, work)
        underWay.add(job)
        return job
      },
    })

  async function runJob(name: JobName, id: string, work: (id: string) => Promise<void>): Promise<void> {
    reach(`job.${name}.taken`)
    await processes.whenAlive()
    await work(id)
    reach(`job.${name}.done`)
  }

  function lookForJobs(): void {
    pools?.advance.nudge(1)
    pools?.execute.nudge(1)
  }

  /** What this process has no room for, another one is told of. */
  function nudge(name: JobName, count: number): void {
    if (count === 0) return
    if (pools?.[name].hasRoom) pools[name].nudge(count)
    else notices.tell({ jobs: true })
  }

  notices.onNotice(({ jobs }) => jobs && lookForJobs())
  notices.onGap(lookForJobs)

  return {
    start({ advance, execute }) {
      const loops = createSessionLoops({ advance, clock: systemClock, log })
      const goOn = async (sessionId: string) => {
        await loops.advance(sessionId)
        // Stopping cut its model call short: another process makes it.
        if (isStopped && (await claims.giveBackSteps(connection, processes.id, sessionId))) notices.tell({ jobs: true })
      }
      pools = { advance: openPool('advance', limits.advance, goOn), execute: openPool('execute', limits.execute, execute) }
      stopLoops = loops.stop
    },
    take({ sessions, actions }) {
      nudge('advance', sessions.size)
      nudge('execute', actions.size)
    },
    claimStep: (run) => claims.claimStep(connection, processes.id, run),
    background: underWay.add,
    async idle() {
      for (;;) {
        await underWay.none()
        if ((await claims.countJobs(connection)) === 0) return
        await new Promise<void>((resolve) => systemClock.after(LOOK_MS, resolve))
      }
    },
    stop() {
      if (isStopped) return
      isStopped = true
      stopLoops()
      stopped = Promise.all([pools?.advance.stop(), pools?.execute.stop()])
    },
    async drained() {
      await stopped
      await underWay.none()
    },
    lookForJobs,
    close: () => pg.end(),
  }
}

async function openJobConnections(url: string): Promise<Pool> {
  const pg = new Pool({
    connectionString: url,
    application_name: 'countersign jobs',
    max: CONNECTIONS,
    connectionTimeoutMillis: 5_000,
    // Who has a job means nothing after a crash of the database; what is to be done was written by the transaction that called for it.
    options: '-c synchronous_commit=off',
  })
  // Whoever uses a broken connection hears of it from the query.
  pg.on('error', () => {})
  pg.on('connect', (client) => void client.on('error', () => {}))
  const client = await pg.connect()
  try {
    // Its own migrations do not expect company.
    await inMigrationLock(client, () => runMigrations({ pgPool: pg, logger: new GraphileLogger(() => () => {}) }))
  } finally {
    client.release()
  }
  return pg
}
