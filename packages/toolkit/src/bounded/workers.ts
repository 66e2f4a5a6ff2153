import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

/** Work took longer than it may, or more memory, and was ended. */
export class WorkEnded extends Error {
  override readonly name = 'WorkEnded'
}

export interface WorkOptions {
  /** How long the work itself may take, without its wait for a free worker. */
  timeoutMs: number
  signal?: AbortSignal | undefined
}

/** A few threads for work of unknown cost, so that the event loop stays free and the work can be ended. */
export interface Workers extends AsyncDisposable {
  /**
   * Returns the script's answer to this message.
   * @throws WorkEnded when it takes too long or too much memory; Error with what the script threw; the reason of an aborted signal.
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

  async function take(signal: AbortSignal | undefined): Promise<void> {
    if (busy < size) {
      busy++
      return
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const giveUp = () => {
      waiting.splice(waiting.indexOf(resolve), 1)
      reject(signal?.reason)
    }
    waiting.push(resolve)
    signal?.addEventListener('abort', giveUp, { once: true })
    await promise.finally(() => signal?.removeEventListener('abort', giveUp))
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
    async run(message, { timeoutMs, signal }) {
      signal?.throwIfAborted()
      await take(signal)
      try {
        const rested = idle.pop()
        clearTimeout(rested?.timer)
        const worker = rested?.worker ?? (await start(signal))
        worker.ref()
        try {
          worker.postMessage(message)
          const said = await answerOf(worker, { timeoutMs, signal })
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

/** The next thing that a worker says. @throws WorkEnded */
async function answerOf(worker: Worker, { timeoutMs, signal }: WorkOptions): Promise<FromWorker> {
  const over = new AbortController()
  const timer = setTimeout(() => over.abort(new WorkEnded(`took longer than ${timeoutMs / 1_000} seconds`)), timeoutMs)
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
