import type { ModelCallStreamPart } from '@ai-sdk/workflow'
import { defineHandler } from 'nitro/h3'
import { start } from 'workflow/api'
import { conversation } from '../../workflows/conversation.ts'

/** Starts a session and answers with its id when the agent has asked about all its calls. */
export default defineHandler(async ({ req }) => {
  const run = await start(conversation, [await req.text()])
  let waiting = 0
  for await (const part of run.getReadable<ModelCallStreamPart>()) {
    if (part.type === 'tool-call') waiting++
    if (part.type === 'tool-approval-request' && --waiting === 0) return run.runId
  }
  throw new Error('the agent did not ask')
})
