import { EventEmitter } from 'node:events'
import { Logger as GraphileLogger, runTaskList, type WorkerPool } from 'graphile-worker'
import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { systemClock } from '../../clock.ts'
import type { JobName, JobPayload } from '../../store/index.ts'

/** The longest delay of a timer. The dispatch polls instead: graphile-worker does not know of jobs that began without a fetch. */
const NEVER_MS = 2 ** 31 - 1
/** Fetched jobs without a worker for this long are given back to other processes. */
export const UNUSED_MS = 1_000
/** Completions of jobs within this time are written in one batch. */
const BATCH_MS = 5
const RESTART_MS = 250

export interface JobPoolOptions {
  name: JobName
  /** Concurrent jobs, at most. */
  size: number
  log: Logger
  run(id: string): Promise<void>
  /**
   * @param ids The ids under which the pool takes jobs now. @param ended The ids that are no longer in use: jobs locked under them are
   * free.
   */
  onIds(ids: readonly string[], ended: string | undefined): void
}

/**
 * Takes jobs of one kind and runs them while it is open. A graphile-worker pool that gives up (the database was unreachable) is replaced.
 */
export interface JobPool {
  /** False while it takes no jobs. */
  readonly isOpen: boolean
  /** Notes that there are `count` new jobs. */
  nudge(count: number): void
  /** Takes no more jobs and gives back fetched jobs that have not begun. Resolves when the running ones have ended. */
  stop(): Promise<void>
}

export function openJobPool({ name, size, pg, log, run, onIds }: JobPoolOptions & { pg: Pool }): JobPool {
  const pools = new Map<string, WorkerPool>()
  let current: WorkerPool | undefined
  let isStopped = false
  let stopWaiting: (() => void) | undefined

  const logger = new GraphileLogger(() => (level, message) => {
    if (level === 'error' || level === 'warning') log.warn({ jobs: name, message }, 'jobs.pool_error')
  })

  const task = (payload: unknown) => run((payload as JobPayload).id)

  function start(): void {
    const events = new EventEmitter()
    const pool = runTaskList(
      {
        logger,
        events,
        concurrency: size,
        noHandleSignals: true,
        pollInterval: NEVER_MS,
        preset: {
          // One query for all workers instead of one each: an idle process polls every two seconds. And only with batches does a failure to
          // write a job's completion surface as an error that can be handled.
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
    get isOpen() {
      return current !== undefined
    },
    nudge: (count) => current?.nudge(count),
    async stop() {
      isStopped = true
      stopWaiting?.()
      const last = current
      current = undefined
      // This fails when fetched jobs have not begun: they stay locked, and the listener for the pool's end unlocks them.
      await Promise.allSettled([last?.gracefulShutdown()])
      await Promise.allSettled([...pools.values()].map((pool) => pool.promise))
    },
  }
}
