import type { JobName } from '../../packages/server/src/store/index.ts'

export interface Job {
  readonly n: number
  readonly name: JobName
  readonly id: string
  key: string | undefined
  lockedBy: string | undefined
  /** Which lock this is, of all that were ever taken; stands for its time. */
  lock: number
  attempts: number
  /** True when it was begun and failed. */
  hasFailed: boolean
  runAtMs: number
}

/**
 * The queue of jobs as graphile-worker keeps it in its tables: at least once, in no order that counts. Who takes one locks it; whoever
 * ends one removes it, even if it has been given to another meanwhile.
 */
export class Jobs {
  readonly #jobs = new Map<number, Job>()
  readonly #nowMs: () => number
  #last = 0
  #lastLock = 0

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  get size(): number {
    return this.#jobs.size
  }

  /** @param key Takes the place of a job with the same key, unless somebody has that one. */
  add(name: JobName, id: string, key?: string): void {
    for (const other of this.#jobs.values()) {
      if (key === undefined || other.key !== key) continue
      if (other.lockedBy === undefined) return
      other.key = undefined
    }
    const job: Job = { n: ++this.#last, name, id, key, lockedBy: undefined, lock: 0, attempts: 0, hasFailed: false, runAtMs: this.#nowMs() }
    this.#jobs.set(job.n, job)
  }

  take(name: JobName, pool: string): Job | undefined {
    for (const job of this.#jobs.values()) {
      if (job.name !== name || job.lockedBy !== undefined || job.runAtMs > this.#nowMs()) continue
      job.lockedBy = pool
      job.lock = ++this.#lastLock
      job.attempts++
      return job
    }
    return undefined
  }

  end(n: number): void {
    this.#jobs.delete(n)
  }

  fail(n: number): void {
    const job = this.#jobs.get(n)
    if (!job) return
    job.lockedBy = undefined
    job.hasFailed = true
    job.runAtMs = this.#nowMs() + Math.exp(Math.min(job.attempts, 10)) * 1_000
  }

  unlock(pools: readonly string[]): void {
    for (const job of this.#jobs.values()) if (job.lockedBy !== undefined && pools.includes(job.lockedBy)) job.lockedBy = undefined
  }

  lockedFor(pools: readonly string[]): Job[] {
    return [...this.#jobs.values()].filter(({ lockedBy }) => lockedBy !== undefined && pools.includes(lockedBy))
  }

  /** Unlocks a job unless it has been unlocked and locked again since. */
  unlockOne(n: number, lock: number): void {
    const job = this.#jobs.get(n)
    if (job?.lockedBy === undefined || job.lock !== lock) return
    job.lockedBy = undefined
    job.attempts--
  }

  /** Jobs about a session or an action. */
  about(id: string): Job[] {
    return [...this.#jobs.values()].filter((job) => job.id === id)
  }

  lockingPools(): string[] {
    return [...new Set([...this.#jobs.values()].flatMap(({ lockedBy }) => lockedBy ?? []))]
  }
}
