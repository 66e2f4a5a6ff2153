import { openWorkers, type WorkOptions } from '../bounded/workers.ts'
import type { JOBS } from './jobs.ts'

type Jobs = typeof JOBS
type Job = keyof Jobs

/** Runs work on foreign texts in threads of its own, each for a bounded time. */
export interface TextWork extends AsyncDisposable {
  /** @throws WorkEnded when it takes longer than `timeoutMs`. */
  run<Name extends Job>(job: Name, input: Parameters<Jobs[Name]>[0], options: WorkOptions): Promise<ReturnType<Jobs[Name]>>
}

const SCRIPT = new URL(`./worker${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url)

/** Searches may take seconds each; what people look at must not wait behind them. */
export function openTextWork(): TextWork {
  const searching = openWorkers(SCRIPT, { size: 2 })
  const writing = openWorkers(SCRIPT, { size: 1 })
  return {
    async run(job, input, options) {
      const workers = job === 'search' || job === 'fitting' ? searching : writing
      return (await workers.run({ job, input }, options)) as ReturnType<Jobs[typeof job]>
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([searching[Symbol.asyncDispose](), writing[Symbol.asyncDispose]()])
    },
  }
}
