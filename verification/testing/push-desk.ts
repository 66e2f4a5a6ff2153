import type { PolicyDocument } from '@countersign/core'
import type { Network } from '@countersign/toolkit'
import { openConfig } from '../../packages/server/src/config/index.ts'
import type { PushService } from './push-service.ts'
import { signInWithKey } from './sign-in.ts'
import { startTarget, toolsOf } from './target.ts'
import { startTestServer, type TestServer, type TestServerOptions } from './test-server.ts'

const POLICY: PolicyDocument = {
  default: 'ask',
  rules: [
    { name: 'soon', match: { tool: 'unkeyed', when: 'args.what.startsWith("soon")' }, verdict: 'ask', remind: 'PT2S' },
    { name: 'money', match: { when: 'args.what == "money"' }, verdict: 'ask', requires: { roles: ['finance', 'audit'] } },
    { name: 'two', match: { tool: 'unkeyed' }, verdict: 'ask', requires: { quorum: 2 } },
    { name: 'all', match: {}, verdict: 'ask', remind: 'P1D' },
  ],
}

/** Opens a server whose calls are asked about, for consoles that subscribe to push messages. @param network Default: that of the configuration. */
export async function openDesk(options: Partial<TestServerOptions> = {}, network?: Network) {
  const stack = new AsyncDisposableStack()
  const target = stack.use(await startTarget(() => ({ status: 200, body: { id: 1 } })))
  const config = { tools: toolsOf(target), policy: POLICY, network: { allow: ['127.0.0.1'] } }
  const opened = network && { ...(await openConfig(config, { environment: {}, folder: '.' })), network }
  const server = stack.use(await startTestServer({ config: opened ?? config, ...options }))
  const agent = await server.as({ name: 'Bot', kind: 'agent' })
  return {
    server,
    propose: (what = 'x', tool = 'keyed') => agent.post('/api/actions', { tool, arguments: { what } }),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

/** A person at a console of their own, signed in with a key that carries these roles. @param person Its id, where they have another key. */
export async function atConsole(server: TestServer, name: string, roles = ['approver'], person?: string) {
  const made = await server.makeKey({ name, kind: 'person', roles, ...(person !== undefined && { person }) })
  const client = server.with({ ...(await signInWithKey(server.url, made.key)), origin: server.url })
  return { ...client, id: made.principal.id, keyId: made.id, key: made.key }
}

/** Subscribes a browser of the person. */
export const subscribe = async (person: { post(path: string, body: object): Promise<{ id: string }> }, service: PushService) => {
  const subscription = service.subscribe()
  return { ...subscription, id: (await person.post('/api/push-subscriptions', subscription)).id }
}
