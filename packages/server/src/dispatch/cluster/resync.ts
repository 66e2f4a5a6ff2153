import type { Sealer } from '../../audit/index.ts'
import type { Timers } from '../timers.ts'
import type { JobDispatch } from './job-dispatch.ts'
import type { Notices } from './notices.ts'
import type { PostgresHub } from './postgres-hub.ts'

export interface ResyncDeps {
  notices: Notices
  hub: PostgresHub
  dispatch: JobDispatch
  timers: Timers
  /** For what waits for webhooks. */
  deliveries?: Timers
  sealer: Sealer
}

/**
 * Looks at everything again, here and in all other processes: something may be in the database of which nobody was told, because who
 * wrote it died right behind the commit, or never heard what became of it.
 */
export const createResync =
  ({ notices, hub, dispatch, timers, deliveries, sealer }: ResyncDeps) =>
  (): void => {
    notices.tell({ jobs: true, sessions: 'many', inbox: true, access: 'all' })
    dispatch.lookForJobs()
    hub.readAgain()
    timers.rearm()
    deliveries?.rearm()
    sealer.wake()
  }
