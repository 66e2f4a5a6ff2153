// The server of the page: it serves the page, and runs CopilotKit's runtime in front of Countersign with the key of the person who is signed in.
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { servePage } from '../../ai-sdk-ui/serve-page.mjs'

/** The runtime of CopilotKit with one agent. Nothing is kept here: what the page is told comes from Countersign each time. */
async function openRuntime(countersign, key) {
  process.env.COPILOTKIT_TELEMETRY_DISABLED ??= 'true'
  const { HttpAgent } = await import('@ag-ui/client')
  const { AgentRunner, CopilotRuntime } = await import('@copilotkit/runtime/v2')
  const { createCopilotNodeListener } = await import('@copilotkit/runtime/v2/node')
  const { catchError, of } = await import('rxjs')
  const planner = new HttpAgent({ url: `${countersign}/api/ag-ui/planner`, headers: { authorization: `Bearer ${key}` } })

  class CountersignRunner extends AgentRunner {
    run({ agent, input }) {
      return agent.run(input).pipe(catchError(({ message }) => of({ type: 'RUN_ERROR', message })))
    }
    /** A page that was loaded: the conversation, what was decided elsewhere meanwhile, and what still waits. */
    connect({ threadId }) {
      const nothing = { messages: [], tools: [], context: [], state: {}, forwardedProps: {} }
      return this.run({ agent: planner.clone(), input: { threadId, runId: randomUUID(), ...nothing } })
    }
    async isRunning() {
      return false
    }
    async stop() {
      return false
    }
  }
  return createCopilotNodeListener({
    runtime: new CopilotRuntime({ agents: { planner }, runner: new CountersignRunner() }),
    basePath: '/api/copilotkit',
  })
}

/**
 * @param settings.countersign Where Countersign is.
 * @param settings.key The key of Ana, who is signed in. A real page has a session for each person, and keeps their keys on its server.
 */
export async function startFrontEnd({ port, countersign, key }) {
  const answer = await openRuntime(countersign, key)
  return servePage({ port, page: { root: join(import.meta.dirname, 'page') }, api: '/api/copilotkit', answer })
}
