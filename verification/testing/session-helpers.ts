import type { Action, Session } from '@countersign/core'
import type { ApiClient } from './api-client.ts'
import type { BrainSpeech } from './brain-says.ts'
import { type BrainCall, startLiveBrain } from './live-brain.ts'
import { startTarget, type TargetAnswer, toolsOf } from './target.ts'
import { startTestServer } from './test-server.ts'

export type Speak = (call: BrainCall) => BrainSpeech | Promise<BrainSpeech>
const echo: Speak = ({ messages }) => ({ text: `You said: ${messages.at(-1)?.content}` })
export const act = (what: string) => ({ calls: [{ id: what, tool: 'unkeyed', input: { what } }] })

/** A server whose agent is a brain of the test, with a member, another one, and an approver. */
export async function openSessionDesk(
  speak: Speak = echo,
  answer: () => TargetAnswer | Promise<TargetAnswer> = () => ({ status: 200, body: { id: 1 } }),
) {
  const stack = new AsyncDisposableStack()
  const target = stack.use(await startTarget(answer))
  const brain = stack.use(await startLiveBrain(speak))
  const server = stack.use(
    await startTestServer({
      config: { agents: { desk: { model: `remote/${brain.baseUrl}`, tools: ['*'], actionsPerStep: 'many' } }, tools: toolsOf(target) },
    }),
  )
  const lea = await server.as({ name: 'Lea', kind: 'person', roles: ['member'] })
  const bob = await server.as({ name: 'Bob', kind: 'person', roles: ['member'] })
  const ann = await server.as({ name: 'Ann', kind: 'person', roles: ['approver'] })
  return { server, admin: server.admin, target, brain, lea, bob, ann, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

export const rename = (who: ApiClient, id: string, title: unknown) => who.send('PATCH', `/api/sessions/${id}`, { body: { title } })
export const remove = (who: ApiClient, id: string, headers?: Record<string, string>) =>
  who.send('DELETE', `/api/sessions/${id}`, { ...(headers && { headers }) })
export const say = (who: ApiClient, id: string, content: string) => who.post(`/api/sessions/${id}/messages`, { content })
export const open = async (who: ApiClient, title?: string): Promise<string> => (await who.post('/api/sessions', title ? { title } : {})).id
export const titles = async (who: ApiClient, query: string): Promise<string[]> =>
  (await who.get(`/api/sessions?${query}`)).items.map(({ title }: Session) => title)
export const actionsIn = async (who: ApiClient, id: string): Promise<Action[]> => (await who.get(`/api/actions?session=${id}`)).items
export const recordOf = async (admin: ApiClient, kind: string) => (await admin.get(`/api/audit?kind=${kind}`)).items
