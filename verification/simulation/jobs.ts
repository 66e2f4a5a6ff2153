import type { HeldJob, JobName } from '../../packages/server/src/store/index.ts'

export interface Job {
  readonly n: number
  readonly name: JobName
  readonly id: string
  key: string | undefined
  lockedBy: string | undefined
  /** Which lock this is, of all that were ever taken; stands for its time. */
  lock: number
  lockedAtMs: number
  attempts: number
  /** True when it was begun and failed. */
  hasFailed: boolean
  runAtMs: number
}

/**
 * The queue of jobs as graphile-worker keeps it in its tables: at-least-once delivery, in no guaranteed order. A process that takes a job
 * locks it; a process that ends a job removes it, even if another has it by then.
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
    this.#put(name, id).key = key
  }

  #put(name: JobName, id: string): Job {
    const job: Job = {
      n: ++this.#last,
      name,
      id,
      key: undefined,
      lockedBy: undefined,
      lock: 0,
      lockedAtMs: 0,
      attempts: 0,
      hasFailed: false,
      runAtMs: this.#nowMs(),
    }
    this.#jobs.set(job.n, job)
    return job
  }

  /** Adds a job that is locked for the process whose transaction requires it. */
  addHeld({ name, id, key }: HeldJob): void {
    this.#lock(Object.assign(this.#put(name, id), { key }), key.split(':')[0] ?? '')
  }

  #lock(job: Job, holder: string): void {
    job.lockedBy = holder
    job.lock = ++this.#lastLock
    job.lockedAtMs = this.#nowMs()
    job.attempts++
  }

  take(name: JobName, pool: string): Job | undefined {
    for (const job of this.#jobs.values()) {
      if (job.name !== name || job.lockedBy !== undefined || job.runAtMs > this.#nowMs()) continue
      this.#lock(job, pool)
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

  /** Ends jobs that are still locked for this holder. */
  endHeld(holder: string, keys: readonly string[]): void {
    for (const job of this.lockedFor([holder])) if (job.key !== undefined && keys.includes(job.key)) this.#jobs.delete(job.n)
  }

  failHeld(holder: string, key: string): void {
    for (const job of this.lockedFor([holder])) if (job.key === key) this.fail(job.n)
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
