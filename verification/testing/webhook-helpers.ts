import type { Action, CreatedWebhook, WebhookDelivery } from '@countersign/core'
import type { ApiClient } from './api-client.ts'
import type { Receiver } from './receiver.ts'
import { startTarget, type TargetAnswer, toolsOf } from './target.ts'
import { startTestServer, type TestServer, type TestServerOptions } from './test-server.ts'

const ALL = ['action.proposed', 'action.assigned', 'action.decided', 'action.overdue', 'action.settled', 'action.outcome_unknown']

/** A server whose webhooks may be on this machine, and what is done about them. */
export interface WebhookDesk extends AsyncDisposable {
  readonly server: TestServer
  readonly admin: ApiClient
  add(receiver: Pick<Receiver, 'url'>, events?: string[]): Promise<CreatedWebhook & { secret: string }>
  propose(what?: string, tool?: string): Promise<Action>
  decide(action: Action, verdict?: string, reason?: string): Promise<Action>
  deliveries(webhook: { id: string }, query?: string): Promise<WebhookDelivery[]>
}

/** @param answer Of the target of its tools. */
export async function openWebhookDesk({
  answer = () => ({ status: 200, body: { id: 1 } }),
  ...options
}: Partial<TestServerOptions> & { answer?: () => TargetAnswer | Promise<TargetAnswer> } = {}): Promise<WebhookDesk> {
  const stack = new AsyncDisposableStack()
  const target = stack.use(await startTarget(answer))
  const server = stack.use(await startTestServer({ config: { tools: toolsOf(target), network: { allow: ['127.0.0.1'] } }, ...options }))
  const { admin } = server
  return {
    server,
    admin,
    add: ({ url }, events = ALL) => admin.post('/api/webhooks', { url, events }),
    propose: (what = 'x', tool = 'keyed') => admin.post('/api/actions', { tool, arguments: { what } }),
    decide: ({ id }, verdict = 'approve', reason) =>
      admin.post(`/api/actions/${id}/decision`, { verdict, ...(reason !== undefined && { reason }) }),
    deliveries: async ({ id }, query = '') => (await admin.get(`/api/webhooks/${id}/deliveries${query}`)).items,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}
