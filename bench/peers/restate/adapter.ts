import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http2'
import * as restate from '@restatedev/restate-sdk'
import * as clients from '@restatedev/restate-sdk-clients'
import type { Place, System, Verdicts } from '../adapter.ts'
import { answerTo, callsFor } from '../script.ts'
import { type Ports, startServer } from './server.ts'

const ASKED = 'asked'
const DECISION = 'decision'

/** A workflow as in the documentation: durable promises for the question and for the decision, `ctx.run` for each call. */
const defineConversation = (place: Place) =>
  restate.workflow({
    name: 'conversation',
    handlers: {
      run: async (ctx: restate.WorkflowContext, message: string): Promise<string> => {
        const calls = await ctx.run('model', () => callsFor(message))
        await ctx.promise<string[]>(ASKED).resolve(calls.map(({ orderId }) => orderId))
        const verdicts = await ctx.promise<Verdicts>(DECISION)
        const results: string[] = []
        for (const call of calls) {
          const isApproved = verdicts[call.orderId] === 'approve'
          results.push(isApproved ? await ctx.run('tool', () => place.effect(call)) : 'A person declined this call.')
        }
        return await ctx.run('model', () => answerTo(results.length))
      },
      asked: async (ctx: restate.WorkflowSharedContext): Promise<string[]> => await ctx.promise<string[]>(ASKED),
      decide: async (ctx: restate.WorkflowSharedContext, verdicts: Verdicts): Promise<void> => {
        await ctx.promise<Verdicts>(DECISION).resolve(verdicts)
      },
    },
  })

async function register({ admin, service }: Ports): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${admin}/deployments`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ uri: `http://127.0.0.1:${service}`, force: true }),
  })
  if (!answer.ok) throw new Error(`the service could not be registered: ${answer.status} ${await answer.text()}`)
}

export async function open(place: Place): Promise<System> {
  const conversation = defineConversation(place)
  const server = await startServer(place)
  const quiet = () => {}
  const service = createServer(restate.createEndpointHandler({ services: [conversation], logger: quiet }))
  await new Promise<void>((resolve) => service.listen(server.ports.service, '127.0.0.1', resolve))
  await register(server.ports)
  const ingress = clients.connect({ url: `http://127.0.0.1:${server.ports.ingress}` })
  const clientOf = (sessionId: string) => ingress.workflowClient<typeof conversation>({ name: 'conversation' }, sessionId)
  return {
    writers: [server.pid],
    async start(message) {
      const id = randomUUID()
      await clientOf(id).workflowSubmit(message)
      await clientOf(id).asked()
      return id
    },
    async decide(sessionId, verdicts) {
      await clientOf(sessionId).decide(verdicts)
    },
    finish: (sessionId) => clientOf(sessionId).workflowAttach(),
    async recover(sessionId) {
      await clientOf(sessionId).workflowAttach()
      return 'the workflow continued by itself'
    },
    async close() {
      service.close()
      await server.stop()
    },
  }
}
