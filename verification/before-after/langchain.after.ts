import type { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { tool } from '@langchain/core/tools'
import { MemorySaver } from '@langchain/langgraph'
import { createAgent } from 'langchain'
import { z } from 'zod'
import { gate } from '../../packages/client/src/gate/langchain.ts'
import { createClient } from '../../packages/client/src/index.ts'
import type { Orders } from './orders.ts'

const OPTIONS = {
  name: 'setStatus',
  description: 'Sets the status of an order.',
  schema: z.object({ order: z.string(), status: z.string() }),
}

export function makeAgent(model: BaseChatModel, orders: Orders) {
  const setStatus = tool((input) => orders.setStatus(input), OPTIONS)
  const client = createClient({ baseUrl: process.env.COUNTERSIGN_URL ?? '', key: process.env.COUNTERSIGN_KEY })
  return createAgent({ model, tools: [gate(client, setStatus)], checkpointer: new MemorySaver() })
}
