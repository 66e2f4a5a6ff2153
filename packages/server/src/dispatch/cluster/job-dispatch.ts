import { checkpoint } from '@countersign/toolkit/internal'
import type { Logger } from 'pino'
import type { Clock } from '../../clock.ts'
import { claims, type JobName } from '../../store/index.ts'
import type { Dispatch, Due, Reconciled } from '../dispatch.ts'
import { createInFlight } from '../in-flight.ts'
import { createSessionLoops } from '../session-loops.ts'
import type { Fetches } from './fetches.ts'
import type { JobPool, JobPoolOptions } from './job-pool.ts'
import type { Notices } from './notices.ts'
import type { Processes } from './processes.ts'

/** How often `idle` looks whether jobs are left. */
const LOOK_MS = 20

export interface JobDispatchOptions {
  /** Begins to take jobs of one kind from the database. */
  openPool(options: JobPoolOptions): JobPool
  /** The fetches of these pools. */
  fetches: Fetches
  /** Ends the connections that the jobs come over. */
  close(): Promise<void>
  clock: Clock
  processes: Processes
  notices: Notices
  /** Jobs of each kind at once, at most. They share nothing: sessions that wait for slow models keep nobody from executing. */
  limits: Record<JobName, number>
  log: Logger
}

/** The dispatch of a process among others: every wake-up is a job in the database, written by the transaction that calls for it. */
export interface JobDispatch extends Dispatch {
  /** Looks for jobs now. */
  lookForJobs(): void
  close(): Promise<void>
}

export function createJobDispatch({ openPool, fetches, close, clock, processes, notices, limits, log }: JobDispatchOptions): JobDispatch {
  const { connection } = processes
  const underWay = createInFlight(log)
  const ids: Record<JobName, readonly string[]> = { advance: [], execute: [] }
  let pools: Record<JobName, JobPool> | undefined
  let isStopped = false
  let unlocked = 0
  let stopLoops = () => {}
  let stopped: Promise<unknown> = Promise.resolve()

  /** @returns What resolves when the pool has told under which ids it takes jobs. */
  async function saveIds(name: JobName, current: readonly string[], ended: string | undefined): Promise<void> {
    ids[name] = current
    await processes.usePools([...ids.advance, ...ids.execute])
    if (ended === undefined) return
    fetches.forget(ended)
    await claims.unlockJobs(connection, [ended])
    if (isStopped) notices.tell({ jobs: true })
    else lookForJobs()
  }

  const takeJobs = (name: JobName, size: number, work: (id: string) => Promise<void>): JobPool =>
    openPool({
      name,
      size,
      log,
      onIds: (current, ended) => underWay.add(saveIds(name, current, ended)),
      run(id) {
        const job = runJob(name, id, work)
        underWay.add(job)
        return job
      },
    })

  async function runJob(name: JobName, id: string, work: (id: string) => Promise<void>): Promise<void> {
    checkpoint(`job.${name}.taken`)
    await processes.whenAlive()
    await work(id)
    checkpoint(`job.${name}.done`)
    if (!isStopped) return
    // Stopping may have cut it short, or kept it from beginning: another process has a look.
    await claims.giveBackJob(connection, processes.id, name, id)
    notices.tell({ jobs: true })
  }

  function lookForJobs(): void {
    // Without room it would fetch what it cannot begin, and keep it from others for a while.
    for (const pool of pools ? [pools.advance, pools.execute] : []) if (pool.hasRoom) pool.nudge(1)
  }

  /** Unlocks the jobs that are locked for this process and that it never got: the answer to their fetch was lost. */
  async function unlockLost(): Promise<void> {
    const lost = await fetches.findLost(() => claims.lockedJobs(connection, [...ids.advance, ...ids.execute]))
    if (lost.length === 0) return
    await claims.unlockLostJobs(connection, lost)
    log.warn({ processId: processes.id, count: lost.length }, 'jobs.fetch_lost')
    unlocked += lost.length
    lookForJobs()
  }

  async function reconcile({ sessions, actions }: Due): Promise<Reconciled> {
    await unlockLost()
    const wanted = [...sessions.map((id) => ({ name: 'advance' as const, id })), ...actions.map((id) => ({ name: 'execute' as const, id }))]
    const held =
      wanted.length === 0
        ? []
        : await claims.findJobs(
            connection,
            wanted.map(({ id }) => id),
          )
    // A job that was begun and failed is not unattended: why is in the log, and it is tried again.
    const states = new Map(held.map(({ id, taken, failed }) => [id, taken || failed]))
    const missing = wanted.filter(({ id }) => !states.has(id))
    const added = missing.length > 0 ? await claims.addMissingJobs(connection, missing) : 0
    if (added > 0) lookForJobs()
    // What waits while every worker of this process is busy, or while it works off a long queue, waits for its turn.
    const hasTime = (name: JobName) => pools?.[name].hasRoom === true && !ids[name].some(fetches.isBehind)
    const isUnattended = (name: JobName) => (id: string) => states.get(id) !== true && hasTime(name)
    const unlockedNow = unlocked
    unlocked = 0
    return {
      unlocked: unlockedNow,
      putUp: added,
      unattended: { sessions: sessions.filter(isUnattended('advance')), actions: actions.filter(isUnattended('execute')) },
    }
  }

  /** What this process has no room for, another one is told of. */
  function nudge(name: JobName, count: number): void {
    if (count === 0) return
    if (pools?.[name].hasRoom) pools[name].nudge(count)
    else notices.tell({ jobs: true })
  }

  notices.onNotice(({ jobs }) => jobs && lookForJobs())
  notices.onGap(lookForJobs)
  fetches.onFailed(() => {
    if (processes.isAlive && !isStopped) underWay.add(unlockLost())
  })

  return {
    start({ advance, execute }) {
      const loops = createSessionLoops({ advance, clock, log })
      pools = { advance: takeJobs('advance', limits.advance, loops.advance), execute: takeJobs('execute', limits.execute, execute) }
      stopLoops = loops.stop
    },
    take({ sessions, actions }) {
      nudge('advance', sessions.size)
      nudge('execute', actions.size)
    },
    claimStep: async (run) => !isStopped && (await claims.claimStep(connection, processes.id, run)),
    background: underWay.add,
    reconcile,
    countWaiting: () => claims.countWaitingJobs(connection),
    async idle() {
      for (;;) {
        await underWay.none()
        if ((await claims.countJobs(connection)) === 0) return
        await new Promise<void>((resolve) => clock.after(LOOK_MS, resolve))
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
    close,
  }
}
