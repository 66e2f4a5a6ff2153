import { defineTool } from 'eve/tools'
import { always } from 'eve/tools/approval'
import { z } from 'zod'
import { TOOL } from '../../../script.ts'

/** Makes its effect through the process that started the server: see `receiveEffects`. */
export default defineTool({
  description: TOOL.description,
  inputSchema: z.object({ orderId: z.string(), status: z.string(), note: z.string() }),
  approval: always(),
  async execute(call) {
    const answer = await fetch(process.env.PEERS_EFFECTS_URL ?? '', { method: 'POST', body: JSON.stringify(call) })
    if (!answer.ok) throw new Error(`the effect failed: ${answer.status}`)
    return await answer.text()
  },
})
