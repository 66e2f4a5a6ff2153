import type { Logger } from 'pino'
import type { Clock } from '../clock.ts'
import type { Outbox } from '../store/index.ts'
import { type Dispatch, MODEL_CALLS, type Work } from './dispatch.ts'
import { createLanes } from './lanes.ts'
import { createSessionLoops } from './session-loops.ts'
import { createUnderWay } from './under-way.ts'

/** The dispatch of a process that has its database to itself: what it commits it does, and nobody else does anything. */
export function createDispatch(log: Logger, clock: Clock, modelCalls = MODEL_CALLS): Dispatch {
  const underWay = createUnderWay(log)
  const early: Pick<Outbox, 'sessions' | 'actions'> = { sessions: new Set(), actions: new Set() }
  const lanes = createLanes(modelCalls)
  const loops = createSessionLoops({ advance: (id) => lanes.run(id, async () => work?.advance(id)), clock, log })
  let work: Work | undefined
  let isStopped = false

  function take({ sessions, actions }: Pick<Outbox, 'sessions' | 'actions'>): void {
    if (isStopped) return
    if (!work) {
      for (const id of sessions) early.sessions.add(id)
      for (const id of actions) early.actions.add(id)
      return
    }
    for (const id of actions) underWay.add(work.execute(id))
    for (const id of sessions) underWay.add(loops.advance(id))
  }

  return {
    start(given) {
      work = given
      take(early)
    },
    take,
    // One loop per session is one caller per step, where nobody else has loops.
    claimStep: async () => !isStopped,
    background: underWay.add,
    idle: underWay.none,
    stop() {
      isStopped = true
      lanes.close()
      loops.stop()
    },
    drained: underWay.none,
  }
}
