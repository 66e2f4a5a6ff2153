import type { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { tool } from '@langchain/core/tools'
import { MemorySaver } from '@langchain/langgraph'
import { createAgent, humanInTheLoopMiddleware } from 'langchain'
import { z } from 'zod'
import type { Orders } from './orders.ts'

const OPTIONS = {
  name: 'setStatus',
  description: 'Sets the status of an order.',
  schema: z.object({ order: z.string(), status: z.string() }),
}

export function makeAgent(model: BaseChatModel, orders: Orders) {
  const setStatus = tool((input) => orders.setStatus(input), OPTIONS)
  const middleware = [humanInTheLoopMiddleware({ interruptOn: { setStatus: true } })]
  return createAgent({ model, tools: [setStatus], middleware, checkpointer: new MemorySaver() })
}
