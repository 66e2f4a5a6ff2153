// A thread of a simulation: lives the worlds it is told to, with the sources it is handed.
import { parentPort, workerData } from 'node:worker_threads'
import { loadMutated, type MutatedSources } from './mutate.ts'

const { sources, withDigests } = workerData as { sources: MutatedSources; withDigests: boolean }
if (Object.keys(sources).length > 0) loadMutated(sources)
// Only now: what is imported from here on is mutated.
const { openLives } = await import('./lives.ts')
const lives = openLives()

parentPort?.on('message', async ({ first, count }: { first: number; count: number }) => {
  parentPort?.postMessage(await lives.liveAll(first, count, withDigests))
})
