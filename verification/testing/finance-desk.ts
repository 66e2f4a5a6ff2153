import type { Action, PolicyDocument } from '@countersign/core'
import { systemClock } from '../../packages/server/src/clock.ts'
import { startTarget, toolsOf } from './target.ts'
import { startTestServer } from './test-server.ts'

/** A client, or a stand-in for one. */
export type Sender = { send(method: string, path: string, input?: object): Promise<{ status: number; body: unknown }> }

/**
 * Starts a server, an agent that asks, and people: of `finance`, who may decide, and others.
 * @param rule What else its one rule says. @param passedMs How far its clock is ahead.
 */
export async function startFinanceDesk(rule: object = {}, passedMs = () => 0) {
  const stack = new AsyncDisposableStack()
  const target = stack.use(await startTarget(() => ({ status: 200, body: { id: 1 } })))
  const rules = [{ name: 'money', match: {}, verdict: 'ask', requires: { roles: ['finance'] }, ...rule }]
  const config = { tools: toolsOf(target), policy: { default: 'ask', rules } as PolicyDocument, network: { allow: ['127.0.0.1'] } }
  const clock = { ...systemClock, nowMs: () => Date.now() + passedMs() }
  const server = stack.use(await startTestServer({ config, clock }))
  const person = (name: string, roles = ['finance']) => server.as({ name, kind: 'person', roles })
  const [agent, ana, ben, vera] = [
    await server.as({ name: 'Bot', kind: 'agent' }),
    await person('Ana'),
    await person('Ben'),
    await person('Vera', ['viewer']),
  ]
  return {
    ...{ server, agent, ana, ben, vera, person },
    propose: (more: object = {}): Promise<Action> => agent.post('/api/actions', { tool: 'keyed', arguments: { what: 'x' }, ...more }),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}
