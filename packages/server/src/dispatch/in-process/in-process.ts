import type { Logger } from 'pino'
import type { Clock } from '../../clock.ts'
import type { Outbox } from '../../store/index.ts'
import { createConcurrencyLimiter } from '../concurrency-limiter.ts'
import { type Dispatch, MODEL_CALLS, type Work } from '../dispatch.ts'
import { createInFlight } from '../in-flight.ts'
import { createSessionLoops } from '../session-loops.ts'

/** Creates the dispatch of a process that has its database to itself: it does all the work that its commits require. */
export function createDispatch(log: Logger, clock: Clock, modelCalls = MODEL_CALLS): Dispatch {
  const inFlight = createInFlight(log)
  const early: Pick<Outbox, 'sessions' | 'actions'> = { sessions: new Set(), actions: new Set() }
  const limiter = createConcurrencyLimiter(modelCalls)
  const loops = createSessionLoops({ advance: (id) => limiter.run(id, async () => work?.advance(id)), clock, log })
  const inHand = new Map<string, number>()
  let work: Work | undefined
  let isStopped = false

  /** Counts the work for `id` until it ends. */
  function hold(id: string, begun: Promise<unknown>): void {
    inHand.set(id, (inHand.get(id) ?? 0) + 1)
    const letGo = () => {
      const left = (inHand.get(id) ?? 0) - 1
      if (left > 0) inHand.set(id, left)
      else inHand.delete(id)
    }
    inFlight.add(begun.finally(letGo))
  }

  function take({ sessions, actions }: Pick<Outbox, 'sessions' | 'actions'>): void {
    if (isStopped) return
    if (!work) {
      for (const id of sessions) early.sessions.add(id)
      for (const id of actions) early.actions.add(id)
      return
    }
    for (const id of actions) hold(id, work.execute(id))
    for (const id of sessions) hold(id, loops.advance(id))
  }

  return {
    start(given) {
      work = given
      take(early)
      early.sessions.clear()
      early.actions.clear()
    },
    take,
    // One loop per session means one caller per step, because no other process runs loops.
    claimStep: async () => !isStopped,
    // No other process could make it.
    giveBackStep: async () => {},
    background: inFlight.add,
    async reconcile(due) {
      const isMissing = (id: string) => !inHand.has(id)
      const missing = { sessions: due.sessions.filter(isMissing), actions: due.actions.filter(isMissing) }
      take({ sessions: new Set(missing.sessions), actions: new Set(missing.actions) })
      return { unlocked: 0, enqueued: missing.sessions.length + missing.actions.length, unattended: missing }
    },
    countWaiting: async () => early.sessions.size + early.actions.size + limiter.waiting,
    idle: inFlight.none,
    stop() {
      isStopped = true
      limiter.close()
      loops.stop()
    },
    drained: inFlight.none,
  }
}
