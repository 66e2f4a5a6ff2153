import { checkpoint } from '@countersign/toolkit/internal'
import type { Logger } from 'pino'
import type { Clock } from '../../clock.ts'
import { claims, type HeldJob, type JobName, type Outbox, type RunRow, type SessionState } from '../../store/index.ts'
import { type ConcurrencyLimiter, createConcurrencyLimiter, type TurnWait } from '../concurrency-limiter.ts'
import type { Dispatch, Due, Reconciled, Work } from '../dispatch.ts'
import { createInFlight } from '../in-flight.ts'
import { createSessionLoops, type SessionLoops } from '../session-loops.ts'
import { createClaimedSteps } from './claimed-steps.ts'
import type { Fetches } from './fetches.ts'
import { createHeldJobs } from './held-jobs.ts'
import { type JobPool, type JobPoolOptions, UNUSED_MS } from './job-pool.ts'
import type { Notices } from './notices.ts'
import type { Processes } from './processes.ts'

const NAMES = ['advance', 'execute'] as const

/** How often it looks for jobs without a notification: failed jobs that wait for their next attempt, jobs that another process released. */
const POLL_MS = 2_000
/** How often `idle` checks whether jobs are left. */
const LOOK_MS = 20

export interface JobDispatchOptions {
  /** Starts to take jobs of one kind from the database. */
  openPool(options: JobPoolOptions): JobPool
  /** The fetches of these pools. */
  fetches: Fetches
  /** Closes the connections for jobs. */
  close(): Promise<void>
  clock: Clock
  processes: Processes
  notices: Notices
  /** Concurrent jobs of each kind, at most. The kinds share nothing: sessions that wait for slow models do not delay executions. */
  limits: Record<JobName, number>
  log: Logger
}

/**
 * The dispatch of one of several processes: every wake-up is a job in the database, written by the transaction that requires it. A process
 * with room for its own work locks these jobs for itself and starts them after the commit; all others are fetched by some process.
 */
export interface JobDispatch extends Dispatch {
  /**
   * Called at the end of each transaction: decides whether this process starts the work of the transaction itself, and lets it remove the
   * jobs of this process that have ended.
   */
  hold(outbox: Outbox): void
  /** Fetches jobs now. */
  lookForJobs(): void
  close(): Promise<void>
}

export function createJobDispatch({ openPool, fetches, close, clock, processes, notices, limits, log }: JobDispatchOptions): JobDispatch {
  const { connection } = processes
  const inFlight = createInFlight(log)
  const ids: Record<JobName, readonly string[]> = { advance: [], execute: [] }
  let pools: Record<JobName, JobPool> | undefined
  let work: Work | undefined
  let loops: SessionLoops | undefined
  let isHolding = false
  /** The kinds of jobs to look for once there is room. */
  const full = new Set<JobName>()
  let isStopped = false
  let waitsForLife = false
  let unlocked = 0
  let stopPolling = () => {}
  let stopped: Promise<unknown> = Promise.resolve()

  const limiterOf = (name: JobName) => createConcurrencyLimiter(limits[name], limits[name])
  /** Limit all jobs of a kind: those that a pool fetched, and those that begin without a fetch. */
  const limiters: Record<JobName, ConcurrencyLimiter> = { advance: limiterOf('advance'), execute: limiterOf('execute') }
  // A transaction decides about the room some time before it commits: a job that was fetched meanwhile may have the last slot.
  const heldJobs = createHeldJobs({ processes, clock, log, inFlight, run: runHeld })
  const claimedSteps = createClaimedSteps(clock)

  /** @returns A promise that resolves when the pool has reported the ids under which it takes jobs. */
  async function saveIds(name: JobName, current: readonly string[], ended: string | undefined): Promise<void> {
    ids[name] = current
    await processes.usePools([...ids.advance, ...ids.execute, heldJobs.holder])
    isHolding = true
    if (ended === undefined) return
    fetches.forget(ended)
    await claims.unlockJobs(connection, [ended])
    if (isStopped) notices.tell({ jobs: true })
    else lookForJobs()
  }

  const takeJobs = (name: JobName): JobPool =>
    openPool({
      name,
      size: limits[name],
      log,
      onIds: (current, ended) => inFlight.add(saveIds(name, current, ended)),
      run(id) {
        // A pool does not know of the jobs that began without a fetch, and may fetch more than this process can run.
        const job = runInTurn(name, id, { clock, ms: UNUSED_MS })
        inFlight.add(job)
        return job
      },
    })

  /** Runs a job of a commit of this process. */
  async function runHeld({ name, id, claimed }: HeldJob): Promise<void> {
    if (claimed) claimedSteps.add(claimed)
    let isLeft = false
    try {
      await runInTurn(name, id)
      // A loop that was running takes the step when it checks once more. This job needs no slot for that.
      if (claimed) await loops?.ended(id)
    } finally {
      isLeft = claimed !== undefined && claimedSteps.drop(claimed)
    }
    if (!isLeft) return
    // Others wrote to the session meanwhile, so that it required something else: whoever makes the step later may claim it.
    await giveBack(name, id)
    if (!isStopped) look(name)
  }

  async function claimStep(run: RunRow, written: SessionState | undefined): Promise<boolean> {
    if (isStopped) return false
    if (claimedSteps.take(run, processes.id)) return true
    const isClaimed = await claims.claimStep(connection, processes.id, run, written)
    if (isClaimed) claimedSteps.drop(run)
    return isClaimed
  }

  /** Runs a job in its turn. Enqueues it again when it has none: another process may have room. */
  async function runInTurn(name: JobName, id: string, wait?: TurnWait): Promise<void> {
    let hasBegun = true
    try {
      hasBegun = await limiters[name].run(name, () => runJob(name, id), wait)
    } finally {
      lookIfFull(name)
    }
    if (hasBegun) return
    full.add(name)
    await claims.enqueueAgain(connection, name, id)
    notices.tell({ jobs: true })
  }

  async function runJob(name: JobName, id: string): Promise<void> {
    checkpoint(`job.${name}.taken`)
    await processes.whenAlive()
    if (!isStopped) {
      await work?.[name](id)
      checkpoint(`job.${name}.done`)
    }
    if (!isStopped) return
    // The shutdown may have interrupted it, or kept it from starting: another process picks it up.
    await giveBack(name, id)
  }

  async function giveBack(name: JobName, id: string): Promise<void> {
    await claims.giveBackJob(connection, processes.id, name, id)
    notices.tell({ jobs: true })
  }

  /**
   * How many more jobs of a kind this process can begin. None without a sign of life: if the others have forgotten it, they would not learn
   * that it dies with what it fetches now.
   */
  const roomFor = (name: JobName): number => (pools?.[name].isOpen && processes.isAlive ? limiters[name].room : 0)

  /** Fetches jobs of a kind. Without room it would fetch jobs that it cannot begin, and keep them from other processes for a while. */
  function look(name: JobName, count = 1): void {
    if (roomFor(name) > 0) pools?.[name].nudge(count)
    else full.add(name)
    if (!processes.isAlive && !waitsForLife) void lookWhenAlive()
  }

  async function lookWhenAlive(): Promise<void> {
    waitsForLife = true
    // It gives up after a while; by then the poll looks.
    const isAlive = await processes.whenAlive().then(
      () => true,
      () => false,
    )
    waitsForLife = false
    if (isAlive) for (const name of NAMES) lookIfFull(name)
  }

  function lookForJobs(): void {
    for (const name of NAMES) look(name)
  }

  function lookIfFull(name: JobName): void {
    if (full.delete(name)) look(name)
  }

  function poll(): void {
    lookForJobs()
    stopPolling = clock.after(POLL_MS, poll)
  }

  /**
   * Unlocks the jobs that are locked for this process but never arrived: the answer to their fetch was lost. Returns the sessions and actions
   * whose jobs were fetched without an answer so far.
   */
  async function unlockLost(): Promise<ReadonlySet<string>> {
    const { lost, inTransit } = await fetches.findLost(() => claims.lockedJobs(connection, [...ids.advance, ...ids.execute]), clock)
    const subjects = new Set(inTransit.map(({ subject }) => subject))
    if (lost.length > 0) await claims.unlockLostJobs(connection, lost)
    const unanswered = await heldJobs.unlockLost()
    const count = lost.length + unanswered
    if (count === 0) return subjects
    log.warn({ processId: processes.id, count, unanswered }, 'jobs.fetch_lost')
    unlocked += count
    lookForJobs()
    return subjects
  }

  async function reconcile({ sessions, actions }: Due): Promise<Reconciled> {
    const inTransit = await unlockLost()
    const wanted = [...sessions.map((id) => ({ name: 'advance' as const, id })), ...actions.map((id) => ({ name: 'execute' as const, id }))]
    const wantedIds = wanted.map(({ id }) => id)
    const held = wanted.length === 0 ? [] : await claims.findJobs(connection, wantedIds)
    // A job that began and failed is not overdue: the log has the reason, and it is retried.
    const states = new Map<string, boolean>()
    for (const { id, taken, failed } of held) states.set(id, (taken && !inTransit.has(id)) || failed || states.get(id) === true)
    const missing = wanted.filter(({ id }) => !states.has(id))
    const added = missing.length > 0 ? await claims.addMissingJobs(connection, missing) : 0
    if (added > 0) lookForJobs()
    // A job that waits while every worker of this process is busy, or behind a long queue, waits for its turn.
    const hasTime = (name: JobName) => roomFor(name) > 0 && !ids[name].some(fetches.isBehind)
    const isUnattended = (name: JobName) => (id: string) => states.get(id) !== true && hasTime(name)
    const unlockedNow = unlocked
    unlocked = 0
    return {
      unlocked: unlockedNow,
      enqueued: added,
      unattended: { sessions: sessions.filter(isUnattended('advance')), actions: actions.filter(isUnattended('execute')) },
    }
  }

  /** Notifies another process of the jobs that this process has no room for. */
  function nudge(name: JobName, count: number): void {
    if (count === 0) return
    if (roomFor(name) === 0) notices.tell({ jobs: true })
    look(name, count)
  }

  notices.onNotice(({ jobs }) => jobs && lookForJobs())
  notices.onGap(lookForJobs)
  fetches.onFailed(() => {
    if (processes.isAlive && !isStopped) inFlight.add(unlockLost().then(() => undefined))
  })

  return {
    start({ advance, execute }) {
      loops = createSessionLoops({ advance, clock, log })
      work = { advance: loops.advance, execute }
      pools = { advance: takeJobs('advance'), execute: takeJobs('execute') }
      stopPolling = clock.after(POLL_MS, poll)
    },
    hold(outbox) {
      // A transaction that announces nothing may not have written anything.
      if (outbox.events.length > 0) heldJobs.removeWith(outbox)
      if (outbox.sessions.size + outbox.actions.size === 0 || !isHolding || isStopped || !processes.isAlive) return
      if (roomFor('advance') >= outbox.sessions.size && roomFor('execute') >= outbox.actions.size) heldJobs.hold(outbox)
    },
    take({ sessions, actions, held, ended }) {
      if (ended) heldJobs.confirmRemoved(ended)
      if (held) return heldJobs.begin(held)
      nudge('advance', sessions.size)
      nudge('execute', actions.size)
    },
    claimStep,
    async giveBackStep(sessionId) {
      if (isStopped) return
      await giveBack('advance', sessionId)
      look('advance')
    },
    background: inFlight.add,
    reconcile,
    countWaiting: () => claims.countWaitingJobs(connection),
    async idle() {
      for (;;) {
        await inFlight.none()
        if ((await claims.countJobs(connection)) === 0) return
        await new Promise<void>((resolve) => clock.after(LOOK_MS, resolve))
      }
    },
    stop() {
      if (isStopped) return
      isStopped = true
      loops?.stop()
      stopPolling()
      for (const name of NAMES) limiters[name].close()
      stopped = Promise.all([pools?.advance.stop(), pools?.execute.stop()])
    },
    async drained() {
      await stopped
      await inFlight.none()
    },
    lookForJobs,
    close,
  }
}
