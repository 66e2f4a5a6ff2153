import type { Part } from '../campaign/part.ts'
import { missingFrom } from './coverage.ts'
import { openLives } from './lives.ts'
import { PLANTED_BUGS } from './planted.ts'
import { runSimulation } from './run.ts'

const WORLDS = 50_000
/** Lived twice, on other threads: the histories have to be the same to the letter. */
const TWICE = 1_000
const SAY_EVERY = 2_500

/** Prints everything that happens in one world, and what is wrong with it. @returns The exit code. */
export async function printWorld(seed: number): Promise<number> {
  const { history, violations } = await openLives().live(seed)
  await new Promise((resolve) => process.stdout.write(`${[...history, ...violations].join('\n')}\n`, resolve))
  return violations.length > 0 ? 1 : 0
}

/** Lives many worlds, some of them twice, and some with a bug planted that has to be noticed. */
export const simulationPart: Part = async ({ seed, minutes, say }) => {
  const firstSeed = (seed - 1) * WORLDS + 1
  const budgetMs = minutes === undefined ? Number.POSITIVE_INFINITY : minutes * 60_000
  let told = 0
  const { seeds, ms, steps, violations, counts } = await runSimulation({
    firstSeed,
    seeds: WORLDS,
    budgetMs,
    onProgress(lived) {
      if (lived - told < SAY_EVERY) return
      told = lived
      say(`simulation: ${lived} worlds`)
    },
    onViolation: ({ seed: world, texts }) => say(`simulation: world ${world}: ${texts[0]?.slice(0, 200)}`),
  })
  const twice = { firstSeed, seeds: Math.min(TWICE, seeds), withDigests: true }
  const [once, again] = [await runSimulation(twice), await runSimulation({ ...twice, threads: 1 })]
  const different = [...again.digests].filter(([one, digest]) => once.digests.get(one) !== digest).map(([one]) => one)

  const planted: Record<string, { seeds: number; notices: string } | null> = {}
  for (const { name, breaks, mutants, within } of PLANTED_BUGS) {
    const run = await runSimulation({ firstSeed, seeds: within, mutants, stopsAtViolation: true })
    const first = run.violations.find(({ texts }) => texts.some((text) => breaks.some((promise) => text.startsWith(promise))))
    planted[name] = first ? { seeds: first.seed - firstSeed + 1, notices: String(first.texts[0]).slice(0, 80) } : null
    say(`simulation: ${name}: ${first ? `noticed in world ${first.seed}` : `not noticed in ${run.seeds} worlds`}`)
  }

  return {
    violations: [
      ...violations.flatMap(({ seed: world, texts }) => texts.map((text) => `world ${world}: ${text}`)),
      ...different.map((world) => `world ${world} is another one when it is lived again`),
    ],
    missing: [
      ...missingFrom(counts, seeds),
      ...Object.entries(planted).flatMap(([name, found]) => (found ? [] : [`the planted bug "${name}" was not noticed`])),
    ],
    figures: {
      worlds: seeds,
      firstWorld: firstSeed,
      worldsPerSecond: Math.round((seeds / ms) * 1_000),
      eventsPerWorld: Math.round(steps / seeds),
      livedTwice: again.seeds,
      planted,
      counts: Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1))),
    },
  }
}
