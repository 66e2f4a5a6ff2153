import type { Action } from '@countersign/core'
import { z } from 'zod'
import { type Client, createClient } from '../../packages/client/src/index.ts'
import { defineTool } from '../../packages/toolkit/src/define.ts'
import { endDeadline } from './end-deadline.ts'
import { freePort } from './free-port.ts'
import { startTestServer } from './test-server.ts'

const Order = z.object({ order: z.string(), status: z.string() })

export interface GateServerOptions {
  /** How long a client may take to carry one of these out. */
  timeoutMs?: number
  /** The status that an order has, for the card of `setStatus`. Without it the card shows none. */
  status?(): string
}

/**
 * A server whose tools an agent elsewhere carries out: `readOrder` runs by itself, `setStatus` asks, `deleteOrder` is denied. It keeps its
 * address when it restarts.
 */
export async function openGateServer({ timeoutMs = 60_000, status: shown }: GateServerOptions = {}) {
  const common = { executor: 'client', timeoutMs } as const
  const tools = [
    defineTool({ ...common, name: 'readOrder', description: 'Reads an order.', effect: 'read', input: z.object({ order: z.string() }) }),
    defineTool({
      ...common,
      name: 'setStatus',
      description: 'Sets the status of an order.',
      effect: 'write',
      input: Order,
      describe: ({ order, status }) => `Set ${order} to ${status}`,
      ...(shown && { preview: ({ status }: z.infer<typeof Order>) => [{ field: 'status', oldValue: shown(), newValue: status }] }),
    }),
    defineTool({
      ...common,
      name: 'deleteOrder',
      description: 'Deletes an order.',
      effect: 'write',
      input: z.object({ order: z.string() }),
    }),
  ]
  const port = await freePort()
  const server = await startTestServer({
    config: {
      // For receivers of callbacks.
      network: { allow: ['127.0.0.1'] },
      tools: { shop: { prefix: false, tools } },
      policy: {
        rules: [
          { name: 'reads run', match: { effect: 'read' }, verdict: 'allow' },
          { name: 'orders stay', match: { tool: 'deleteOrder' }, verdict: 'deny' },
        ],
      },
    },
    flags: { port },
  })
  const { key } = await server.makeKey({ name: 'order bot', kind: 'agent', agent: 'orders', roles: ['agent'] })
  const client: Client = createClient({ baseUrl: server.url, key })

  return {
    server,
    key,
    client,
    /** Resolves with the next action that waits for a person. */
    async nextWaiting(): Promise<Action> {
      using inbox = await server.admin.stream('/api/events')
      const { items } = await server.admin.get('/api/actions?state=proposed')
      return items[0] ?? (await inbox.next('action_proposed', ({ proposal }) => proposal.state === 'proposed')).proposal
    },
    decide: ({ id, revision, digest }: Action, verdict: 'approve' | 'decline', more: object = {}): Promise<Action> =>
      server.admin.post(`/api/actions/${id}/decision`, { verdict, revision, digest, ...more }),
    /** Reads what a card shows again: another value makes a new revision. */
    readAgain: ({ id }: Action): Promise<Action> => server.admin.post(`/api/actions/${id}/preview`, {}),
    /** Ends the hold of an agent that was killed while it carried the action out, or the deadline of what waits. A server that starts looks for everything due. */
    async endHold({ id }: Action): Promise<void> {
      await endDeadline(server.database, id)
      await server.restart()
    },
    /** Every action there is, newest first. */
    all: async (): Promise<Action[]> => (await server.admin.get('/api/actions')).items,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

export type GateServer = Awaited<ReturnType<typeof openGateServer>>

/** The functions behind the tools, and what they did. */
export function openLedger() {
  const ran: unknown[] = []
  return {
    ran,
    readOrder: async ({ order }: { order: string }) => {
      ran.push({ read: order })
      return { order, status: 'pending' }
    },
    setStatus: async (args: { order: string; status: string }) => {
      ran.push(args)
      return { done: args.status }
    },
  }
}
