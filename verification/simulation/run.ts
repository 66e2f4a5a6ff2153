import { Worker } from 'node:worker_threads'
import type { CodeMutant } from '../mutation/code-mutants.ts'
import { Counts } from './counts.ts'
import type { Lived } from './lives.ts'
import { mutateSources } from './mutate.ts'

export interface SimulationOptions {
  /** Default 1. */
  firstSeed?: number
  /** Worlds to live. Default 50_000. */
  seeds?: number
  /** No world begins after this time. Default: none. */
  budgetMs?: number
  /** Default 2. */
  threads?: number
  /** Bugs to plant. Default: none. */
  mutants?: readonly CodeMutant[]
  /** Also works out what tells one life of a world from another. Default false. */
  withDigests?: boolean
  /** Points of the code at which a process is killed, one in each world, in turn: nothing else kills one then. Default: kills are drawn. */
  killsAt?: readonly string[]
  /** Stops at the first world in which something is violated. Default false. */
  stopsAtViolation?: boolean
  /** Told after each chunk how far it is. */
  onProgress?(seeds: number): void
  /** Told of each world in which something is violated, as it is found. */
  onViolation?(violation: Lived['violations'][number]): void
}

export interface SimulationReport {
  seeds: number
  ms: number
  /** Events of all worlds. */
  steps: number
  /** By seed, in the order of the seeds. */
  violations: Lived['violations']
  counts: ReadonlyMap<string, number>
  /** SHA-256 of each world's history and rows, by seed; empty unless asked for. */
  digests: ReadonlyMap<number, string>
}

const CHUNK = 25
/** Where the first violation ends it: what is lived behind that is for nothing. */
const SHORT_CHUNK = 5
/**
 * A world takes some 10 ms; one that takes this long goes round in circles without letting time pass. It holds for the start of a thread as
 * well, which on a machine without a free core has to load the whole server first.
 */
const CHUNK_PATIENCE_MS = 240_000

/** Lives many worlds on several threads. Each seed is a world of its own; which thread lives it makes no difference. */
export async function runSimulation(options: SimulationOptions = {}): Promise<SimulationReport> {
  const {
    firstSeed = 1,
    seeds = 50_000,
    budgetMs = Infinity,
    threads = 2,
    mutants = [],
    withDigests = false,
    killsAt = [],
    stopsAtViolation = false,
    onProgress,
    onViolation,
  } = options
  const sources = mutateSources(mutants)
  const began = performance.now()
  const counts = new Counts()
  const digests = new Map<number, string>()
  const violations: Lived['violations'] = []
  let next = firstSeed
  let steps = 0
  let lived = 0

  const takeChunk = (): { first: number; count: number } | undefined => {
    const count = Math.min(stopsAtViolation ? SHORT_CHUNK : CHUNK, firstSeed + seeds - next)
    const isOver = count <= 0 || performance.now() - began > budgetMs || (stopsAtViolation && violations.length > 0)
    if (isOver) return undefined
    next += count
    return { first: next - count, count }
  }

  function runThread(): Promise<void> {
    return new Promise((resolve, reject) => {
      const worker = new Worker(new URL('./worker.ts', import.meta.url), {
        workerData: { sources, withDigests, killsAt },
        execArgv: ['--conditions=countersign-source', '--disable-warning=ExperimentalWarning'],
      })
      let patience: NodeJS.Timeout | undefined
      const end = () => void worker.terminate().then(() => resolve(), reject)
      const goOn = () => {
        clearTimeout(patience)
        const chunk = takeChunk()
        if (!chunk) return end()
        worker.postMessage(chunk)
        patience = setTimeout(() => {
          violations.push({ seed: chunk.first, texts: [`I9: one of ${chunk.count} worlds from here on never ends`] })
          end()
        }, CHUNK_PATIENCE_MS)
      }
      worker.on('error', reject)
      worker.on('message', (result: Lived) => {
        lived += result.seeds
        steps += result.steps
        counts.add(result.counts)
        violations.push(...result.violations)
        for (const violation of result.violations) onViolation?.(violation)
        for (const [seed, digest] of result.digests) digests.set(seed, digest)
        onProgress?.(lived)
        goOn()
      })
      goOn()
    })
  }

  await Promise.all(Array.from({ length: threads }, runThread))
  violations.sort((a, b) => a.seed - b.seed)
  return { seeds: lived, ms: performance.now() - began, steps, violations, counts: counts.byName, digests }
}
