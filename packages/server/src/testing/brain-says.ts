import type { JsonValue } from '@countersign/core'
import type { ReplayAnswer } from '../models/testing/replay-server.ts'

/** What a stand-in remote brain says in one answer. */
export interface BrainSpeech {
  text?: string
  calls?: { id: string; tool: string; input: JsonValue }[]
}

/** An answer of a remote brain (D0) as a stand-in server sends it. */
export function brainSays({ text = '', calls = [] }: BrainSpeech): ReplayAnswer {
  const events = [
    ...(text === '' ? [] : [{ type: 'text-delta', delta: text }]),
    ...calls.flatMap(({ id: toolCallId, tool: toolName, input }) => [
      { type: 'tool-input-available', toolCallId, toolName, input },
      { type: 'require-action', toolCallId, toolName, input },
    ]),
    { type: 'finish', finishReason: calls.length > 0 ? 'tool-calls' : 'stop' },
  ]
  return {
    status: 200,
    contentType: 'text/event-stream',
    chunks: events.map((event) => new TextEncoder().encode(`data: ${JSON.stringify(event)}\n\n`)),
  }
}
