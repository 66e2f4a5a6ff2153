import type { ConfigInput } from '../../packages/server/src/config/index.ts'
import type { ScriptStep } from '../../packages/server/src/models/index.ts'
import { patientClock } from './ag-ui-server.ts'
import { type OpenChat, openChat } from './ai-chat.ts'
import { startTarget, toolsOf } from './target.ts'
import { startTestServer } from './test-server.ts'

/** A call that waits for a person. */
export const CALL = { tool: 'keyed', arguments: { what: 'x' } }

/** A server with a target and an agent that follows a script, for pages of the AI SDK's `useChat`. */
export async function startAiSdk(
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
  const { key, principal } = await server.makeKey({ name: 'Ada', kind: 'person', roles: ['approver', 'member'] })
  return {
    server,
    target,
    key,
    principal,
    open: (more: Partial<OpenChat> = {}) => openChat({ url: server.url, key, ...more }),
    waiting: async () => (await server.admin.get('/api/actions?state=proposed')).items,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      await target[Symbol.asyncDispose]()
    },
  }
}
