import { defineHandler } from 'nitro/h3'
import { decision } from '../../../../workflows/conversation.ts'

export default defineHandler(async ({ req, context }) => {
  await decision.resume(context.params?.id ?? '', await req.json())
})
