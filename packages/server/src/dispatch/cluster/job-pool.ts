import { EventEmitter } from 'node:events'
import { Logger as GraphileLogger, runTaskList, type WorkerPool } from 'graphile-worker'
import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { systemClock } from '../../clock.ts'
import type { JobName, JobPayload } from '../../store/index.ts'

/** How often it looks for jobs that nobody told it of: what failed and waits for its next attempt, what another process let go of. */
const POLL_MS = 2_000
/** Jobs that were fetched and have had no worker for this long are given back, for other processes. */
const UNUSED_MS = 1_000
/** The ends of jobs that come within this time are written at once. */
const BATCH_MS = 5
const RESTART_MS = 250

export interface JobPoolOptions {
  name: JobName
  /** Jobs at once, at most. */
  size: number
  log: Logger
  run(id: string): Promise<void>
  /** @param ids Under which it takes jobs now. @param ended Under which nobody works any more: what is locked under it is free. */
  onIds(ids: readonly string[], ended: string | undefined): void
}

/** Takes jobs of one kind and runs them while it is open. A graphile-worker pool that gives up (the database was away) is followed by another. */
export interface JobPool {
  /** True while it takes jobs and has room for more. */
  readonly hasRoom: boolean
  /** There are `count` new jobs. */
  nudge(count: number): void
  /** Takes no more jobs; what was fetched and has not begun is given back. Resolves when what has begun has ended. */
  stop(): Promise<void>
}

export function openJobPool({ name, size, pg, log, run, onIds }: JobPoolOptions & { pg: Pool }): JobPool {
  const pools = new Map<string, WorkerPool>()
  let current: WorkerPool | undefined
  let running = 0
  let isStopped = false
  let stopWaiting: (() => void) | undefined

  const logger = new GraphileLogger(() => (level, message) => {
    if (level === 'error' || level === 'warning') log.warn({ jobs: name, message }, 'jobs.pool_error')
  })

  async function task(payload: unknown): Promise<void> {
    running++
    try {
      await run((payload as JobPayload).id)
    } finally {
      running--
    }
  }

  function start(): void {
    const events = new EventEmitter()
    const pool = runTaskList(
      {
        logger,
        events,
        concurrency: size,
        noHandleSignals: true,
        pollInterval: POLL_MS,
        preset: {
          // One query for all workers, not one each: an idle process asks every two seconds. And only with batches does a failure to
          // write the end of a job come back as an error that somebody handles.
          worker: { localQueue: { size, ttl: UNUSED_MS }, completeJobBatchDelay: BATCH_MS, failJobBatchDelay: BATCH_MS },
        },
      },
      { [name]: task },
      pg,
    )
    current = pool
    pools.set(pool.id, pool)
    onIds([...pools.keys()], undefined)
    events.once('pool:gracefulShutdown', () => {
      if (isStopped) return
      log.warn({ jobs: name }, 'jobs.pool_stopped')
      current = undefined
      stopWaiting = systemClock.after(RESTART_MS, start)
    })
    const end = () => {
      pools.delete(pool.id)
      onIds([...pools.keys()], pool.id)
    }
    pool.promise.then(end, end)
  }
  start()

  return {
    get hasRoom() {
      return current !== undefined && running < size
    },
    nudge: (count) => current?.nudge(count),
    async stop() {
      isStopped = true
      stopWaiting?.()
      const last = current
      current = undefined
      // It fails when jobs were fetched that have not begun: they stay locked. Whoever hears that this pool has ended unlocks them.
      await Promise.allSettled([last?.gracefulShutdown()])
      await Promise.allSettled([...pools.values()].map((pool) => pool.promise))
    },
  }
}
