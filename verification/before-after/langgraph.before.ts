import type { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { tool } from '@langchain/core/tools'
import { interrupt, MemorySaver } from '@langchain/langgraph'
import { createReactAgent } from '@langchain/langgraph/prebuilt'
import { z } from 'zod'
import type { Orders } from './orders.ts'

const OPTIONS = {
  name: 'setStatus',
  description: 'Sets the status of an order.',
  schema: z.object({ order: z.string(), status: z.string() }),
}

export function makeAgent(llm: BaseChatModel, orders: Orders) {
  const setStatus = tool(async (input) => {
    const { approved } = interrupt(input)
    return approved ? await orders.setStatus(input) : 'A person declined this.'
  }, OPTIONS)
  return createReactAgent({ llm, tools: [setStatus], checkpointer: new MemorySaver() })
}
