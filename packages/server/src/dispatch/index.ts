import type { openGraphile as OpenGraphile } from './cluster/graphile.ts'

export { clusterMember } from './cluster/cluster-membership.ts'
export { EVERYTHING, openNotices } from './cluster/notices.ts'
export { createPeers } from './cluster/peers.ts'
export { createPostgresHub } from './cluster/postgres-hub.ts'
export { openProcesses } from './cluster/processes.ts'
export { createResync } from './cluster/resync.ts'
export { type ConcurrencyLimiter, createConcurrencyLimiter } from './concurrency-limiter.ts'
export { type Dispatch, MODEL_CALLS, type Work } from './dispatch.ts'
export { createEventHub, type EventHub, type EventListener } from './event-hub.ts'
export { createDispatch } from './in-process/in-process.ts'
export { pollSqliteChanges } from './in-process/sqlite-change-poll.ts'
export { type Membership, singleProcess } from './membership.ts'
export { createReconciler, type Reconciler } from './reconciler.ts'
export { startRetention } from './retention.ts'
export { createTimers, type Timers } from './timers.ts'

/** Loads graphile-worker only where the database is Postgres: it is 60 of the modules of a start. */
export const openGraphile: typeof OpenGraphile = async (options) => (await import('./cluster/graphile.ts')).openGraphile(options)
