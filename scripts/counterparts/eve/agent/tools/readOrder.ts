import { defineWorkflowTool } from 'eve/tools'
import { z } from 'zod'
import { gated } from '../work.ts'

/** A workflow tool: the call is stored before it runs, so that an agent which starts again goes on with the same call. */
export default defineWorkflowTool({
  description: 'Reads an order.',
  inputSchema: z.object({ order: z.string() }),
  async execute(input, { callId }) {
    'use workflow'
    return readOrder(input, callId)
  },
})

async function readOrder(input: { order: string }, callId: string) {
  'use step'
  return (await gated.readOrder(input, { toolCallId: callId })).text
}
