import type { ModelMessage, ToolMedia } from '@countersign/core'
import { expect, test } from 'vitest'
import { estimateUsage } from './usage.ts'

const historyWith = (media: ToolMedia[]): ModelMessage[] => [
  { role: 'user', content: 'Look' },
  { role: 'assistant', content: '', toolCalls: [{ id: 'a', name: 'look', arguments: {} }] },
  {
    role: 'tool',
    toolCallId: 'a',
    toolName: 'look',
    outcome: { type: 'output', value: { content: 'Taken.', media: media.map((one) => ({ ...one })) } },
  },
]

test('an estimate counts the text of a result, and a picture in it by no more than type and size', () => {
  const estimate = (messages: ModelMessage[]) =>
    estimateUsage({ instructions: 'Be brief.', messages, tools: [], signal: new AbortController().signal }, 0).inputTokens
  const picture: ToolMedia = { type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo'.repeat(60_000) }
  const without = estimate(historyWith([]))
  expect(without).toBeGreaterThan(20)
  expect(estimate(historyWith([picture]))).toBeLessThan(without + 50)
  const said = { content: 'x'.repeat(4_000), media: [] }
  const long: ModelMessage = { role: 'tool', toolCallId: 'a', toolName: 'look', outcome: { type: 'output', value: said } }
  expect(estimate([...historyWith([]).slice(0, 2), long])).toBeGreaterThan(1_000)
})
