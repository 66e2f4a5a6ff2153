import type { ModelCallStreamPart } from '@ai-sdk/workflow'
import { defineHandler } from 'nitro/h3'
import { getRun } from 'workflow/api'

/** The model's text, read from the session's stream when that has closed. */
export default defineHandler(async ({ context }) => {
  let text = ''
  for await (const part of getRun(context.params?.id ?? '').getReadable<ModelCallStreamPart>()) {
    if (part.type === 'text-delta') text += part.text
  }
  return text
})
