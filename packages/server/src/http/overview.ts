import { AgentView, CountersignError, isCountersignError } from '@countersign/core'
import { z } from 'zod'
import type { Reconciler } from '../dispatch/index.ts'
import { PROBE } from '../identity/access.ts'
import type { App, HttpDeps } from './app.ts'
import { MemoryPageQuery, pageInMemory } from './page.ts'

/** Load balancers need a prompt answer about readiness. */
const READY_WITHIN_MS = 2_000

const Health = z.object({ status: z.literal('ok') })
/**
 * `held`: nothing is executed, because the database looks like a copy. `degraded`: the record does not match its signature and is not
 * sealed. Both answer 200, so that the console is served and a person can find and resolve the cause. While the record is not sealed,
 * decisions still count, and each still has its row.
 */
const Readiness = z.object({ status: z.enum(['ok', 'held', 'degraded']), why: z.string().optional() })

/** @throws CountersignError `not_ready` with the counts while due work has not begun for 10 seconds. */
function requireNothingOverdue({ overdue: { actions, sessions } }: Reconciler): void {
  if (actions + sessions === 0) return
  const late = [
    ...(actions === 1 ? ['1 approved action has not started 10 seconds after its turn'] : []),
    ...(actions > 1 ? [`${actions} approved actions have not started 10 seconds after their turn`] : []),
    ...(sessions === 1 ? ['1 session has not been resumed 10 seconds after its work became due'] : []),
    ...(sessions > 1 ? [`${sessions} sessions have not been resumed 10 seconds after their work became due`] : []),
  ]
  const message = `${late.join(', and ')}; the log names ${actions + sessions === 1 ? 'it' : 'them'}`
  throw new CountersignError('not_ready', message, { overdueActions: actions, overdueSessions: sessions })
}

/** Registers the overview of agents, and the probes of liveness and readiness. */
export function overviewRoutes(app: App, { store, agents, clock, trouble, hold, sealer, reconciler }: HttpDeps): void {
  app.get(
    '/healthz',
    {
      ...PROBE,
      schema: { operationId: 'getHealth', summary: 'Report that the process is alive', tags: ['health'], response: { 200: Health } },
    },
    async () => ({ status: 'ok' as const }),
  )

  app.get(
    '/readyz',
    {
      ...PROBE,
      schema: {
        operationId: 'getReadiness',
        summary: 'Report whether this process can take a decision',
        errors: ['not_ready'],
        tags: ['health'],
        response: { 200: Readiness },
      },
    },
    async () => {
      const reason = trouble()
      if (reason !== undefined) throw new CountersignError('not_ready', reason)
      const late = Promise.withResolvers<never>()
      const stop = clock.after(READY_WITHIN_MS, () => late.reject(new CountersignError('not_ready', 'the database does not answer')))
      // A decision is a write, so ready means that a write can be made durable.
      const canWrite = store.transact(function* () {}).then(() => store.health.requireRoom())
      await Promise.race([canWrite, late.promise])
        .catch((error) => {
          throw isCountersignError(error) && error.code === 'storage_full' ? new CountersignError('not_ready', error.message) : error
        })
        .finally(stop)
      // First, so that a balancer serves the page that ends the hold: until then nothing starts.
      if (hold.why !== undefined) return { status: 'held' as const, why: hold.why }
      requireNothingOverdue(reconciler)
      const { problem } = sealer.status
      return problem ? { status: 'degraded' as const, why: problem.why } : { status: 'ok' as const }
    },
  )

  app.get(
    '/api/agents',
    {
      config: { right: 'anyone' },
      schema: {
        operationId: 'listAgents',
        summary: 'List the configured agents',
        tags: ['tools'],
        querystring: MemoryPageQuery,
        response: { 200: z.object({ items: z.array(AgentView), nextCursor: z.string().nullable() }) },
      },
    },
    async (request) => {
      const items = [...agents.values()].map((agent) => ({
        name: agent.name,
        model: agent.model.id,
        tools: agent.tools.map((tool) => tool.name),
        maxSteps: agent.maxSteps,
        suggestions: [...agent.suggestions],
      }))
      return pageInMemory('agents', items, request.query)
    },
  )
}
