import { type ChildProcess, fork } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Engine } from 'countersign'
import { createDatabase, startPostgres } from '../verification/testing/postgres.ts'
import { type Bench, type BenchOptions, nowMs, openBench, person } from './engine.ts'
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
async function cycle(
  { engine }: Pick<Bench, 'engine'>,
  sessionId: string,
  watched: Awaited<ReturnType<typeof watch>>,
): Promise<CycleTimes> {
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

/** Gated cycles on an open engine, `inFlight` sessions at a time, ten turns a session. */
export async function runCycles(bench: Pick<Bench, 'engine'>, inFlight: number, cycles: number): Promise<CycleTimes[]> {
  const times: CycleTimes[] = []
  const worker = async (count: number) => {
    for (let left = count; left > 0; ) {
      const { id } = await bench.engine.agentLoop.createSession({}, caller)
      const watched = await watch(bench.engine, id)
      for (let turn = 0; turn < 10 && left > 0; turn++, left--) times.push(await cycle(bench, id, watched))
      watched.stop()
    }
  }
  await Promise.all(Array.from({ length: inFlight }, () => worker(Math.ceil(cycles / inFlight))))
  return times
}

const WARM_UP = 100

/** Counts the commits of the embedded database: a group commit makes one of many transactions. */
function countCommits() {
  let commits = 0
  const onPoint = (message: unknown) => {
    if (message === 'batch.before_commit') commits++
  }
  subscribe('countersign.checkpoint', onPoint)
  return () => {
    unsubscribe('countersign.checkpoint', onPoint)
    return commits
  }
}

/** `cycles` gated cycles in this process. */
export async function benchCycles(inFlight: number, cycles: number, options: BenchOptions = {}) {
  const bench = await openBench(undefined, undefined, options)
  await runCycles(bench, 1, Math.min(WARM_UP, cycles))
  const commits = countCommits()
  const begin = performance.now()
  const times = await runCycles(bench, inFlight, cycles)
  const seconds = (performance.now() - begin) / 1000
  const commitsPerCycle = Number((commits() / times.length).toFixed(2))
  await bench.close()
  return { inFlight, commitsPerCycle, ...figuresOf(times, seconds) }
}

/** The same on a Postgres of its own, by so many server processes that share the database and the work. */
export async function benchPostgresCycles(processes: number, inFlight: number, cycles: number) {
  await using postgres = await startPostgres()
  const url = await createDatabase(postgres.url('postgres'))
  const workers: ChildProcess[] = []
  for (let i = 0; i < processes; i++) {
    const job = JSON.stringify({ url, inFlight: Math.ceil(inFlight / processes), cycles: Math.ceil(cycles / processes), warmUp: WARM_UP })
    const child = fork(fileURLToPath(new URL('./cycles-process.ts', import.meta.url)), [job], {
      execArgv: ['--conditions=countersign-source', '--disable-warning=ExperimentalWarning'],
    })
    // One after the other: only one of them makes the tables.
    await once(child, 'message')
    workers.push(child)
  }
  const begin = performance.now()
  const all = await Promise.all(
    workers.map(async (worker) => {
      worker.send('go')
      const [times] = await once(worker, 'message')
      return times as CycleTimes[]
    }),
  )
  const seconds = (performance.now() - begin) / 1000
  await Promise.all(
    workers.map(async (worker) => {
      worker.send('end')
      await once(worker, 'exit')
    }),
  )
  return { processes, inFlight, ...figuresOf(all.flat(), seconds) }
}

function figuresOf(times: readonly CycleTimes[], seconds: number) {
  return {
    cyclesPerSecond: Math.round(times.length / seconds),
    cycleMs: statsOf(times.map((time) => time.cycleMs)),
    decisionToStartMs: statsOf(times.map((time) => time.decisionToStartMs)),
  }
}

/** The median cycle around the last of many turns of one session against that around its first turns, over several sessions. */
export async function benchLongSession(sessions: number, turns = 100) {
  const bench = await openBench()
  const early: number[] = []
  const late: number[] = []
  for (let i = 0; i < sessions; i++) {
    const { id } = await bench.engine.agentLoop.createSession({}, caller)
    const watched = await watch(bench.engine, id)
    for (let turn = 1; turn <= turns + 5; turn++) {
      const { cycleMs } = await cycle(bench, id, watched)
      // The first session warms the process up.
      if (i > 0 && turn <= 5) early.push(cycleMs)
      if (i > 0 && turn > turns) late.push(cycleMs)
    }
    watched.stop()
  }
  await bench.close()
  const [first, last] = [statsOf(early), statsOf(late)]
  return { turns, firstMs: first, lastMs: last, ratio: Number((last.median / first.median).toFixed(2)) }
}
