import { monitorEventLoopDelay } from 'node:perf_hooks'
import { ONLY_TALK, openBench, person } from './engine.ts'
import { statsOf } from './stats.ts'

const caller = { principal: person }

/** One message in each of so many sessions at the same moment: milliseconds until each has its answer. */
export async function benchBurst(turns: number) {
  const bench = await openBench()
  const { engine } = bench
  const sessions = await Promise.all(Array.from({ length: turns }, () => engine.agentLoop.createSession({}, caller)))
  const answers: Promise<number>[] = []
  for (const { id } of sessions) {
    const { promise, resolve } = Promise.withResolvers<number>()
    const stop = await engine.hub.onSession(id, ({ event }) => {
      if (event.type === 'done') resolve(performance.now())
    })
    answers.push(promise.finally(stop))
  }
  const loop = monitorEventLoopDelay({ resolution: 5 })
  loop.enable()
  const begin = performance.now()
  await Promise.all(sessions.map(({ id }) => engine.agentLoop.postMessage(id, ONLY_TALK, caller)))
  const acceptedMs = performance.now() - begin
  const ends = await Promise.all(answers)
  loop.disable()
  const seconds = (performance.now() - begin) / 1000
  await bench.close()
  return {
    turns,
    turnsPerSecond: Math.round(turns / seconds),
    acceptedMs: Math.round(acceptedMs),
    answeredMs: statsOf(ends.map((at) => at - begin)),
    longestPauseMs: Math.round(loop.max / 1e6),
  }
}
