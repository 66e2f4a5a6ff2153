import type { Counts } from './counts.ts'
import type { WorldDatabase } from './database.ts'
import type { SimulatedProcess } from './process.ts'
import type { Random } from './random.ts'
import type { Restore } from './restore.ts'
import type { Slot, Surroundings } from './slot.ts'
import type { Owner, Timeline } from './timeline.ts'
import type { Weather } from './weather.ts'

export interface HouseParts {
  timeline: Timeline
  random: Random
  database: WorldDatabase
  weather: Weather
  counts: Counts
  slots: readonly Slot[]
  isCalm(): boolean
  surround(owner: Owner): Surroundings
  /** Undefined for a world whose database is never restored. */
  restore: Restore | undefined
  /** Called right after each commit of a process. */
  committed(process: SimulatedProcess): void
}

/** The server processes of a world: they start, die, and are started again. */
export interface House {
  begin(): void
  /** A process that listens, if one does. */
  pick(): SimulatedProcess | undefined
  /** Kills every process; each is started again a while later. */
  killAll(): void
  /** Called before anything happens to a process; true when it dies of it. */
  interfere(owner: Owner, label: string): boolean
  /** A process has come to this point of the code: see `checkpoint`. */
  reached(point: string): void
  /** Ends all trouble: paused processes continue, dead ones are started. */
  calm(): void
  /** True when everybody is up and at work. */
  isWhole(): boolean
  /** True when the process with this id in the rows shows that it lives. */
  isAlive(runner: string): boolean
}
