import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Verdicts } from './adapter.ts'
import type { Block } from './cycles.ts'
import type { Job, Reply, Work, WorkerOptions } from './messages.ts'

const OUTPUT_LIMIT = 4_000

/** A system in a process of its own. */
export class Worker {
  readonly #child: ChildProcess
  readonly #open = new Map<number, { resolve(reply: Reply): void; reject(error: Error): void }>()
  readonly #ended: Promise<unknown>
  #jobs = 0
  #output = ''
  /** Its process and what else writes its data. */
  pids: readonly number[] = []

  private constructor(options: WorkerOptions) {
    this.#child = fork(fileURLToPath(new URL('./process.ts', import.meta.url)), [JSON.stringify(options)], {
      execArgv: ['--conditions=countersign-source', '--disable-warning=ExperimentalWarning'],
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    })
    this.#ended = once(this.#child, 'exit')
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on('data', (chunk) => (this.#output = (this.#output + chunk).slice(-OUTPUT_LIMIT)))
    }
    this.#child.on('message', (reply: Reply) => {
      const job = this.#open.get(reply.id)
      this.#open.delete(reply.id)
      if (reply.error === undefined) job?.resolve(reply)
      else job?.reject(new Error(reply.error))
    })
    this.#child.once('exit', (code, signal) => {
      const error = new Error(`the process ended with ${signal ?? code}: ${this.#output.trim()}`)
      for (const job of this.#open.values()) job.reject(error)
      this.#open.clear()
    })
  }

  /** Starts the process and opens its system. @throws Error with the system's own message when it does not open. */
  static async open(options: WorkerOptions): Promise<Worker> {
    const worker = new Worker(options)
    try {
      const { value } = await worker.#reply(0, 60_000)
      worker.pids = [worker.#child.pid ?? 0, ...(value as number[])]
      return worker
    } catch (error) {
      await worker.kill()
      throw error
    }
  }

  #reply(id: number, timeoutMs: number): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs / 1000} s: ${this.#output.trim()}`)), timeoutMs)
      const end = <T>(settle: (value: T) => void) => {
        return (value: T) => {
          clearTimeout(timer)
          settle(value)
        }
      }
      this.#open.set(id, { resolve: end(resolve), reject: end(reject) })
    })
  }

  #do(work: Work, timeoutMs = 60_000): Promise<Reply> {
    const job: Job = { ...work, id: ++this.#jobs }
    const answer = this.#reply(job.id, timeoutMs)
    this.#child.send(job)
    return answer
  }

  async block(inFlight: number, durationMs: number): Promise<Block> {
    return (await this.#do({ do: 'block', inFlight, durationMs }, durationMs + 60_000)).value as Block
  }

  /** @returns The session, and when its process had the answer (epoch ms). */
  async start(message: string): Promise<{ sessionId: string; atMs: number }> {
    const { value, atMs = 0 } = await this.#do({ do: 'start', message })
    return { sessionId: value as string, atMs }
  }

  async decide(sessionId: string, verdicts: Verdicts): Promise<void> {
    await this.#do({ do: 'decide', sessionId, verdicts }, 20_000)
  }

  async finish(sessionId: string): Promise<string> {
    return (await this.#do({ do: 'finish', sessionId }, 20_000)).value as string
  }

  async recover(sessionId: string, verdicts: Verdicts): Promise<string> {
    return (await this.#do({ do: 'recover', sessionId, verdicts }, 120_000)).value as string
  }

  /** Resolves when the process has ended by itself. */
  async ended(): Promise<void> {
    await this.#ended
  }

  /** Ends the process as a crash would. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#ended
  }

  /** Closes the system and ends its process, by force when it does not close. */
  async close(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    await this.#do({ do: 'close' }, 10_000).catch(() => undefined)
    if (this.#child.connected) this.#child.disconnect()
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), 5_000)
    await this.#ended
    clearTimeout(timer)
  }
}
