import type { Sealer } from '../../audit/index.ts'
import type { Timers } from '../timers.ts'
import type { JobDispatch } from './job-dispatch.ts'
import { EVERYTHING, type Notices } from './notices.ts'
import type { PostgresHub } from './postgres-hub.ts'

export interface ResyncDeps {
  notices: Notices
  hub: PostgresHub
  dispatch: JobDispatch
  timers: Timers
  /** For pending webhooks. */
  deliveries?: Timers
  sealer: Sealer
}

/**
 * Rereads everything, here and in all other processes: the database may hold changes that were never announced, because their writer died
 * right after the commit or never received its result.
 */
export const createResync =
  ({ notices, hub, dispatch, timers, deliveries, sealer }: ResyncDeps) =>
  (): void => {
    notices.tell(EVERYTHING)
    dispatch.lookForJobs()
    hub.readAgain()
    timers.rearm()
    deliveries?.rearm()
    sealer.wake()
  }
