import { onTestFinished } from 'vitest'
import { type Clock, systemClock } from '../../packages/server/src/clock.ts'
import { codingAgentStarter } from '../../packages/server/src/coding-agent/index.ts'
import type { ApiAnswer, ApiClient } from './api-client.ts'
import { startTestServer, type TestServer } from './test-server.ts'

export const FOLDER = '/home/ana/shop'

/** A server for coding agents with the starting policy, and an agent that is Claude Code. */
export interface CodingDesk {
  server: TestServer
  agent: ApiClient & { principal: { id: string } }
  /** Sends a hook of Claude Code and gives its answer. */
  hook(event: string, body: object, query?: string): Promise<ApiAnswer>
}

/** Starts one. It ends with the test. */
export async function startCodingDesk(
  policy: object = { rules: codingAgentStarter('host') },
  clock: Clock = systemClock,
): Promise<CodingDesk> {
  const server = await startTestServer({ config: { tools: { host: { 'coding-agent': {} } }, policy }, clock })
  onTestFinished(() => server[Symbol.asyncDispose]())
  const agent = await server.as({ name: 'ana claude', kind: 'agent', agent: 'claude', roles: ['agent'] })
  return {
    server,
    agent,
    hook: (event, body, query = '') =>
      agent.send('POST', `/hooks/claude${query}`, { body: { session_id: 's1', cwd: FOLDER, hook_event_name: event, ...body } }),
  }
}

export const bash = (command: string, id?: string) => ({ tool_name: 'Bash', tool_input: { command }, ...(id && { tool_use_id: id }) })
/** The verdict in an answer to Claude Code. */
export const decisionOf = ({ body }: ApiAnswer) => body.hookSpecificOutput.permissionDecision ?? body.hookSpecificOutput.decision.behavior
export const reasonOf = ({ body }: ApiAnswer) =>
  body.hookSpecificOutput.permissionDecisionReason ?? body.hookSpecificOutput.decision.message
