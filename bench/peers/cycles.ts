import type { System } from './adapter.ts'
import { answerStart, messageFor, ordersOf } from './script.ts'

export interface Block {
  inFlight: number
  cycleMs: number[]
  wallMs: number
}

let sessions = 0

/** One gated cycle in a new session. @returns How long it took, in ms. */
export async function runCycle(system: System): Promise<number> {
  const tag = `s${++sessions}`
  const begin = performance.now()
  const sessionId = await system.start(messageFor(tag, 1))
  await system.decide(sessionId, Object.fromEntries(ordersOf(tag, 1).map((order) => [order, 'approve'])))
  const answer = await system.finish(sessionId)
  const ms = performance.now() - begin
  if (!answer.startsWith(answerStart(1))) throw new Error(`The cycle ended with an unexpected answer: ${answer.slice(0, 80)}`)
  return ms
}

/** Runs cycles for `durationMs`, `inFlight` at a time. Cycles that have begun are finished and count, with the time they take. */
export async function runBlock(system: System, inFlight: number, durationMs: number): Promise<Block> {
  const begin = performance.now()
  const cycleMs: number[] = []
  const worker = async () => {
    while (performance.now() - begin < durationMs) cycleMs.push(await runCycle(system))
  }
  await Promise.all(Array.from({ length: inFlight }, worker))
  return { inFlight, cycleMs, wallMs: performance.now() - begin }
}
