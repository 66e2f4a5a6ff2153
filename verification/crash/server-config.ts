// The configuration of the servers that are killed: tools over the ledger, and agents that do what their messages say.
import { fileURLToPath } from 'node:url'
import { defineConfig } from '../../packages/server/src/config/index.ts'
import type { RouteTableInput } from '../../packages/toolkit/src/routes/route-schema.ts'
import { HOLD_OF_CLIENTS_MS, TOOL_TIMEOUT_MS } from './ledger-file.ts'

const MODEL = `scripted/${fileURLToPath(new URL('./script.ts', import.meta.url))}`

const INPUT = {
  type: 'object',
  required: ['what', 'how'],
  additionalProperties: false,
  properties: { what: { type: 'string' }, how: { type: 'string' } },
}

/** A tool over a route of the ledger. Its subject is in the path too: the ledger knows it before it reads the body. */
const write = (route: string, more: Pick<RouteTableInput['tools'][string], 'idempotent' | 'verify' | 'settlesWithin'> = {}) => ({
  method: 'POST' as const,
  path: `/${route}/{how}/{what}`,
  body: { what: '{what}' },
  input: INPUT,
  describe: 'Do {what}',
  timeoutMs: TOOL_TIMEOUT_MS,
  ...more,
})

export default defineConfig({
  agents: {
    desk: { model: MODEL, tools: ['*'] },
    strict: { model: MODEL, tools: ['*'], onDecline: 'stop' },
  },
  tools: {
    ledger: {
      prefix: false,
      routes: {
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the configuration takes it from the environment
        baseUrl: '${LEDGER_URL}',
        tools: {
          keyed: write('keyed', { idempotent: true }),
          unkeyed: write('unkeyed'),
          probed: write('probed', { verify: { get: '/done/{idempotencyKey}', done: { of: '{what}' } }, settlesWithin: 'PT2S' }),
          brief: write('unkeyed'),
          client: { ...write('unkeyed'), executor: 'client', timeoutMs: HOLD_OF_CLIENTS_MS },
          allowed: write('keyed', { idempotent: true }),
          denied: write('unkeyed'),
          look: { method: 'GET', path: '/look/{what}', describe: 'Look at {what}', timeoutMs: TOOL_TIMEOUT_MS },
        },
      },
    },
  },
  policy: {
    rules: [
      { name: 'reads run', match: { effect: 'read' }, verdict: 'allow' },
      { name: 'some writes run', match: { tool: 'allowed' }, verdict: 'allow' },
      { name: 'some cannot wait', match: { tool: 'brief' }, verdict: 'ask', remind: 'PT1S', expires: 'PT2S' },
      { name: 'some are refused', match: { tool: 'denied' }, verdict: 'deny' },
    ],
  },
})
