import type { Block } from './cycles.ts'
import { type Blocks, CONCURRENCIES } from './report.ts'
import type { SystemKey } from './systems.ts'
import type { Worker } from './worker.ts'

export interface RoundOptions {
  rounds: number
  blockMs: number
  warmUpMs: number
  /** Progress, a line each. */
  say(line: string): void
  /** A system failed while it ran; it takes no further part. */
  onFailure(system: SystemKey, error: unknown): void
}

/**
 * Runs all systems in turn, round after round, so that what else the machine does hits all of them. Every system stays open in a process of
 * its own and is idle while it is not its turn. Each round begins with another system: none always follows the same neighbour's garbage.
 */
export async function runRounds(workers: ReadonlyMap<SystemKey, Worker>, options: RoundOptions): Promise<Blocks> {
  const taking = new Map(workers)
  const blocks = new Map<string, Record<1 | 32, Block[]>>()
  const turn = async (system: SystemKey, worker: Worker, what: (worker: Worker) => Promise<void>) => {
    try {
      await what(worker)
    } catch (error) {
      taking.delete(system)
      blocks.delete(system.key)
      options.onFailure(system, error)
    }
  }
  for (const [system, worker] of workers) {
    blocks.set(system.key, { 1: [], 32: [] })
    options.say(`warm-up: ${system.key}`)
    await turn(system, worker, async () => void (await worker.block(8, options.warmUpMs)))
  }
  for (let round = 0; round < options.rounds; round++) {
    options.say(`round ${round + 1} of ${options.rounds}`)
    const order = [...taking]
    const first = (round * 5) % Math.max(1, order.length)
    for (const inFlight of CONCURRENCIES) {
      for (const [system, worker] of [...order.slice(first), ...order.slice(0, first)]) {
        if (!taking.has(system)) continue
        await turn(system, worker, async () => void blocks.get(system.key)?.[inFlight].push(await worker.block(inFlight, options.blockMs)))
      }
    }
  }
  return blocks
}
