import { readFileSync } from 'node:fs'
import type { JsonObject, ModelMessage } from '@countersign/core'
import { expect, test } from 'vitest'
import { openModel } from '../../packages/server/src/models/index.ts'
import { collect } from '../../packages/server/src/models/testing/collect.ts'
import { modelFor } from '../../packages/server/src/models/testing/recordings.ts'
import { startReplayServer } from '../../packages/server/src/models/testing/replay-server.ts'
import { speak } from '../../packages/server/src/models/testing/speak.ts'

// What the SDK of a vendor sends for a conversation, our adapter sends for the same one.

const FIXTURES = new URL('../../../shared/fixtures/clients/openai-sdk/requests.json', import.meta.url)

interface ChatRequest {
  messages: {
    role: string
    content?: string | null
    tool_call_id?: string
    tool_calls?: { id: string; type: string; function: { name: string; arguments: string } }[]
  }[]
  tools?: { type: string; function: { name: string; description?: string; parameters: JsonObject } }[]
}
const { requests }: { requests: { mode: string; n: number; url: string; body: string }[] } = JSON.parse(readFileSync(FIXTURES, 'utf8'))
const recorded = (mode: string, n: number): ChatRequest & JsonObject =>
  JSON.parse(requests.find((one) => one.mode === mode && one.n === n)?.body ?? 'null')

/** The recorded conversation as an agent keeps it. */
function messagesOf({ messages }: ChatRequest): ModelMessage[] {
  const names = new Map(messages.flatMap(({ tool_calls = [] }) => tool_calls.map((call) => [call.id, call.function.name])))
  return messages.map(({ role, content, tool_call_id = '', tool_calls = [] }): ModelMessage => {
    if (role === 'user') return { role, content: content ?? '' }
    if (role === 'tool')
      return {
        role,
        toolCallId: tool_call_id,
        toolName: names.get(tool_call_id) ?? '',
        outcome: { type: 'output', value: Number(content) },
      }
    const toolCalls = tool_calls.map((call) => ({ id: call.id, name: call.function.name, arguments: JSON.parse(call.function.arguments) }))
    return { role: 'assistant', content: content ?? '', toolCalls, model: 'openai-chat/gpt-5' }
  })
}

// The SDK sends arguments as the model wrote them, blanks included; what an approval may have changed is written anew. Two of three recorded
// requests name the default of `tool_choice` and ask for no usage, and their tools have no description.
function comparable({ messages, tools = [], tool_choice = 'auto', stream_options: _, ...more }: ChatRequest & JsonObject) {
  return {
    ...more,
    tool_choice,
    messages: messages.map(({ tool_calls, ...message }) => ({
      ...message,
      ...(tool_calls && {
        tool_calls: tool_calls.map((call) => ({ ...call, function: { ...call.function, arguments: JSON.parse(call.function.arguments) } })),
      }),
    })),
    tools: tools.map((tool) => ({ ...tool, function: { description: '', ...tool.function } })),
  }
}

test.each([
  ['stream', 0],
  ['runtools', 0],
  ['runtools', 1],
])('the recorded conversation of the OpenAI SDK, %s %i: our adapter sends the same request', async (mode, n) => {
  const theirs = recorded(mode, n)
  await using server = await startReplayServer()
  const replay = server.play([speak('openai-chat', { text: 'Done.' })])
  const { spec, settings } = modelFor({ api: 'openai-chat', vendor: 'openai', model: 'gpt-5' }, replay.baseUrl)
  const tools = (theirs.tools ?? []).map(({ function: { name, description = '', parameters } }) => ({
    name,
    description,
    inputSchema: parameters,
  }))
  const said = await collect(await openModel(spec, settings), { messages: messagesOf(theirs), tools })
  expect(said.at(-1)).toMatchObject({ type: 'finish', reason: 'stop' })
  expect(replay.requests).toHaveLength(1)
  expect(comparable(replay.requests[0]?.body as never)).toEqual(comparable(theirs))
})
