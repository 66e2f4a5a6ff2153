import type { ConfigInput } from '../../packages/server/src/config/index.ts'
import type { ScriptStep } from '../../packages/server/src/models/index.ts'
import { type AgUiMessage, openHttpAgent } from './ag-ui-agent.ts'
import { shortWaits } from './short-waits.ts'
import { startTarget, toolsOf } from './target.ts'
import { startTestServer } from './test-server.ts'

/**
 * A parked turn waits for its reads, and after two seconds it ends without their results: on this clock it waits for as long as a slow machine
 * needs.
 */
export const patientClock = shortWaits(2_000)

/** Starts a server whose agent follows a script, and a target; `open` opens the client of AG-UI for Ada, who may decide. */
export async function startAgUiServer(
  script: ScriptStep[],
  policy: object = { rules: [{ name: 'reads run', match: { effect: 'read' }, verdict: 'allow' }] },
  more: ConfigInput['tools'] = {},
) {
  const target = await startTarget(() => ({ status: 200, body: { id: 4 } }))
  const server = await startTestServer({
    config: { tools: { ...toolsOf(target), ...more }, agents: { desk: { model: 'scripted/desk.json', tools: ['*'] } }, policy },
    scripts: { desk: script },
    clock: patientClock,
  })
  const { key } = await server.makeKey({ name: 'Ada', kind: 'person', roles: ['approver', 'member'] })
  return {
    server,
    target,
    key,
    open: (messages: AgUiMessage[] = [], threadId?: string) => openHttpAgent(server.url, key, threadId, messages),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      await target[Symbol.asyncDispose]()
    },
  }
}
