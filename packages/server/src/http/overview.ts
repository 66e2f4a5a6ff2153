import { AgentView, CountersignError, ToolView } from '@countersign/core'
import { z } from 'zod'
import type { App, HttpParts } from './app.ts'
import { callerOf } from './identity/authenticate.ts'

/** Whoever asks whether to send traffic here wants to know now. */
const READY_WITHIN_MS = 2_000

const Health = z.object({ status: z.literal('ok') })

/** What there is (agents, tools), and whether this process is alive and able to take a decision. */
export function overviewRoutes(app: App, { store, agents, tools, clock, trouble }: HttpParts): void {
  app.get('/healthz', { schema: { tags: ['health'], response: { 200: Health } } }, async () => ({ status: 'ok' as const }))

  app.get('/readyz', { schema: { tags: ['health'], response: { 200: Health } } }, async () => {
    const reason = trouble()
    if (reason !== undefined) throw new CountersignError('not_ready', reason)
    const late = Promise.withResolvers<never>()
    const stop = clock.after(READY_WITHIN_MS, () => late.reject(new CountersignError('not_ready', 'the database does not answer')))
    // A decision is a write: ready is who can make one durable.
    const written = store.transact(function* () {})
    await Promise.race([written, late.promise]).finally(stop)
    return { status: 'ok' as const }
  })

  app.get('/api/agents', { schema: { tags: ['agents'], response: { 200: z.object({ items: z.array(AgentView) }) } } }, async (request) => {
    callerOf(request)
    const items = [...agents.values()].map((agent) => ({
      name: agent.name,
      model: agent.model.id,
      tools: agent.tools.map((tool) => tool.name),
      maxSteps: agent.maxSteps,
      suggestions: [...agent.suggestions],
    }))
    return { items }
  })

  app.get('/api/tools', { schema: { tags: ['tools'], response: { 200: z.object({ items: z.array(ToolView) }) } } }, async (request) => {
    callerOf(request)
    const items = tools.all().map((tool) => ({
      name: tool.name,
      modelName: tool.modelName,
      description: tool.description,
      effect: tool.effect,
      executor: tool.executor,
      idempotent: tool.idempotent,
      destination: tool.destination,
      inputSchema: tool.inputSchema,
    }))
    return { items }
  })
}
