import { type FullWaiting, makeId } from '@countersign/core'
import { VERSION } from '@countersign/toolkit/internal'
import type { AnchorSender, Sealer } from '../audit/index.ts'
import type { Clock } from '../clock.ts'
import type { Reconciler } from '../dispatch/index.ts'
import { findFullWaiting } from '../gate/index.ts'
import type { Policies } from '../policy/index.ts'
import { dueWork, type Store } from '../store/index.ts'
import { recordMetrics } from './record.ts'
import type { Tally } from './tally.ts'
import { gauge, type Metric } from './text.ts'

export interface MetricDeps {
  store: Store
  policies: Policies
  clock: Clock
  reconciler: Reconciler
  sealer: Sealer
  anchor: AnchorSender | undefined
  tally: Tally
  hold: { readonly why: string | undefined }
  /** Why nothing can be decided at the moment. */
  trouble(): string | undefined
  countWaitingJobs(): Promise<number>
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** Returns the current state of the whole database and of this process, and the counts of this process since its start. */
export async function readMetrics(deps: MetricDeps): Promise<Metric[]> {
  const [database, ofProcess] = await Promise.all([databaseMetrics(deps), processMetrics(deps)])
  return [...ofProcess, ...recordMetrics(deps), ...database, ...reconcilerMetrics(deps), ...deps.tally.metrics()]
}

async function processMetrics({ store, hold, trouble }: MetricDeps): Promise<Metric[]> {
  const canDecide = trouble() === undefined && (await hasRoom(store))
  const { user, system } = process.cpuUsage()
  return [
    gauge('countersign_info', 'Always 1, with the version of this process.', [{ labels: { version: VERSION }, value: 1 }]),
    gauge('countersign_held', '1 while everything is held because the database looks like a copy.', hold.why === undefined ? 0 : 1),
    gauge('countersign_trouble', '1 while this process can take no decision, as `/readyz` says.', canDecide ? 0 : 1),
    { ...gauge('process_cpu_seconds_total', 'Processor time of this process.', (user + system) / 1_000_000), type: 'counter' },
    gauge('process_resident_memory_bytes', 'Memory of this process.', process.memoryUsage.rss()),
    gauge('process_start_time_seconds', 'When this process started, since 1970.', Math.round(performance.timeOrigin) / 1_000),
  ]
}

/** Returns false when a decision could not be stored. */
const hasRoom = ({ health }: Store): Promise<boolean> =>
  health.requireRoom().then(
    () => true,
    () => false,
  )

async function databaseMetrics({ store, policies, clock, countWaitingJobs }: MetricDeps): Promise<Metric[]> {
  const nowMs = clock.nowMs()
  const before = (ms: number) => makeId('act', Math.max(0, nowMs - ms), new Uint8Array(16))
  const ends = { minutes: before(5 * MINUTE_MS), hour: before(HOUR_MS), day: before(DAY_MS) }
  const [states, ages, jobs, full] = await Promise.all([
    store.read(dueWork.countOpenStates),
    store.read(() => dueWork.countByAge(ends)),
    countWaitingJobs(),
    store.read(function* () {
      return yield* findFullWaiting(yield* policies.inForce())
    }),
  ])
  const fullOf = (scope: FullWaiting['scope']) => full.filter((one) => one.scope === scope).length
  const age = (name: string, value: number) => ({ labels: { age: name }, value: Math.max(0, value) })
  return [
    gauge(
      'countersign_actions',
      'Actions that are not settled, by state. A count ends at 100000.',
      Object.entries(states).map(([state, value]) => ({ labels: { state }, value })),
    ),
    gauge('countersign_waiting_actions', 'Actions that wait for people, by how long they have waited. Exact up to 100000 in all.', [
      age('under_5m', ages.all - ages.minutes),
      age('5m_to_1h', ages.minutes - ages.hour),
      age('1h_to_1d', ages.hour - ages.day),
      age('over_1d', ages.day),
    ]),
    gauge(
      'countersign_waiting_oldest_seconds',
      'For how long the oldest action that waits for people has been there; 0 without any.',
      ages.oldest === null ? 0 : Math.max(nowMs - ages.oldest, 0) / 1_000,
    ),
    gauge(
      'countersign_waiting_full',
      'Agents and sessions that have as many actions waiting as the policy allows: more is refused. A count ends at 20.',
      [
        { labels: { scope: 'agent' }, value: fullOf('agent') },
        { labels: { scope: 'session' }, value: fullOf('session') },
      ],
    ),
    gauge(
      'countersign_jobs_waiting',
      'Jobs that are due and have not begun: on Postgres those of all processes, on SQLite those that wait for a concurrency limit. The count ends at 100000.',
      jobs,
    ),
  ]
}

function reconcilerMetrics({ reconciler, clock }: MetricDeps): Metric[] {
  const { actions, sessions, oldestSinceMs } = reconciler.overdue
  return [
    gauge(
      'countersign_overdue_actions',
      'Approved actions that have not started within 10 seconds of their turn, as this process sees it.',
      actions,
    ),
    gauge(
      'countersign_overdue_actions_oldest_seconds',
      'For how long the oldest overdue action has been due; 0 without any.',
      oldestSinceMs === undefined ? 0 : Math.max(clock.nowMs() - oldestSinceMs, 0) / 1_000,
    ),
    gauge('countersign_overdue_sessions', 'Sessions that no process has resumed within 10 seconds after their work became due.', sessions),
    {
      name: 'countersign_reconciled_total',
      help: 'Work that was enqueued again: lost_fetch after a job fetch without an answer, missing without a job.',
      type: 'counter',
      samples: [
        { labels: { reason: 'lost_fetch' }, value: reconciler.unlocked },
        { labels: { reason: 'missing' }, value: reconciler.enqueued },
      ],
    },
  ]
}
