import { Agent, type Model, tool } from '@openai/agents-core'
import { z } from 'zod'
import { gate } from '../../packages/client/src/gate/openai-agents.ts'
import { createClient } from '../../packages/client/src/index.ts'
import type { Orders } from './orders.ts'

export function makeAgent(model: Model, orders: Orders) {
  const client = createClient({ baseUrl: process.env.COUNTERSIGN_URL ?? '', key: process.env.COUNTERSIGN_KEY })
  const gatedTool = gate(client, tool)
  const setStatus = gatedTool({
    name: 'setStatus',
    description: 'Sets the status of an order.',
    parameters: z.object({ order: z.string(), status: z.string() }),
    execute: (input) => orders.setStatus(input),
  })
  return new Agent({ name: 'desk', model, tools: [setStatus] })
}
