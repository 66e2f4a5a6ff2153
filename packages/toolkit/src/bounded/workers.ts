import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

/** Work took longer than it may, or more memory, and was ended. */
export class WorkEnded extends Error {
  override readonly name = 'WorkEnded'
}

/** The work's own time, or that of its budget, is used up. Work that ends for another reason would do so again, and leaves the rest of its budget. */
export class WorkTimedOut extends WorkEnded {}

export interface WorkOptions {
  /** How long the work itself may take, without its wait for a free worker. */
  timeoutMs: number
  signal?: AbortSignal | undefined
  /** Ends the work, and its wait for a free worker, when this is used up. */
  budget?: WorkBudget | undefined
}

/** The time that several pieces of work have together, one after another, with their waits for a free worker. The start of a thread is free. */
export interface WorkBudget {
  leftMs: number
}

/** A few threads for work of unknown cost, so that the event loop stays free and the work can be ended. */
export interface Workers extends AsyncDisposable {
  /**
   * Returns the script's answer to this message.
   * @throws WorkEnded when it waits or takes too long, or takes too much memory; Error with what the script threw; the reason of an aborted signal.
   */
  run(message: unknown, options: WorkOptions): Promise<unknown>
}

export interface WorkersOptions {
  /** How many run at the same time; others wait in turn. */
  size: number
  /** An idle thread ends after this. Default 10,000. */
  idleMs?: number
  /** Memory of one thread. Default 256. */
  maxMegabytes?: number
}

/** The messages of a script: that it is ready, then one answer for each message. */
export type FromWorker = { ready: true } | { answer: unknown } | { failure: string }

/** A thread that is started loads its modules first; that is no part of the work. */
const START_MS = 60_000

/**
 * Opens a pool over a script that answers messages; see {@link FromWorker}. No thread runs before the first message, and none keeps the
 * process alive while it is idle.
 * @example
 * await using workers = openWorkers(new URL('../../../server/src/bounded/worker.ts', import.meta.url), { size: 2 })
 * await workers.run({ search: 'x' }, { timeoutMs: 10_000 })
 */
export function openWorkers(script: URL, { size, idleMs = 10_000, maxMegabytes = 256 }: WorkersOptions): Workers {
  const idle: { worker: Worker; timer: NodeJS.Timeout }[] = []
  const waiting: (() => void)[] = []
  let busy = 0

  async function take({ signal, budget }: Pick<WorkOptions, 'signal' | 'budget'>): Promise<void> {
    if (busy < size) {
      busy++
      return
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const giveUp = (reason: unknown) => {
      waiting.splice(waiting.indexOf(resolve), 1)
      reject(reason)
    }
    const onAbort = () => giveUp(signal?.reason)
    const timer = budget && setTimeout(() => giveUp(new WorkTimedOut('waited too long for its turn')), budget.leftMs)
    waiting.push(resolve)
    signal?.addEventListener('abort', onAbort, { once: true })
    await promise.finally(() => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
    })
  }

  function release(): void {
    const next = waiting.shift()
    if (next) next()
    else busy--
  }

  async function start(signal: AbortSignal | undefined): Promise<Worker> {
    const worker = new Worker(script, {
      env: {},
      // Our packages are read from their TypeScript where this one is.
      execArgv: script.pathname.endsWith('.ts') ? ['--conditions=countersign-source', '--disable-warning=ExperimentalWarning'] : [],
      resourceLimits: { maxOldGenerationSizeMb: maxMegabytes },
    })
    try {
      await answerOf(worker, { timeoutMs: START_MS, signal })
      return worker
    } catch (error) {
      void worker.terminate()
      throw error
    }
  }

  function rest(worker: Worker): void {
    worker.unref()
    const timer = setTimeout(() => {
      idle.splice(
        idle.findIndex((one) => one.worker === worker),
        1,
      )
      void worker.terminate()
    }, idleMs)
    timer.unref()
    idle.push({ worker, timer })
  }

  return {
    async run(message, { timeoutMs, signal, budget }) {
      signal?.throwIfAborted()
      if (budget && budget.leftMs <= 0) throw new WorkTimedOut('has no time left')
      await spend(budget, budget?.leftMs ?? 0, () => take({ signal, budget }))
      try {
        const rested = idle.pop()
        clearTimeout(rested?.timer)
        const worker = rested?.worker ?? (await start(signal))
        worker.ref()
        try {
          worker.postMessage(message)
          const limitMs = Math.max(Math.min(timeoutMs, budget?.leftMs ?? timeoutMs), 0)
          const said = await spend(budget, limitMs, () => answerOf(worker, { timeoutMs: limitMs, signal }))
          rest(worker)
          if ('failure' in said) throw new Error(said.failure)
          return 'answer' in said ? said.answer : undefined
        } catch (error) {
          // The end is not awaited: some calls of the engine can only be ended when they return.
          if (!idle.some((one) => one.worker === worker)) void worker.terminate()
          throw error
        }
      } finally {
        release()
      }
    },
    async [Symbol.asyncDispose]() {
      for (const { worker, timer } of idle.splice(0)) {
        clearTimeout(timer)
        await worker.terminate()
      }
    },
  }
}

async function spend<T>(budget: WorkBudget | undefined, limitMs: number, work: () => Promise<T>): Promise<T> {
  const began = performance.now()
  let leastMs = 0
  try {
    return await work()
  } catch (error) {
    // A timer may end a millisecond before its time by this clock.
    if (error instanceof WorkTimedOut) leastMs = limitMs
    throw error
  } finally {
    if (budget) budget.leftMs -= Math.max(performance.now() - began, leastMs)
  }
}

/** The next thing that a worker says. @throws WorkEnded */
async function answerOf(worker: Worker, { timeoutMs, signal }: WorkOptions): Promise<FromWorker> {
  const over = new AbortController()
  const timer = setTimeout(() => over.abort(new WorkTimedOut(`took longer than ${timeoutMs / 1_000} seconds`)), timeoutMs)
  const ended = AbortSignal.any([over.signal, ...(signal ? [signal] : [])])
  const gone = new AbortController()
  const exited = once(worker, 'exit', { signal: gone.signal }).then(
    () => {
      throw new WorkEnded('ended without an answer')
    },
    () => new Promise<never>(() => {}),
  )
  try {
    // `once` rejects with what the thread died of: an error of the script, or too much memory.
    const [said] = await Promise.race([once(worker, 'message', { signal: ended }), exited])
    return said
  } catch (error) {
    if (ended.aborted) throw ended.reason
    if (error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY') throw new WorkEnded('took too much memory')
    throw error
  } finally {
    clearTimeout(timer)
    gone.abort()
  }
}
