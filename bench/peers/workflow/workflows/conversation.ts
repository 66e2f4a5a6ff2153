import { type ModelCallStreamPart, WorkflowAgent } from '@ai-sdk/workflow'
import type { ModelMessage } from 'ai'
import { defineHook, getWorkflowMetadata, getWritable } from 'workflow'
import { z } from 'zod'
import { type Call, TOOL } from '../../script.ts'
import { scriptedModel } from './model.ts'

/** Makes its effect through the process that started the server: see `receiveEffects`. */
async function setStatus(call: Call): Promise<string> {
  'use step'
  const answer = await fetch(process.env.PEERS_EFFECTS_URL ?? '', { method: 'POST', body: JSON.stringify(call) })
  if (!answer.ok) throw new Error(`the effect failed: ${answer.status}`)
  return await answer.text()
}

const verdicts = z.record(z.string(), z.enum(['approve', 'decline']))

export const decision = defineHook({ schema: verdicts })

/** The messages of a turn that asked, with the requests and the person's answers to them. */
function withAnswers(messages: readonly ModelMessage[], given: z.infer<typeof verdicts>): ModelMessage[] {
  const asked = messages.at(-1)
  if (asked?.role !== 'assistant' || typeof asked.content === 'string') throw new Error('the agent did not ask')
  const calls = asked.content.filter((part) => part.type === 'tool-call')
  // The agent names its requests so, and writes them to the stream only.
  const requests = calls.map(({ toolCallId }) => ({ toolCallId, approvalId: `approval-${toolCallId}` }))
  return [
    ...messages.slice(0, -1),
    { ...asked, content: [...asked.content, ...requests.map((request) => ({ type: 'tool-approval-request' as const, ...request }))] },
    {
      role: 'tool',
      content: requests.map(({ toolCallId, approvalId }) => ({
        type: 'tool-approval-response',
        approvalId,
        approved: given[toolCallId] === 'approve',
      })),
    },
  ]
}

/**
 * A session in one run, as in the documentation: the run has the messages, the tool needs approval, and a hook that is named after the run
 * waits for the person. Both turns write to the run's stream.
 */
export async function conversation(message: string): Promise<void> {
  'use workflow'
  const hook = decision.create({ token: getWorkflowMetadata().workflowRunId })
  const writable = getWritable<ModelCallStreamPart>()
  const agent = new WorkflowAgent({
    model: scriptedModel(),
    tools: {
      [TOOL.name]: {
        description: TOOL.description,
        inputSchema: z.object({ orderId: z.string(), status: z.string(), note: z.string() }),
        needsApproval: true,
        execute: setStatus,
      },
    },
  })
  const { messages } = await agent.stream({
    messages: [{ role: 'user', content: message }],
    writable,
    preventClose: true,
    sendFinish: false,
  })
  await agent.stream({ messages: withAnswers(messages, await hook), writable })
}
