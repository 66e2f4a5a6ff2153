// One system in a process of its own: opens its adapter and does what the parent asks for, until the parent disconnects.
import { appendFileSync, closeSync, fsyncSync, openSync } from 'node:fs'
import { join } from 'node:path'
import type { Adapter, Place } from './adapter.ts'
import { runBlock } from './cycles.ts'
import type { Job, Reply, WorkerOptions } from './messages.ts'
import { type Call, resultOf } from './script.ts'

const { adapter: url, effects, ...where } = JSON.parse(process.argv[2] ?? '{}') as WorkerOptions

/** Notes an effect durably: it is made when this returns, as at a target elsewhere. */
function noteEffect(call: Call): void {
  const file = openSync(join(where.folder, 'effects'), 'a')
  appendFileSync(file, `${call.orderId}\n`)
  fsyncSync(file)
  closeSync(file)
}

/** Known when the system is open. */
let writers: readonly number[] = []

const place: Place = {
  ...where,
  effect: async (call) => {
    if (effects !== 'none') noteEffect(call)
    if (effects === 'crash') for (const pid of [...writers, process.pid]) process.kill(pid, 'SIGKILL')
    return resultOf(call)
  },
}

const reply = (message: Reply): void => void process.send?.(message)

const sentenceOf = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error))

// Also while the system opens, or when it cannot.
process.on('disconnect', () => process.exit())

try {
  const { open } = (await import(url)) as Adapter
  const system = await open(place)
  writers = system.writers ?? []
  process.on('message', async (job: Job) => {
    try {
      switch (job.do) {
        case 'block':
          return reply({ id: job.id, value: await runBlock(system, job.inFlight, job.durationMs) })
        case 'start':
          return reply({ id: job.id, value: await system.start(job.message), atMs: performance.timeOrigin + performance.now() })
        case 'decide':
          return reply({ id: job.id, value: await system.decide(job.sessionId, job.verdicts) })
        case 'finish':
          return reply({ id: job.id, value: await system.finish(job.sessionId) })
        case 'recover':
          return reply({ id: job.id, value: await system.recover(job.sessionId, job.verdicts) })
        case 'close':
          await system.close()
          return reply({ id: job.id, value: undefined })
      }
    } catch (error) {
      reply({ id: job.id, error: sentenceOf(error) })
    }
  })
  reply({ id: 0, value: writers })
} catch (error) {
  reply({ id: 0, error: sentenceOf(error) })
  process.exitCode = 1
}
