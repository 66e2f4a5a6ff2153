import { runCycles } from './cycles.ts'
import { openBench } from './engine.ts'
import { statsOf } from './stats.ts'

/** Opens the engine with an agent of so many tools: milliseconds until it is open, its heap, and the cycle after that. */
export async function benchCatalogue(tools: number, cycles: number) {
  const begin = performance.now()
  const bench = await openBench(undefined, undefined, { tools })
  const openMs = Math.round(performance.now() - begin)
  await runCycles(bench, 1, Math.min(20, cycles))
  const times = await runCycles(bench, 1, cycles)
  const heapMb = Math.round(process.memoryUsage().heapUsed / 2 ** 20)
  await bench.close()
  return { tools, openMs, heapMb, cycleMs: statsOf(times.map(({ cycleMs }) => cycleMs)) }
}
