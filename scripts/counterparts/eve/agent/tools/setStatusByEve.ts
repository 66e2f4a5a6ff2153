import { defineWorkflowTool } from 'eve/tools'
import { always } from 'eve/tools/approval'
import { z } from 'zod'
import { doWork } from '../work.ts'

/** Asks people in eve's own way: what `setStatus` was before it went behind the gate. */
export default defineWorkflowTool({
  description: 'Sets the status of an order, after eve has asked.',
  inputSchema: z.object({ order: z.string(), status: z.string() }),
  approval: always(),
  async execute(input) {
    'use workflow'
    return setStatus(input)
  },
})

async function setStatus(input: { order: string; status: string }) {
  'use step'
  return doWork('setStatus')(input)
}
