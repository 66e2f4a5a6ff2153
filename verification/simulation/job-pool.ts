import type { Fetches } from '../../packages/server/src/dispatch/cluster/fetches.ts'
import type { JobPool, JobPoolOptions } from '../../packages/server/src/dispatch/cluster/job-pool.ts'
import type { Job, Jobs } from './jobs.ts'
import type { Random } from './random.ts'
import type { Owner, Timeline } from './timeline.ts'

export interface SimulatedPoolParts {
  process: Owner
  timeline: Timeline
  random: Random
  jobs: Jobs
  fetches: Fetches
  /** Draws whether the answer to a fetch is lost: its job is locked, and the process never receives it. */
  isAnswerLost(): boolean
  /** A fetch is not answered until it is given up, after {@link STALL_MS}. */
  onStall(): void
  newId(): string
}

/** As long as a statement waits for its answer: `query_timeout`. */
const STALL_MS = 15_000

/** Simulates graphile-worker for one process: takes jobs at its start and when it is nudged, runs them, ends them a while later. */
export function openSimulatedPool(parts: SimulatedPoolParts, { name, size, run, onIds }: JobPoolOptions): JobPool {
  const { process, timeline, random, jobs, fetches } = parts
  const id = parts.newId()
  let running = 0
  let fetching = 0
  let isStopped = false
  const ended = Promise.withResolvers<void>()

  const soon = (delayMs: number, work: () => void) => timeline.after(delayMs, '', work, process)

  function take(): void {
    if (isStopped || running >= size) return
    const job = jobs.take(name, id)
    if (!job) return
    const answer = fetches.begin(id, 2)
    if (parts.isAnswerLost()) {
      // The connection breaks, or the answer does not come in time.
      const isStalled = !random.chance(0.7)
      if (isStalled) parts.onStall()
      fetching++
      soon(isStalled ? STALL_MS : random.next() * 5, () => {
        fetching--
        answer(undefined)
        endIfIdle()
      })
      return
    }
    running++
    // Fetched is not begun.
    soon(random.next(), () => {
      answer([{ id: String(job.n), lockedAtMs: job.lock }])
      run(job.id).then(
        () => soon(5 * random.next(), () => end(job, true)),
        () => soon(5 * random.next(), () => end(job, false)),
      )
    })
    soon(random.next(), take)
  }

  function end(job: Job, isDone: boolean): void {
    if (isDone) jobs.end(job.n)
    else jobs.fail(job.n)
    running--
    endIfIdle()
    soon(0, take)
  }

  function endIfIdle(): void {
    if (running + fetching === 0) ended.resolve()
  }

  soon(random.next(), take)
  onIds([id], undefined)

  return {
    get isOpen() {
      return !isStopped
    },
    nudge() {
      if (!isStopped) soon(0.2 + random.next() * 3, take)
    },
    async stop() {
      isStopped = true
      if (running + fetching > 0) await ended.promise
      // Whatever is still locked under this id was lost with the answer to its fetch.
      onIds([], id)
    },
  }
}
