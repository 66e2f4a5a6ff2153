// A thread of a simulation: lives the worlds it is told to, with the sources it is handed.
import { parentPort, workerData } from 'node:worker_threads'
import type { LiveOptions } from './lives.ts'
import { loadMutated, type MutatedSources } from './mutate.ts'

const { sources, ...options } = workerData as LiveOptions & { sources: MutatedSources }
if (Object.keys(sources).length > 0) loadMutated(sources)
// Only now: what is imported from here on is mutated.
const { openLives } = await import('./lives.ts')
const lives = openLives()

parentPort?.on('message', async ({ first, count }: { first: number; count: number }) => {
  parentPort?.postMessage(await lives.liveAll(first, count, options))
})
