// The configuration of the servers that are killed: one tool or more for each kind of call, over the services of `targets.ts`, a folder that
// outlives the servers, and the database.
import { fileURLToPath } from 'node:url'
import { defineConfig } from '../../../packages/server/src/config/index.ts'
import type { RouteTableInput } from '../../../packages/toolkit/src/routes/route-schema.ts'
import { KEY } from './target-key.ts'

const INVENTORY = fileURLToPath(new URL('../../../examples/openapi/service/inventory.yaml', import.meta.url))
const { TARGETS_URL = '', WORK_FOLDER = '' } = process.env

const TEXT = { type: 'string' }
const INPUT = {
  type: 'object',
  required: ['what', 'note', 'batch'],
  additionalProperties: false,
  properties: { what: TEXT, note: TEXT, batch: TEXT },
}

const write = (service: 'keyed' | 'plain'): RouteTableInput['tools'][string] => ({
  method: 'POST',
  path: `/${service}/{what}`,
  body: { what: '{what}', note: '{note}', batch: '{batch}' },
  input: INPUT,
  describe: 'Do {what}',
  timeoutMs: 15_000,
  ...(service === 'keyed' && { idempotent: true }),
})

const names = ['two', 'three', 'change', 'often', 'pay', 'payTwo', 'call'] as const

export default defineConfig({
  tools: {
    own: {
      prefix: false,
      routes: {
        baseUrl: TARGETS_URL,
        tools: Object.fromEntries(
          names.flatMap((name) => [
            [name, write('plain')],
            [`${name}Keyed`, write('keyed')],
          ]),
        ),
      },
    },
    github: {
      github: { token: KEY, baseUrl: `${TARGETS_URL}/github/api/v3`, repositories: ['acme/shop'], defaultRepository: 'acme/shop' },
    },
    linear: { linear: { apiKey: KEY, baseUrl: `${TARGETS_URL}/linear/graphql`, teams: ['ENG'] } },
    stock: { openapi: { document: INVENTORY, baseUrl: `${TARGETS_URL}/stock`, auth: { key: KEY } } },
    repo: { workspace: { root: WORK_FOLDER, author: { name: 'Editor', email: 'editor@example.com' } } },
    goals: { objectives: {} },
  },
  policy: {
    rules: [
      { name: 'reads run', match: { effect: 'read' }, verdict: 'allow' },
      { name: 'two of them', match: { tool: 'two*' }, verdict: 'ask', requires: { quorum: 2, declineQuorum: 2 } },
      { name: 'three of them', match: { tool: 'three*' }, verdict: 'ask', requires: { quorum: 3, declineQuorum: 2 } },
      { name: 'two of finance', match: { tool: 'payTwo*' }, verdict: 'ask', requires: { quorum: 2, roles: ['finance'] } },
      { name: 'finance', match: { tool: 'pay*' }, verdict: 'ask', requires: { roles: ['finance'] } },
      { name: 'all else asks', match: { effect: 'write' }, verdict: 'ask' },
    ],
  },
  gateway: { waitSeconds: 1 },
})
