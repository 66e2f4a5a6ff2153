import type { ScriptStep } from '../../packages/server/src/models/index.ts'
import { type AgUiMessage, openHttpAgent } from './ag-ui-agent.ts'
import { startTarget, toolsOf } from './target.ts'
import { startTestServer } from './test-server.ts'

/** Starts a server whose agent follows a script, and a target; `open` opens the client of AG-UI for Ada, who may decide. */
export async function startAgUiServer(
  script: ScriptStep[],
  policy: object = { rules: [{ name: 'reads run', match: { effect: 'read' }, verdict: 'allow' }] },
) {
  const target = await startTarget(() => ({ status: 200, body: { id: 4 } }))
  const server = await startTestServer({
    config: { tools: toolsOf(target), agents: { desk: { model: 'scripted/desk.json', tools: ['*'] } }, policy },
    scripts: { desk: script },
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
