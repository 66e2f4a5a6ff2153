import { createHash } from 'node:crypto'
import { Counts } from './counts.ts'
import { openWorldDatabase } from './database.ts'
import { DECIDERS, OTHERS } from './people.ts'
import { createSlot } from './slot.ts'
import { MAX_PROCESSES } from './weather.ts'
import { liveWorld, type WorldResult } from './world.ts'

/** What several worlds came to. */
export interface Lived {
  seeds: number
  steps: number
  counts: [string, number][]
  violations: { seed: number; texts: string[] }[]
  /** SHA-256 of each world's history, by seed. */
  digests: [number, string][]
}

/** Lives worlds one after another, in one database and on machines that are made once. */
export interface Lives {
  live(seed: number): Promise<WorldResult>
  /** Lives the worlds of `first` to `first + count - 1`. */
  liveAll(first: number, count: number): Promise<Lived>
}

export function openLives(): Lives {
  const open = () => openWorldDatabase([...DECIDERS, ...OTHERS])
  const stage = { embedded: open(), shared: open(), slots: Array.from({ length: MAX_PROCESSES }, createSlot) }
  const live = (seed: number) => liveWorld(seed, stage)
  return {
    live,
    async liveAll(first, count) {
      const counts = new Counts()
      const lived: Lived = { seeds: count, steps: 0, counts: [], violations: [], digests: [] }
      for (let seed = first; seed < first + count; seed++) {
        const world = await live(seed)
        lived.steps += world.steps
        counts.add(world.counts.byName)
        if (world.violations.length > 0) lived.violations.push({ seed, texts: world.violations })
        lived.digests.push([seed, createHash('sha256').update(world.history.join('\n')).digest('hex')])
      }
      return { ...lived, counts: [...counts.byName] }
    },
  }
}
