import { type Action, type JsonObject, parseJson } from '@countersign/core'
import type { SentEvent } from '../note-answers.ts'
import { trackActions } from '../threads/track-actions.ts'
import type { TurnWriter } from '../threads/turn.ts'
import { type CallEnd, createCallWriter } from './call-writer.ts'
import type { Chunk } from './chunks.ts'
import type { ClientMessage } from './read-request.ts'
import { createStepWriter } from './step-writer.ts'

type SentMessage = Extract<SentEvent, { type: 'message' }>['data']['message']

export interface AiSdkWriterOptions {
  send(chunk: Chunk): void
  /** Actions from before the turn, which wait or which the client has. */
  earlier: readonly Action[]
  /** The id of the message that is written. */
  messageId: string
  /** The part of this message that the client has: nothing of it is sent twice. It carries no authority. */
  client: ClientMessage | undefined
}

/**
 * Writes the events of a session as one message of the AI SDK: text, tool calls, approvals and results. From a client's own copy of the
 * message it knows what to leave out: the SDK appends what it receives, so a repeated call would be shown twice.
 */
export function createAiSdkWriter({ send, earlier, messageId, client }: AiSdkWriterOptions): TurnWriter {
  const steps = createStepWriter(send, client?.steps ?? 0)
  const calls = createCallWriter({ send, client })
  const tracked = trackActions(calls.has, calls.show)

  for (const action of earlier) {
    const { toolCallId } = action
    if (toolCallId === null) continue
    if (!steps.hasBegun) {
      steps.open('earlier')
      steps.say('text', 'This waits for a decision first. Your message is answered after it.')
    }
    calls.add(toolCallId, action.tool, action.arguments as JsonObject, messageId)
    tracked.show(toolCallId, action)
  }

  function takeMessage({ id, role, kind, content, toolCalls = [], toolCallId }: SentMessage): void {
    if (role === 'assistant' && kind === 'text') {
      steps.open(id)
      steps.complete(content)
      for (const call of toolCalls) calls.add(call.id, call.name, call.arguments as JsonObject)
    } else if (role === 'system' && kind === 'note') send({ type: 'data-note', id, data: { text: content } })
    // Answers of the server itself, which are no actions.
    else if (role === 'tool' && toolCallId !== undefined && !tracked.of(toolCallId)) calls.end(toolCallId, answerIn(content))
  }

  return {
    get isBusy() {
      return tracked.isBusy
    },
    take(event) {
      switch (event.type) {
        case 'delta':
          steps.open(event.data.messageId)
          return steps.add(event.data.content, event.data.restart)
        case 'reasoning_delta':
          steps.open(event.data.messageId)
          return steps.say('reasoning', event.data.content)
        case 'message':
          return takeMessage(event.data.message)
        default:
          return tracked.take(event)
      }
    },
    end(how) {
      steps.closeText()
      if (how.is === 'parked') calls.askAgain(tracked.of)
      steps.close()
      if (how.is === 'failed') return send({ type: 'error', errorText: how.error })
      send({ type: 'finish', finishReason: how.is === 'parked' ? 'tool-calls' : 'stop' })
    },
  }
}

/** A call that could not become an action is stored as `{"error": "…"}`. Sent as an output, it would be shown as a success. */
function answerIn(content: string): CallEnd {
  const parsed = parseJson(content)
  const value = parsed.ok ? parsed.value : undefined
  const isError = value !== null && typeof value === 'object' && 'error' in value && Object.keys(value).length === 1
  return isError && typeof value.error === 'string' ? { error: value.error } : { output: content }
}
