import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Place } from './adapter.ts'
import type { WorkerOptions } from './messages.ts'
import type { Places } from './places.ts'
import { probeDisk } from './probe-disk.ts'
import type { Probe, ProbeName } from './report.ts'
import { answerStart, messageFor } from './script.ts'
import type { SystemKey } from './systems.ts'
import { Worker } from './worker.ts'

/** Long enough for an effect that a late decision causes in the background. */
const LATE_MS = 1_000

type Room = Omit<Place, 'effect'>
type OpenWorker = (effects: WorkerOptions['effects'], plainFiles?: boolean) => Promise<Worker>

const effectsIn = ({ folder }: Room): string[] => {
  const file = join(folder, 'effects')
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
}

const times = (count: number): string => (count === 1 ? 'once' : `${count} times`)

const firstLine = (error: unknown): string => (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? ''

const TWICE_SESSIONS = 10

/** Two decisions at once, as from two browser windows, and one more at the end; several times, because it is a race. */
async function probeTwice(open: OpenWorker, room: Room): Promise<Probe> {
  const worker = await open('note')
  try {
    let refused = 0
    for (let i = 0; i < TWICE_SESSIONS; i++) {
      const { sessionId } = await worker.start(messageFor(`twice${i}`, 1))
      const verdicts = { [`twice${i}-1`]: 'approve' } as const
      const both = await Promise.allSettled([worker.decide(sessionId, verdicts), worker.decide(sessionId, verdicts)])
      await worker.finish(sessionId).catch(() => undefined)
      const late = await Promise.allSettled([worker.decide(sessionId, verdicts)])
      refused += [...both, ...late].filter(({ status }) => status === 'rejected').length
    }
    await setTimeout(LATE_MS)
    const count = effectsIn(room).length
    const repeats = `approved twice at once and again at the end; ${refused} of ${3 * TWICE_SESSIONS} decisions were refused`
    const sentence = `${TWICE_SESSIONS} sessions, each ${repeats}: ${count} effects.`
    return { verdict: count === TWICE_SESSIONS ? 'yes' : 'no', sentence }
  } finally {
    await worker.close()
  }
}

async function probeCrash(open: OpenWorker, room: Room): Promise<Probe> {
  const verdicts = { 'crash-1': 'approve' } as const
  const doomed = await open('crash')
  const { sessionId } = await doomed.start(messageFor('crash', 1))
  await doomed.decide(sessionId, verdicts).catch(() => undefined)
  await doomed.ended()
  const worker = await open('note')
  try {
    let hasContinued = true
    const how = await worker.recover(sessionId, verdicts).catch((error) => {
      hasContinued = false
      return `it did not continue (${firstLine(error)})`
    })
    await setTimeout(LATE_MS)
    const count = effectsIn(room).length
    const sentence = `Killed after the effect and started again: ${how}; the effect was made ${times(count)}.`
    if (count > 1) return { verdict: 'no', sentence }
    // Nothing was done twice, but nothing was done at all.
    return { verdict: hasContinued ? 'yes' : 'not determined', sentence }
  } finally {
    await worker.close()
  }
}

async function probeTwoCalls(open: OpenWorker, room: Room): Promise<Probe> {
  const worker = await open('note')
  try {
    const { sessionId } = await worker.start(messageFor('two', 2))
    await worker.decide(sessionId, { 'two-1': 'approve', 'two-2': 'decline' })
    const answer = await worker.finish(sessionId)
    const effects = effectsIn(room)
    const isRight = effects.length === 1 && effects[0] === 'two-1' && answer.startsWith(answerStart(2))
    const sentence = `Effects: ${effects.join(', ') || 'none'} (approved: two-1); the model said "${answer.slice(0, answerStart(2).length)}"`
    return { verdict: isRight ? 'yes' : 'no', sentence }
  } finally {
    await worker.close()
  }
}

/** Runs every probe of a system, each in a place and a process of its own. */
export async function runProbes(system: SystemKey, adapter: string, places: Places): Promise<Record<ProbeName, Probe>> {
  const probe = async (run: (open: OpenWorker, room: Room) => Promise<Probe>): Promise<Probe> => {
    if (system.kind === 'floor') return { verdict: 'not applicable', sentence: 'The floor decides nothing.' }
    const room = await places.make(system)
    try {
      return await run((effects, plainFiles = false) => Worker.open({ ...room, adapter, effects, plainFiles }), room)
    } catch (error) {
      return { verdict: 'not determined', sentence: `The probe failed: ${firstLine(error)}` }
    }
  }
  return {
    sameDecisionTwice: await probe(probeTwice),
    crashAfterEffect: await probe(probeCrash),
    oneOfTwoDeclined: await probe(probeTwoCalls),
    onDiskBeforePause: await probe((open, room) => probeDisk(() => open('none', true), room, places)),
  }
}
