import type { Action, Grant, GrantSuggestion } from '@countersign/core'
import { onTestFinished } from 'vitest'
import { startTestServer } from './test-server.ts'

const TERMS = { scope: 'agent', expiresIn: 'PT1H' }

/** The folder that the agent of the tests works in. */
export const FOLDER = '/home/ana/shop'

/** Starts a server that asks about every call of a coding agent, until the test ends, with the agent and the person who decides. */
export async function startCodingAgent() {
  const server = await startTestServer({ config: { tools: { host: { 'coding-agent': {} } }, policy: { rules: [] } } })
  onTestFinished(() => server[Symbol.asyncDispose]())
  const { key } = await server.makeKey({ name: 'ana laptop', kind: 'agent', agent: 'laptop', roles: ['agent'] })
  const agent = server.with({ authorization: `Bearer ${key}` })
  const { admin } = server
  return {
    propose: (tool: string, args: object): Promise<Action> =>
      agent.post('/api/actions', { tool, arguments: { host: 'claude', folder: FOLDER, ...args } }),
    approve: ({ id, digest, revision }: Action) => admin.post(`/api/actions/${id}/decision`, { verdict: 'approve', digest, revision }),
    suggest: ({ id }: Action): Promise<GrantSuggestion> => admin.get(`/api/actions/${id}/suggestion`),
    grant: ({ id: actionId }: Action, when: string): Promise<Grant> => admin.post('/api/grants', { actionId, ...TERMS, when }),
    /** Sends both requests that make a grant, and returns their answers, whatever they are. */
    tryGrant: async ({ id: actionId, digest, revision }: Action, which: { when: string } | { exact: true }) => [
      await admin.send('POST', '/api/grants', { body: { actionId, ...TERMS, ...which } }),
      await admin.send('POST', `/api/actions/${actionId}/decision`, {
        body: { verdict: 'approve', digest, revision, remember: { ...TERMS, ...which } },
      }),
    ],
    read: ({ id }: Action): Promise<Action> => admin.get(`/api/actions/${id}`),
    grants: async (): Promise<Grant[]> => (await admin.get('/api/grants')).items,
  }
}
