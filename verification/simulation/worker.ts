// A thread of a simulation: lives the worlds it is told to, with the bugs it is told to plant.
import { parentPort, workerData } from 'node:worker_threads'
import type { Patch } from '../campaign/patch.ts'
import { plant } from './patch.ts'

const { patches, withDigests } = workerData as { patches: readonly Patch[]; withDigests: boolean }
if (patches.length > 0) plant(patches)
// Only now: what is imported from here on is patched.
const { openLives } = await import('./lives.ts')
const lives = openLives()

parentPort?.on('message', async ({ first, count }: { first: number; count: number }) => {
  parentPort?.postMessage(await lives.liveAll(first, count, withDigests))
})
