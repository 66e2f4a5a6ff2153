import type { JsonValue } from '@countersign/core'
import type { Replay, ReplayAnswer } from '../../packages/server/src/models/testing/replay-server.ts'

/** One answer of a stand-in remote brain. */
export interface BrainSpeech {
  text?: string
  calls?: { id: string; tool: string; input: JsonValue }[]
  /** A look-up of its own; with neither `output` nor `error` it does not say what it found. */
  lookUps?: { id: string; tool: string; input: JsonValue; output?: JsonValue; error?: string }[]
}

/** An answer of a remote brain (D0) as a stand-in server sends it. */
export function brainSays({ text = '', calls = [], lookUps = [] }: BrainSpeech): ReplayAnswer {
  const events = [
    ...lookUps.flatMap(({ id: toolCallId, tool: toolName, input, output, error }) => [
      { type: 'tool-input-available', toolCallId, toolName, input },
      ...(output === undefined ? [] : [{ type: 'tool-output-available', toolCallId, output }]),
      ...(error === undefined ? [] : [{ type: 'tool-output-error', toolCallId, errorText: error }]),
    ]),
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

export interface BrainMessage {
  role: string
  content: string
  tool_call_id?: string
  tool_calls?: { id: string; function: { name: string; arguments: string } }[]
}

/** The messages that a stand-in brain was sent with its `nth` request, counted from 0; none when there was no such request. */
export const brainHeard = ({ requests }: Replay, nth: number): BrainMessage[] =>
  (requests[nth]?.body as { messages: BrainMessage[] } | undefined)?.messages ?? []

/** The tool results among them: the id of the call, and what the brain was told. */
export const resultsHeard = (replay: Replay, nth: number): [id: string | undefined, told: unknown][] =>
  brainHeard(replay, nth).flatMap(({ role, content, tool_call_id }) => (role === 'tool' ? [[tool_call_id, JSON.parse(content)]] : []))
