import { Counts } from './counts.ts'
import { openWorldDatabase } from './database.ts'
import { DECIDERS, OTHERS } from './people.ts'
import { createSlot } from './slot.ts'
import { MAX_PROCESSES } from './weather.ts'
import { liveWorld, type WorldResult } from './world.ts'

/** The results of several worlds. */
export interface Lived {
  seeds: number
  steps: number
  counts: [string, number][]
  violations: { seed: number; texts: string[] }[]
  /** Of each world, by its seed, where they were asked for. */
  digests: [number, string][]
}

export interface LiveOptions {
  withDigests: boolean
  /** Points of the code at which a process is killed, one in each world, in turn. Empty: kills are drawn. */
  killsAt: readonly string[]
}

/** Lives worlds one after another, in one database and on machines that are made once. */
export interface Lives {
  live(seed: number): Promise<WorldResult>
  /** Lives the worlds of `first` to `first + count - 1`. */
  liveAll(first: number, count: number, options: LiveOptions): Promise<Lived>
}

export function openLives(): Lives {
  const open = () => openWorldDatabase([...DECIDERS, ...OTHERS])
  const stage = { embedded: open(), shared: open(), slots: Array.from({ length: MAX_PROCESSES }, createSlot) }
  const live = (seed: number, diesAt?: string) => liveWorld(seed, stage, diesAt)
  return {
    live,
    async liveAll(first, count, { withDigests, killsAt }) {
      const counts = new Counts()
      const lived: Lived = { seeds: count, steps: 0, counts: [], violations: [], digests: [] }
      for (let seed = first; seed < first + count; seed++) {
        const world = await live(seed, killsAt[seed % killsAt.length])
        lived.steps += world.steps
        counts.add(world.counts.byName)
        if (world.violations.length > 0) lived.violations.push({ seed, texts: world.violations })
        if (withDigests) lived.digests.push([seed, world.digest()])
      }
      return { ...lived, counts: [...counts.byName] }
    },
  }
}
