import { AgentView, CountersignError, ToolView } from '@countersign/core'
import { z } from 'zod'
import type { App, HttpParts } from './app.ts'
import { callerOf } from './identity/authenticate.ts'

const Health = z.object({ status: z.literal('ok') })

/** What there is (agents, tools), and whether this process is alive and able to take a decision. */
export function overviewRoutes(app: App, { store, agents, tools, isReady }: HttpParts): void {
  app.get('/healthz', { schema: { tags: ['health'], response: { 200: Health } } }, async () => ({ status: 'ok' as const }))

  app.get('/readyz', { schema: { tags: ['health'], response: { 200: Health } } }, async () => {
    if (!isReady()) throw new CountersignError('not_ready', 'the server is shutting down')
    // A decision is a write: ready is who can make one durable.
    await store.transact(function* () {})
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
