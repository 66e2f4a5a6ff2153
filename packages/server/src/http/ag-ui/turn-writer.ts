import { type Action, isSettled, type JsonObject, type JsonValue } from '@countersign/core'
import type { SentEvent } from '../note-answers.ts'
import { approvalIdOf, cardOf } from '../threads/approval-id.ts'
import { trackActions } from '../threads/track-actions.ts'
import type { TurnWriter } from '../threads/turn.ts'
import type { AgUiEvent, Interrupt } from './events.ts'
import type { PageMessages } from './page-messages.ts'
import { createTextWriter } from './text-writer.ts'

/** The part of the turn that a client has already. It is left out of the stream, and has no other effect. */
export interface KnownMessages {
  messageIds: ReadonlySet<string>
  callIds: ReadonlySet<string>
  resultIds: ReadonlySet<string>
}

export interface AgUiWriterOptions {
  send(event: AgUiEvent): void
  threadId: string
  runId: string
  /** Actions from before the turn, which wait or which the client has. */
  earlier: readonly Action[]
  known: KnownMessages
  /** The messages of the page, with everything that was sent to it in this run. */
  page: PageMessages
  /** Why a decision was refused; the run ends with it. */
  refusal: string | undefined
}

/** The schema of an answer to an interrupt. `editedArgs` replaces all arguments. */
const RESPONSE_SCHEMA: JsonObject = {
  type: 'object',
  properties: { approved: { type: 'boolean' }, reason: { type: 'string' }, editedArgs: { type: 'object' } },
  required: ['approved'],
}

/**
 * Writes the events of a session as one run of AG-UI. A client appends what it receives, so calls, texts and results that it has are not
 * sent again: the arguments of a repeated call would be joined to those that it has.
 */
export function createAgUiWriter({ send, threadId, runId, earlier, known, page, refusal }: AgUiWriterOptions): TurnWriter {
  /** The calls of the turn, and whether the client has their results. */
  const calls = new Map<string, { isEnded: boolean }>()
  const tracked = trackActions(
    (toolCallId) => calls.has(toolCallId),
    (toolCallId, { state, outcome }) => {
      if (isSettled(state)) endCall(toolCallId, outcome?.text ?? state)
    },
  )
  const text = createTextWriter({ send, known, page })

  function addCall(toolCallId: string, name: string, input: JsonValue, parentMessageId: string): void {
    calls.set(toolCallId, { isEnded: known.resultIds.has(toolCallId) })
    if (known.callIds.has(toolCallId)) return
    send({ type: 'TOOL_CALL_START', toolCallId, toolCallName: name, parentMessageId })
    send({ type: 'TOOL_CALL_ARGS', toolCallId, delta: JSON.stringify(input) })
    send({ type: 'TOOL_CALL_END', toolCallId })
  }

  function endCall(toolCallId: string, content: string): void {
    const call = calls.get(toolCallId)
    if (!call || call.isEnded) return
    call.isEnded = true
    send({ type: 'TOOL_CALL_RESULT', messageId: `${toolCallId}_result`, toolCallId, content, role: 'tool' })
  }

  function interrupts(): Interrupt[] {
    return [...calls.keys()].flatMap((toolCallId) => {
      const action = tracked.of(toolCallId)
      return action?.state !== 'proposed'
        ? []
        : {
            id: approvalIdOf(action),
            reason: 'tool_call',
            message: action.description,
            toolCallId,
            responseSchema: RESPONSE_SCHEMA,
            ...(action.expiresAt !== null && { expiresAt: action.expiresAt }),
            metadata: { ...cardOf(action), arguments: action.arguments },
          }
    })
  }

  for (const action of earlier) {
    if (action.toolCallId === null) continue
    addCall(action.toolCallId, action.tool, action.arguments, `${action.messageId ?? action.id}`)
    tracked.show(action.toolCallId, action)
  }

  return {
    get isBusy() {
      return tracked.isBusy
    },
    take(event: SentEvent) {
      switch (event.type) {
        case 'delta': {
          const { messageId, content, restart } = event.data
          if (restart) text.takeBack(messageId)
          return text.say(messageId, content)
        }
        case 'message': {
          const { id, role, kind, content, toolCalls = [], toolCallId } = event.data.message
          if (role === 'assistant' && kind === 'text') {
            text.complete(id, content)
            for (const call of toolCalls) addCall(call.id, call.name, call.arguments as JsonValue, id)
          } else if (role === 'tool' && toolCallId !== undefined) {
            // Answers of the server itself, which are no actions.
            if (!tracked.of(toolCallId)) endCall(toolCallId, content)
          }
          return
        }
        case 'reasoning_delta':
          return text.think(event.data.messageId, event.data.content)
        default:
          return tracked.take(event)
      }
    },
    end(how) {
      text.close()
      // The tool may have filled in what the model left out, and an approval may have changed the rest: people are shown what runs.
      const corrected = page.correct((toolCallId) => tracked.of(toolCallId)?.arguments)
      if (corrected) send({ type: 'MESSAGES_SNAPSHOT', messages: corrected })
      const error = how.is === 'failed' ? how.error : refusal
      if (error !== undefined) {
        send({ type: 'RUN_ERROR', message: error })
        return
      }
      const open = how.is === 'parked' ? interrupts() : []
      send({
        ...{ type: 'RUN_FINISHED', threadId, runId },
        outcome: open.length > 0 ? { type: 'interrupt', interrupts: open } : { type: 'success' },
      })
    },
  }
}
