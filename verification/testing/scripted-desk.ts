import type { ConfigInput } from '../../packages/server/src/config/index.ts'
import type { ScriptStep } from '../../packages/server/src/models/index.ts'
import { shortWaits } from './short-waits.ts'
import { startTarget, toolsOf } from './target.ts'
import { startTestServer } from './test-server.ts'

/**
 * A parked turn waits for its reads, and after two seconds it ends without their results: on this clock it waits for as long as a slow machine
 * needs.
 */
const patientClock = shortWaits(2_000)

/** A server with a target, an agent that follows a script, and a key of Ada, who may decide: for the pages of chat protocols. */
export async function startScriptedDesk(
  script: ScriptStep[],
  policy: object = { rules: [{ name: 'reads run', match: { effect: 'read' }, verdict: 'allow' }] },
  tools: ConfigInput['tools'] = {},
) {
  const target = await startTarget(() => ({ status: 200, body: { id: 4 } }))
  const server = await startTestServer({
    config: { tools: { ...toolsOf(target), ...tools }, agents: { desk: { model: 'scripted/desk.json', tools: ['*'] } }, policy },
    scripts: { desk: script },
    clock: patientClock,
  })
  const { key, principal } = await server.makeKey({ name: 'Ada', kind: 'person', roles: ['approver', 'member'] })
  return {
    server,
    target,
    key,
    principal,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      await target[Symbol.asyncDispose]()
    },
  }
}
