import type { PlantedBug } from './planted.ts'
import { runSimulation } from './run.ts'

/** The first world that shows a planted bug. */
export interface Notice {
  seed: number
  /** The violation in that world. */
  text: string
}

/**
 * Looks for a world that shows a planted bug by a promise that the bug breaks. A world in which something is violated without the bug,
 * too, shows nothing and is passed over.
 * @param threads Default 2.
 */
export async function findNotice({ mutants, breaks, within }: PlantedBug, firstSeed: number, threads = 2): Promise<Notice | undefined> {
  const end = firstSeed + within
  for (let next = firstSeed; next < end; ) {
    const { violations } = await runSimulation({ firstSeed: next, seeds: end - next, mutants, stopsAtViolation: true, threads })
    const [world] = violations
    if (!world) return undefined
    const isCleanWithout = (await runSimulation({ firstSeed: world.seed, seeds: 1, threads: 1 })).violations.length === 0
    const text = world.texts.find((text) => breaks.some((promise) => text.startsWith(promise)))
    if (isCleanWithout && text !== undefined) return { seed: world.seed, text }
    next = world.seed + 1
  }
  return undefined
}
