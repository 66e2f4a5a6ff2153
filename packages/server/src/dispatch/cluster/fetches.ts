import type { Clock } from '../../clock.ts'

/** How long a comparison with the rows waits for the answers to fetches. */
const ANSWER_MS = 1_000

/** A job as it is locked for a pool of workers: a second lock of the same job counts as another one. */
export interface LockedJob {
  id: string
  lockedAtMs: number
}

/** Jobs that are locked for this process and did not arrive. */
export interface Missed<J extends LockedJob> {
  lost: J[]
  /** Those that the answer to a fetch may still bring. */
  inTransit: J[]
}

/**
 * Tracks which jobs the database handed to this process, and which fetches still wait for their answer. A fetch locks its jobs and commits
 * by itself, so a job that is locked for this process, but that no answered fetch handed over, was lost with the answer.
 */
export interface Fetches {
  /**
   * Records that a fetch of up to `size` jobs for `pool` was sent. Call the result with the jobs of its answer, or with `undefined` when it
   * failed.
   */
  begin(pool: string, size: number): (jobs: readonly LockedJob[] | undefined) => void
  /** Returns true when the last answer for this pool was full: more jobs wait, and the pool fetches them one batch after the other. */
  isBehind(pool: string): boolean
  /** Forgets a pool that takes no more jobs. */
  forget(pool: string): void
  /** Calls `listener` whenever a fetch failed: its jobs may be locked nevertheless. */
  onFailed(listener: () => void): void
  /**
   * Compares the recorded jobs with those that the database has locked for this process. Returns the jobs that did not arrive: they are
   * lost, unless some fetch still has no answer, which may hand them over.
   * @param readLocked Reads all jobs that are locked for this process.
   * @param clock Says for how long fetches without an answer are waited for.
   */
  findLost<J extends LockedJob>(readLocked: () => Promise<readonly J[]>, clock: Pick<Clock, 'after'>): Promise<Missed<J>>
}

const keyOf = ({ id, lockedAtMs }: LockedJob) => `${id}@${lockedAtMs}`

export function createFetches(): Fetches {
  const handed = new Set<string>()
  const waiting = new Set<Promise<void>>()
  const behind = new Set<string>()
  let failed = () => {}

  return {
    begin(pool, size) {
      const { promise, resolve } = Promise.withResolvers<void>()
      waiting.add(promise)
      return (jobs) => {
        for (const job of jobs ?? []) handed.add(keyOf(job))
        if (jobs && jobs.length >= size) behind.add(pool)
        else behind.delete(pool)
        waiting.delete(promise)
        resolve()
        if (!jobs) failed()
      }
    },
    isBehind: (pool) => behind.has(pool),
    forget: (pool) => void behind.delete(pool),
    onFailed(listener) {
      failed = listener
    },
    async findLost(readLocked, clock) {
      const before = [...handed]
      const locked = await readLocked()
      // Every lock that this read was set by a fetch that has been sent by now. Once those fetches have their answers, no job is in
      // transit.
      const { promise: given, resolve: giveUp } = Promise.withResolvers<false>()
      const takeBack = clock.after(ANSWER_MS, () => giveUp(false))
      const areAnswered = await Promise.race([Promise.all(waiting).then(() => true), given]).finally(takeBack)
      const stillLocked = new Set(locked.map(keyOf))
      for (const key of before) if (!stillLocked.has(key)) handed.delete(key)
      const missed = locked.filter((job) => !handed.has(keyOf(job)))
      return areAnswered ? { lost: missed, inTransit: [] } : { lost: [], inTransit: missed }
    },
  }
}
