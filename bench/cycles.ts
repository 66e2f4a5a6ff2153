import type { Engine } from 'countersign'
import { type Bench, nowMs, openBench, person } from './engine.ts'
import { statsOf } from './stats.ts'

const caller = { principal: person }

/** Resolves with the waiting action's id when the session asks, and with when the tool began when its run is done. */
async function watch(engine: Engine, sessionId: string) {
  let onAsk = (_actionId: string) => {}
  let onDone = (_startedAtMs: number) => {}
  let startedAtMs = Number.NaN
  const stop = await engine.hub.onSession(sessionId, ({ event }) => {
    if (event.type === 'action_proposed') onAsk(event.data.proposal.id)
    if (event.type === 'action_update' && event.data.state === 'succeeded') startedAtMs = (event.data.result as { atMs: number }).atMs
    if (event.type === 'done') onDone(startedAtMs)
  })
  return {
    asked: () => new Promise<string>((resolve) => (onAsk = resolve)),
    done: () => new Promise<number>((resolve) => (onDone = resolve)),
    stop,
  }
}

interface CycleTimes {
  cycleMs: number
  decisionToStartMs: number
}

/** One gated cycle: message → model → ask → approve → execute → model → done. */
async function cycle({ engine }: Bench, sessionId: string, watched: Awaited<ReturnType<typeof watch>>): Promise<CycleTimes> {
  const begin = performance.now()
  const asked = watched.asked()
  await engine.agentLoop.postMessage(sessionId, 'mark ORD-001 as processing', caller)
  const actionId = await asked
  const done = watched.done()
  const decidedMs = nowMs()
  await engine.gate.decide(actionId, { verdict: 'approve' }, caller)
  const startedMs = await done
  return { cycleMs: performance.now() - begin, decisionToStartMs: startedMs - decidedMs }
}

/** `cycles` gated cycles, `inFlight` sessions at a time, ten turns a session. */
export async function benchCycles(inFlight: number, cycles: number) {
  const bench = await openBench()
  const times: CycleTimes[] = []
  const lane = async (count: number) => {
    for (let left = count; left > 0; ) {
      const { id } = await bench.engine.agentLoop.createSession({}, caller)
      const watched = await watch(bench.engine, id)
      for (let turn = 0; turn < 10 && left > 0; turn++, left--) times.push(await cycle(bench, id, watched))
      watched.stop()
    }
  }
  await lane(100)
  times.length = 0
  const begin = performance.now()
  await Promise.all(Array.from({ length: inFlight }, () => lane(Math.ceil(cycles / inFlight))))
  const seconds = (performance.now() - begin) / 1000
  await bench.close()
  return {
    inFlight,
    cyclesPerSecond: Math.round(times.length / seconds),
    cycleMs: statsOf(times.map((time) => time.cycleMs)),
    decisionToStartMs: statsOf(times.map((time) => time.decisionToStartMs)),
  }
}

/** The median cycle around turn 100 of one session against that around its first turns, over several sessions. */
export async function benchLongSession(sessions: number) {
  const bench = await openBench()
  const early: number[] = []
  const late: number[] = []
  for (let i = 0; i < sessions; i++) {
    const { id } = await bench.engine.agentLoop.createSession({}, caller)
    const watched = await watch(bench.engine, id)
    for (let turn = 1; turn <= 105; turn++) {
      const { cycleMs } = await cycle(bench, id, watched)
      // The first session warms the process up.
      if (i > 0 && turn <= 5) early.push(cycleMs)
      if (i > 0 && turn > 100) late.push(cycleMs)
    }
    watched.stop()
  }
  await bench.close()
  const [first, hundredth] = [statsOf(early), statsOf(late)]
  return { turn1Ms: first, turn100Ms: hundredth, ratio: Number((hundredth.median / first.median).toFixed(2)) }
}
