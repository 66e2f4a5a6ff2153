import { fileURLToPath } from 'node:url'
import type { ConfigInput } from '../../../packages/server/src/config/index.ts'
import { type Target, toolsOf } from '../../testing/target.ts'

const MODEL = `scripted/${fileURLToPath(new URL('../../crash/script.ts', import.meta.url))}`

/** An agent that does what its messages say, and tools of each kind: read, asked, client-executed, and one that nobody has long to decide. */
export function soakSetup(target: Target): ConfigInput {
  const input = { type: 'object', required: ['what'], additionalProperties: false, properties: { what: { type: 'string' } } }
  const write = { method: 'POST' as const, path: '/unkeyed', input, describe: 'Do {what}' }
  return {
    agents: { desk: { model: MODEL, tools: ['*'] } },
    tools: {
      ...toolsOf(target),
      more: {
        prefix: false,
        routes: { baseUrl: target.url, tools: { brief: write, client: { ...write, executor: 'client', timeoutMs: 30_000 } } },
      },
    },
    policy: {
      rules: [
        { name: 'reads run', match: { effect: 'read' }, verdict: 'allow' },
        { name: 'some cannot wait', match: { tool: 'brief' }, verdict: 'ask', remind: 'PT1S', expires: 'PT2S' },
      ],
    },
    gateway: { waitSeconds: 0 },
  }
}
