import { defineWorkflowTool } from 'eve/tools'
import { z } from 'zod'
import { gated } from '../work.ts'

/** A workflow tool: the call is stored before it runs, so that an agent which starts again goes on with the same call. */
export default defineWorkflowTool({
  description: 'Sets the status of an order.',
  inputSchema: z.object({ order: z.string(), status: z.string() }),
  async execute(input, { callId }) {
    'use workflow'
    return setStatus(input, callId)
  },
})

async function setStatus(input: { order: string; status: string }, callId: string) {
  'use step'
  return (await gated.setStatus(input, { toolCallId: callId })).text
}
