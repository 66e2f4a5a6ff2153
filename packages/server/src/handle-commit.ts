import type { Runtime } from './runtime.ts'
import type { Outbox } from './store/index.ts'

/** Pending webhook deliveries of all commits within this time are looked up in one query. */
const GATHER_MS = 25

/** Handles a commit in the process that made it. */
export const handleCommit =
  ({
    hub,
    dispatch,
    timers,
    deliveries,
    sealer,
    tally,
  }: Pick<Runtime, 'hub' | 'dispatch' | 'timers' | 'deliveries' | 'sealer' | 'tally'>) =>
  (outbox: Outbox) => {
    if (outbox.events.length > 0) hub.publish(outbox.events)
    if (outbox.sessions.size + outbox.actions.size > 0 || outbox.ended) dispatch.take(outbox)
    if (outbox.dueAt !== undefined) timers.arm(outbox.dueAt)
    if (outbox.deliveriesAt !== undefined) deliveries?.arm(outbox.deliveriesAt + GATHER_MS)
    if (outbox.access) hub.publishAccess(outbox.access)
    if (outbox.isAudited) sealer.wake()
    if (outbox.happened) tally.note(outbox.happened)
  }
