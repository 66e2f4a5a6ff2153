// The model and the tools that the documentation of LangChain leaves to its reader.
import { AIMessage, ToolMessage } from '@langchain/core/messages'
import { fakeModel } from '@langchain/core/testing'
import { tool } from '@langchain/core/tools'
import { z } from 'zod'
import { carryOut } from './effects.ts'

/** A model that makes this call and answers with text after the tool's result. It does so for as many copies of a program as a test starts. */
export function chatModel(call: { id: string; name: string; args: Record<string, unknown> }) {
  const chat = fakeModel()
  for (let step = 0; step < 20; step++)
    chat.respond((messages) =>
      ToolMessage.isInstance(messages.at(-1)) ? new AIMessage('I see.') : new AIMessage({ content: '', tool_calls: [call] }),
    )
  return chat
}

export const FILE = { filename: 'output.txt', content: 'Hello' }
export const model = chatModel({ id: 'call_1', name: 'write_file', args: FILE })

export const writeFileTool = tool(({ filename, content }) => carryOut({ filename, content }, 'It is written.'), {
  name: 'write_file',
  description: 'Writes a file.',
  schema: z.object({ filename: z.string(), content: z.string() }),
})

export const readFileTool = tool(({ filename }) => carryOut({ read: filename }, ''), {
  name: 'read_file',
  description: 'Reads a file.',
  schema: z.object({ filename: z.string() }),
})
