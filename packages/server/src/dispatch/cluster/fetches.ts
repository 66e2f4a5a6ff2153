/** A job as it is locked for a pool of workers: the same job locked a second time is another one of these. */
export interface LockedJob {
  id: string
  lockedAtMs: number
}

/**
 * Remembers which jobs the database handed to this process, and which fetches still wait for their answer. A fetch locks its jobs and
 * commits by itself, so a job that is locked for this process, and that no answered fetch handed over, was lost with the answer.
 */
export interface Fetches {
  /**
   * A fetch for `pool` was sent that asks for up to `size` jobs. Call the result with the jobs of its answer, or with `undefined` when it
   * failed.
   */
  begin(pool: string, size: number): (jobs: readonly LockedJob[] | undefined) => void
  /** True when the last answer for this pool was as large as it may be: more jobs wait, and the pool takes them one after the other. */
  isBehind(pool: string): boolean
  /** Forgets a pool that takes no more jobs. */
  forget(pool: string): void
  /** Calls `listener` whenever a fetch failed: its jobs may be locked all the same. */
  onFailed(listener: () => void): void
  /**
   * Compares with what the database says is locked for this process, and answers the jobs that were lost.
   * @param readLocked Reads all jobs that are locked for this process.
   */
  findLost<J extends LockedJob>(readLocked: () => Promise<readonly J[]>): Promise<J[]>
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
    async findLost(readLocked) {
      const before = [...handed]
      const locked = await readLocked()
      // Whatever this saw as locked was locked by a fetch that has been sent by now. Once those have their answers, nothing is on its way.
      await Promise.all(waiting)
      const stillLocked = new Set(locked.map(keyOf))
      for (const key of before) if (!stillLocked.has(key)) handed.delete(key)
      return locked.filter((job) => !handed.has(keyOf(job)))
    },
  }
}
