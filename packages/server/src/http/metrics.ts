import type { FullWaiting } from '@countersign/core'
import type { AnchorSender, Sealer } from '../audit/index.ts'
import type { Clock } from '../clock.ts'
import type { Reconciler } from '../dispatch/index.ts'
import { findFullWaiting } from '../gate/index.ts'
import type { Policies } from '../policy/index.ts'
import { dueWork, type Store } from '../store/index.ts'
import type { App, HttpParts } from './app.ts'
import { callerOf } from './identity/authenticate.ts'
import { requireOverview } from './stats.ts'

/** A number as Prometheus reads it. */
interface Metric {
  name: string
  help: string
  type: 'gauge' | 'counter'
  /** A value for each set of labels. */
  samples: readonly { labels?: Record<string, string>; value: number }[]
}

/** Writes metrics in the text format of Prometheus, version 0.0.4. Label values are names of ours and need no escaping. */
function writeMetrics(metrics: readonly Metric[]): string {
  const lines = metrics.flatMap(({ name, help, type, samples }) => [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} ${type}`,
    ...samples.map(({ labels = {}, value }) => `${name}${writeLabels(labels)} ${value}`),
  ])
  return `${lines.join('\n')}\n`
}

function writeLabels(labels: Record<string, string>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${value}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

interface MetricParts {
  store: Store
  policies: Policies
  clock: Clock
  reconciler: Reconciler
  sealer: Sealer
  anchor: AnchorSender | undefined
  countWaitingJobs(): Promise<number>
}

async function readMetrics({ store, policies, clock, reconciler, sealer, anchor, countWaitingJobs }: MetricParts): Promise<Metric[]> {
  const [states, jobs, full] = await Promise.all([
    store.read(dueWork.countOpenStates),
    countWaitingJobs(),
    store.read(function* () {
      return yield* findFullWaiting(yield* policies.inForce())
    }),
  ])
  const fullOf = (scope: FullWaiting['scope']) => full.filter((one) => one.scope === scope).length
  const { actions, sessions, oldestSinceMs } = reconciler.overdue
  const oldestSeconds = oldestSinceMs === undefined ? 0 : Math.max(clock.nowMs() - oldestSinceMs, 0) / 1_000
  const { problem, head, signed } = sealer.status
  return [
    {
      name: 'countersign_record_problem',
      help: '1 while the record is not the one that was signed, and is not sealed.',
      type: 'gauge',
      samples: [{ value: problem ? 1 : 0 }],
    },
    {
      name: 'countersign_record_head',
      help: 'Number of the newest head of the record that this process knows.',
      type: 'gauge',
      samples: [{ value: head?.number ?? 0 }],
    },
    {
      name: 'countersign_record_heads_signed_total',
      help: 'Heads of the record that this process has signed.',
      type: 'counter',
      samples: [{ value: signed }],
    },
    ...(anchor
      ? [
          {
            name: 'countersign_record_anchored_head',
            help: 'Number of the newest head of the record that was sent to its anchor.',
            type: 'gauge' as const,
            samples: [{ value: anchor.status.head ?? 0 }],
          },
        ]
      : []),
    {
      name: 'countersign_actions',
      help: 'Actions that are not settled, by state. A count ends at 100000.',
      type: 'gauge',
      samples: Object.entries(states).map(([state, value]) => ({ labels: { state }, value })),
    },
    {
      name: 'countersign_waiting_full',
      help: 'Agents and sessions that have as many actions waiting as the policy allows: more is refused. A count ends at 20.',
      type: 'gauge',
      samples: [
        { labels: { scope: 'agent' }, value: fullOf('agent') },
        { labels: { scope: 'session' }, value: fullOf('session') },
      ],
    },
    {
      name: 'countersign_jobs_waiting',
      help: 'Jobs that are due and wait to be begun: on Postgres of all processes, on SQLite of this one. The count ends at 100000.',
      type: 'gauge',
      samples: [{ value: jobs }],
    },
    {
      name: 'countersign_overdue_actions',
      help: 'Approved actions that have not started within 10 seconds of their turn.',
      type: 'gauge',
      samples: [{ value: actions }],
    },
    {
      name: 'countersign_overdue_actions_oldest_seconds',
      help: 'For how long the oldest overdue action has been due; 0 without any.',
      type: 'gauge',
      samples: [{ value: oldestSeconds }],
    },
    {
      name: 'countersign_overdue_sessions',
      help: 'Sessions that call for work and that nobody has taken within 10 seconds.',
      type: 'gauge',
      samples: [{ value: sessions }],
    },
    {
      name: 'countersign_reconciled_total',
      help: 'Work that was put up again since this process started: lost_fetch after a job fetch without an answer, missing without a job.',
      type: 'counter',
      samples: [
        { labels: { reason: 'lost_fetch' }, value: reconciler.unlocked },
        { labels: { reason: 'missing' }, value: reconciler.putUp },
      ],
    },
  ]
}

/** Numbers about this process and its database, for Prometheus. */
export function metricRoutes(app: App, parts: HttpParts): void {
  app.get(
    '/metrics',
    {
      schema: {
        operationId: 'getMetrics',
        summary: 'Read metrics for Prometheus',
        errors: ['forbidden'],
        tags: ['health'],
        produces: ['text/plain'],
      },
    },
    async (request, reply) => {
      requireOverview(callerOf(request).principal)
      const text = writeMetrics(await readMetrics(parts))
      return reply.type('text/plain; version=0.0.4; charset=utf-8').serializer(String).send(text)
    },
  )
}
