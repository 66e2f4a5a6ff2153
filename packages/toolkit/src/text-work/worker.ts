import { parentPort } from 'node:worker_threads'
import type { FromWorker } from '../bounded/workers.ts'
import { JOBS } from './jobs.ts'

const say = (said: FromWorker) => parentPort?.postMessage(said)

parentPort?.on('message', ({ job, input }: { job: keyof typeof JOBS; input: never }) => {
  try {
    say({ answer: JOBS[job](input) })
  } catch (error) {
    say({ failure: error instanceof Error ? error.message : String(error) })
  }
})
say({ ready: true })
