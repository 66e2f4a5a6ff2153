import { cpus, release, totalmem } from 'node:os'
import { type Stats, statsOf } from '../stats.ts'
import type { Block } from './cycles.ts'
import { baselineOf, type SystemKey } from './systems.ts'

export interface Figures {
  /** Median of the rounds, and the slowest and the fastest. */
  cyclesPerSecond: number
  range: readonly [number, number]
  /** Of all cycles of all rounds. */
  cycleMs: Stats
  /** Median over the rounds of this system's cycles/s, divided by those of Countersign in the same round. Null without Countersign. */
  ratio: number | null
}

export type ProbeName = 'sameDecisionTwice' | 'crashAfterEffect' | 'oneOfTwoDeclined' | 'onDiskBeforePause'

export interface Probe {
  verdict: 'yes' | 'no' | 'not applicable' | 'not determined'
  /** The observation, as one sentence. */
  sentence: string
}

/** The report on one system: figures and probes, or the reason why it did not run. */
export interface Row {
  key: string
  name: string
  database: string
  /** The pinned packages; empty for Countersign and the floor. */
  packages: Readonly<Record<string, string>>
  notRun?: string
  at1?: Figures
  at32?: Figures
  probes?: Readonly<Record<ProbeName, Probe>>
}

export interface Report {
  at: string
  machine: ReturnType<typeof describeMachine>
  rounds: number
  blockMs: number
  rows: readonly Row[]
}

export function describeMachine() {
  const { node, sqlite } = process.versions
  const memoryGiB = Math.round(totalmem() / 2 ** 30)
  return { cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length, memoryGiB, kernel: release(), node, sqlite: sqlite ?? 'unknown' }
}

export const CONCURRENCIES = [1, 32] as const
export type Concurrency = (typeof CONCURRENCIES)[number]

/** The blocks that were run: by system and concurrency, one entry for each round. */
export type Blocks = ReadonlyMap<string, Readonly<Record<Concurrency, readonly Block[]>>>

const medianOf = (values: readonly number[]): number => statsOf(values).median

const rateOf = ({ cycleMs, wallMs }: Block): number => (cycleMs.length / wallMs) * 1000

const toDigits = (value: number): number => Number(value.toPrecision(3))

/** Figures of one system at one concurrency; undefined when it has no blocks there. */
export function figuresOf(blocks: Blocks, system: SystemKey, inFlight: Concurrency): Figures | undefined {
  const own = blocks.get(system.key)?.[inFlight] ?? []
  if (own.length === 0) return undefined
  const rates = own.map(rateOf)
  const base = (blocks.get(baselineOf(system))?.[inFlight] ?? []).map(rateOf)
  const ratios = rates.flatMap((rate, round) => (base[round] === undefined ? [] : [rate / base[round]]))
  return {
    cyclesPerSecond: toDigits(medianOf(rates)),
    range: [toDigits(Math.min(...rates)), toDigits(Math.max(...rates))],
    cycleMs: statsOf(own.flatMap(({ cycleMs }) => cycleMs)),
    ratio: ratios.length === 0 ? null : toDigits(medianOf(ratios)),
  }
}
