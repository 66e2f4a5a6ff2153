import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import type { Clock } from '../../clock.ts'
import { claims, type EndedJobs, type HeldJob, type JobName, type Outbox } from '../../store/index.ts'
import type { InFlight } from '../in-flight.ts'
import type { Processes } from './processes.ts'

/** Jobs that have ended are removed by the next transaction of this process, or together after this time. */
const BATCH_MS = 10
/** A transaction that is not committed by then, but rolled back, has not removed the jobs that it was given. */
const COMMIT_MS = 1_000

export interface HeldJobsOptions {
  processes: Processes
  clock: Clock
  log: Logger
  inFlight: InFlight
  run(job: HeldJob): Promise<void>
}

/**
 * Jobs that the transaction which requires the work locked for its own process: the process starts them right after the commit, without a
 * fetch. When the process dies they are unlocked like all other jobs of it.
 */
export interface HeldJobs {
  /** The id under which these jobs are locked. */
  readonly holder: string
  /** Gives each session and action of a transaction a job that is locked for this process. */
  hold(outbox: Outbox): void
  begin(jobs: readonly HeldJob[]): void
  /** Lets a transaction remove the jobs that have ended. */
  removeWith(outbox: Outbox): void
  /** Records that a transaction has removed the jobs that it was given. */
  confirmRemoved(removed: EndedJobs): void
  /**
   * Gives back the jobs that were committed but never begun, because the answer to their commit was lost, with the steps that were claimed
   * for them. Returns how many.
   */
  unlockLost(): Promise<number>
}

export function createHeldJobs({ processes, clock, log, inFlight, run }: HeldJobsOptions): HeldJobs {
  const { connection } = processes
  const holder = `commit-${randomUUID()}`
  /** Keys of jobs that were begun and are still in the database. */
  const inHand = new Set<string>()
  let ended: string[] = []
  let last = 0
  /** Jobs that transactions are to remove, each with what ends the wait for its commit. */
  const removing = new Map<EndedJobs, () => void>()

  async function begin(job: HeldJob): Promise<void> {
    const { key } = job
    inHand.add(key)
    try {
      await run(job)
      end(key)
    } catch (error) {
      log.error({ error }, 'job.failed')
      // Retried later, by any process. If this cannot be written either, the job is found as lost; so is one with a claim, which goes back with it.
      if (!job.claimed) await claims.failHeldJob(connection, holder, key, String(error)).catch(() => undefined)
      inHand.delete(key)
    }
  }

  function end(...keys: string[]): void {
    ended.push(...keys)
    if (ended.length > keys.length) return
    const { promise, resolve } = Promise.withResolvers<void>()
    clock.after(BATCH_MS, () => removeEnded().then(resolve))
    inFlight.add(promise)
  }

  async function removeEnded(): Promise<void> {
    const keys = ended
    ended = []
    if (keys.length === 0) return
    // A job that stays because the database is away is found as lost: there is nothing left to do for it.
    await claims.removeHeldJobs(connection, holder, keys).catch(() => undefined)
    for (const key of keys) inHand.delete(key)
  }

  return {
    holder,
    hold(outbox) {
      const held = (name: JobName) => (id: string) => ({ name, id, key: `${holder}:${++last}` })
      outbox.held = [...[...outbox.actions].map(held('execute')), ...[...outbox.sessions].map(held('advance'))]
      outbox.runner = processes.id
    },
    begin(jobs) {
      for (const job of jobs) inFlight.add(begin(job))
    },
    removeWith(outbox) {
      if (ended.length === 0) return
      const given = { holder, keys: ended }
      ended = []
      outbox.ended = given
      const { promise, resolve } = Promise.withResolvers<void>()
      const stop = clock.after(COMMIT_MS, () => {
        removing.delete(given)
        end(...given.keys)
        resolve()
      })
      removing.set(given, () => {
        stop()
        resolve()
      })
      inFlight.add(promise)
    },
    confirmRemoved(removed) {
      const stopWaiting = removing.get(removed)
      if (!stopWaiting) return
      removing.delete(removed)
      for (const key of removed.keys) inHand.delete(key)
      stopWaiting()
    },
    async unlockLost() {
      const lost = (await claims.heldJobs(connection, holder)).filter(({ key }) => !inHand.has(key))
      for (const { name, subject } of lost) await claims.giveBackJob(connection, processes.id, name, subject)
      if (lost.length > 0)
        await claims.removeHeldJobs(
          connection,
          holder,
          lost.map(({ key }) => key),
        )
      return lost.length
    },
  }
}
