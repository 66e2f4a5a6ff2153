import type { JsonValue, ModelMessage, ToolOutcome } from '@countersign/core'
import { expect, test } from 'vitest'
import { openModel } from './open.ts'
import { data, REQUIRE_ACTION, sse } from './testing/brain-stream.ts'
import { collect, messagesOf } from './testing/collect.ts'
import { startReplayServer } from './testing/replay-server.ts'
import { planResults } from './tool-media.ts'

test('the history holds each ended look-up with its result, under an id that nothing else has', async () => {
  await using server = await startReplayServer()
  const replay = server.play([sse(data({ type: 'finish' }))])
  const spec = `remote/${replay.baseUrl}`
  const lookUps: JsonValue = [
    { id: 'twice', name: 'a', input: { n: 1 }, output: 1 },
    { id: 'twice', name: 'b', input: '{"n":2}', output: null },
    { id: 'call_1', name: 'c', input: [3], error: 'broke' },
    { id: 'open', name: 'd', input: {} },
  ]
  const assistant: Extract<ModelMessage, { role: 'assistant' }> = {
    role: 'assistant',
    content: 'So.',
    toolCalls: [],
    model: spec,
    providerData: { lookUps },
  }
  const call = { id: 'call_1', name: 'act', arguments: {} }
  const caller: ModelMessage = { role: 'assistant', content: '', toolCalls: [call], model: spec }
  const result: ModelMessage = { role: 'tool', toolCallId: 'call_1', toolName: 'act', outcome: { type: 'output', value: 'done' } }
  const ofAnother: ModelMessage = { ...assistant, content: 'Other.', model: 'remote/http://other.example' }
  await collect(await openModel(spec, {}), { messages: [assistant, caller, result, ofAnother] })
  const called = (id: string, name: string, args: string) => ({ id, type: 'function', function: { name, arguments: args } })
  expect(replay.requests[0]?.body).toEqual({
    messages: [
      {
        role: 'assistant',
        content: '',
        tool_calls: [
          called('countersign-look-up-1', 'a', '{"n":1}'),
          called('countersign-look-up-2', 'b', '{"n":2}'),
          called('countersign-look-up-3', 'c', '{"input":[3]}'),
        ],
      },
      { role: 'tool', tool_call_id: 'countersign-look-up-1', content: '1' },
      { role: 'tool', tool_call_id: 'countersign-look-up-2', content: 'null' },
      { role: 'tool', tool_call_id: 'countersign-look-up-3', content: '{"error":"broke"}' },
      { role: 'assistant', content: 'So.' },
      { role: 'assistant', content: '', tool_calls: [called('call_1', 'act', '{}')] },
      { role: 'tool', tool_call_id: 'call_1', content: '"done"' },
      { role: 'assistant', content: 'Other.' },
    ],
  })
})

test('the next request carries the call and its result, by the id the brain gave it; a decline says denied', async () => {
  await using server = await startReplayServer()
  const replay = server.play([sse(data(REQUIRE_ACTION, { type: 'finish' })), sse(data({ type: 'finish' }))])
  const spec = `remote/${replay.baseUrl}/chat`
  const model = await openModel(spec, { remote: { headers: { authorization: 'Bearer of-the-brain' } } })
  const user: ModelMessage = { role: 'user', content: 'Process ORD-001' }
  const events = await collect(model, { messages: [user] })
  const [assistant] = messagesOf(events, spec)
  if (!assistant) throw new Error('no message')
  const tools = [{ name: 'updateOrderStatus', description: 'Sets the status', inputSchema: { type: 'object' } }]
  const denied: ModelMessage = {
    role: 'tool',
    toolCallId: 'call_1_1',
    toolName: 'updateOrderStatus',
    outcome: { type: 'declined', reason: 'User declined' },
  }
  await collect(model, { instructions: 'Be brief.', messages: [user, assistant, denied], tools })
  expect(replay.requests[0]).toMatchObject({
    path: '/chat',
    headers: { accept: 'text/event-stream', authorization: 'Bearer of-the-brain' },
  })
  expect(replay.requests[0]?.body).toEqual({ messages: [{ role: 'user', content: 'Process ORD-001' }] })
  expect(replay.requests[1]?.body).toEqual({
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Process ORD-001' },
      {
        role: 'assistant',
        content: '',
        tool_calls: [
          {
            id: 'call_abc123',
            type: 'function',
            function: { name: 'updateOrderStatus', arguments: '{"orderId":"ORD-001","newStatus":"processing"}' },
          },
        ],
      },
      { role: 'tool', tool_call_id: 'call_abc123', content: '{"denied":true,"reason":"User declined"}' },
    ],
    tools: [{ type: 'function', function: { name: 'updateOrderStatus', description: 'Sets the status', parameters: { type: 'object' } } }],
  })
})

test('of the media in results a brain gets the newest 20 with each step, and of others type and size', async () => {
  await using server = await startReplayServer()
  const replay = server.play([sse(data({ type: 'finish' }))])
  const image = () => ({ type: 'image', mimeType: 'image/png', data: 'A'.repeat(400) })
  const messages = Array.from({ length: 25 }).flatMap((_, at): ModelMessage[] => [
    { role: 'assistant', content: '', toolCalls: [{ id: `c${at}`, name: 'shot', arguments: {} }] },
    { role: 'tool', toolCallId: `c${at}`, toolName: 'shot', outcome: { type: 'output', value: { content: 'Taken.', media: [image()] } } },
  ])
  expect(await collect(await openModel(`remote/${replay.baseUrl}`, {}), { messages })).toEqual([{ type: 'finish', reason: 'stop' }])
  const body = replay.requests[0]?.body as { messages: { role: string; content: string }[] }
  const left = { type: 'image', mimeType: 'image/png', bytes: 300, note: 'left out here: newer ones take its room' }
  expect(body.messages.flatMap(({ role, content }) => (role === 'tool' ? [JSON.parse(content)] : []))).toEqual([
    ...Array(5).fill({ content: 'Taken.', media: [left] }),
    ...Array(20).fill({ content: 'Taken.', media: [image()] }),
  ])
})

test('of results with more than 8,000,000 characters of media, the newest that fit are sent as the tool gave them', () => {
  const image = (characters: number) => ({ type: 'image', mimeType: 'image/png', data: 'A'.repeat(characters) })
  const outcomes = [[image(8)], [image(5_000_000), image(40)], [image(4_000_000)]].map(
    (media): ToolOutcome => ({ type: 'output', value: { media } }),
  )
  const resultOf = planResults(outcomes.map((outcome, at) => ({ role: 'tool', toolCallId: `c${at}`, toolName: 'shot', outcome })))
  const left = { type: 'image', mimeType: 'image/png', bytes: 3_750_000, note: 'left out here: newer ones take its room' }
  expect(outcomes.map(resultOf)).toEqual([
    { media: [image(8)] },
    { media: [left, { ...image(40), bytes: 30 }] },
    { media: [image(4_000_000)] },
  ])
})

test('a call whose id came twice in the conversation goes back by ours', async () => {
  await using server = await startReplayServer()
  const again = sse(data(REQUIRE_ACTION, { type: 'finish' }))
  const replay = server.play([again, again, sse(data({ type: 'finish' }))])
  const spec = `remote/${replay.baseUrl}`
  const model = await openModel(spec, {})
  const messages: ModelMessage[] = [{ role: 'user', content: 'Go' }]
  for (const step of [1, 2]) messages.push(...messagesOf(await collect(model, { messages: [...messages] }), spec, step))
  await collect(model, { messages })
  const sent = replay.requests[2]?.body as { messages: { tool_call_id?: string; tool_calls?: { id: string }[] }[] } | undefined
  expect(sent?.messages.flatMap((message) => message.tool_calls?.map((call) => call.id) ?? [])).toEqual(['call_1_1', 'call_2_1'])
  expect(sent?.messages.flatMap((message) => message.tool_call_id ?? [])).toEqual(['call_1_1', 'call_2_1'])
})
