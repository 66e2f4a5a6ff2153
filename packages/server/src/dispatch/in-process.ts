import type { Logger } from 'pino'
import type { Clock } from '../clock.ts'
import type { Outbox } from '../store/index.ts'
import { DEFAULT_LIMITS, type Dispatch, type Limits, type Work } from './dispatch.ts'
import { createSessionLoops } from './session-loops.ts'
import { createLanes, createUnderWay } from './under-way.ts'

/** The dispatch of a process that has its database to itself: what it commits it does, and nobody else does anything. */
export function createDispatch(log: Logger, clock: Clock, limits: Limits = DEFAULT_LIMITS): Dispatch {
  const underWay = createUnderWay(log)
  const early: Pick<Outbox, 'sessions' | 'actions'> = { sessions: new Set(), actions: new Set() }
  const inSessionLane = createLanes(limits.sessions)
  const inExecutionLane = createLanes(limits.executions)
  let work: Work | undefined
  let isStopped = false

  const ifNotStopped = async (begin: () => Promise<void> | undefined): Promise<void> => {
    if (!isStopped) await begin()
  }
  const loops = createSessionLoops({
    advance: (sessionId) => inSessionLane(() => ifNotStopped(() => work?.advance(sessionId))),
    clock,
    log,
  })

  function take({ sessions, actions }: Pick<Outbox, 'sessions' | 'actions'>): void {
    if (isStopped) return
    if (!work) {
      for (const id of sessions) early.sessions.add(id)
      for (const id of actions) early.actions.add(id)
      return
    }
    for (const id of actions) underWay.add(inExecutionLane(() => ifNotStopped(() => work?.execute(id))))
    for (const id of sessions) underWay.add(loops.advance(id))
  }

  return {
    start(given) {
      work = given
      take(early)
    },
    take,
    // One loop per session is one caller per step, where nobody else has loops.
    claimStep: async () => true,
    background: underWay.add,
    idle: underWay.none,
    stop() {
      isStopped = true
      loops.stop()
    },
    drained: underWay.none,
  }
}
