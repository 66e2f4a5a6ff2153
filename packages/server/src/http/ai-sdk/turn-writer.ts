import { type Action, isSettled, type JsonObject, type JsonValue, parseJson } from '@countersign/core'
import type { SentEvent } from '../note-answers.ts'
import { approvalIdOf, cardOf } from '../threads/approval-id.ts'
import { trackActions } from '../threads/track-actions.ts'
import type { TurnWriter } from '../threads/turn.ts'
import { type Chunk, partName } from './chunks.ts'
import type { ClientMessage } from './read-request.ts'

interface Call {
  name: string
  input: JsonObject
  /** Set where it is asked for again, in another message than its own. */
  again?: string | undefined
  /** The approval that the client was asked for last. */
  asked?: string | undefined
  isEnded: boolean
}

export interface AiSdkWriterOptions {
  send(chunk: Chunk): void
  /** Actions from before the turn, which wait or which the client has. */
  earlier: readonly Action[]
  /** The id of the message that is written. */
  messageId: string
  /** What the client has of this message: nothing of it is sent twice. It carries no authority. */
  client: ClientMessage | undefined
}

/**
 * Writes the events of a session as one message of the AI SDK: text, tool calls, approvals and results. From a client's own copy of the
 * message it knows what to leave out: the SDK appends what it receives, so a repeated call would be shown twice.
 */
export function createAiSdkWriter({ send, earlier, messageId: ownId, client }: AiSdkWriterOptions): TurnWriter {
  const calls = new Map<string, Call>()
  const tracked = trackActions((toolCallId) => calls.has(toolCallId), show)
  const steps = new Set<string>()
  let openStep: { id: string; isKnown: boolean } | undefined
  let said = ''
  let openText: { type: 'text' | 'reasoning'; id: string } | undefined

  const idOf = (toolCallId: string, action: Action): string => approvalIdOf(action, calls.get(toolCallId)?.again)
  const isKnownStep = () => openStep?.isKnown ?? false

  function closeText(): void {
    if (openText) send({ type: `${openText.type}-end`, id: openText.id })
    openText = undefined
  }

  function closeStep(): void {
    closeText()
    if (openStep && !openStep.isKnown) send({ type: 'finish-step' })
    openStep = undefined
    said = ''
  }

  function stepOf(messageId: string): void {
    if (openStep?.id === messageId) return
    closeStep()
    steps.add(messageId)
    openStep = { id: messageId, isKnown: steps.size <= (client?.steps ?? 0) }
    if (!openStep.isKnown) send({ type: 'start-step' })
  }

  function say(type: 'text' | 'reasoning', delta: string): void {
    if (delta === '' || isKnownStep() || !openStep) return
    const id = type === 'text' ? openStep.id : `${openStep.id}_thoughts`
    if (openText?.id !== id) {
      closeText()
      openText = { type, id }
      send({ type: `${type}-start`, id })
    }
    send({ type: `${type}-delta`, id, delta })
  }

  function addCall(toolCallId: string, name: string, input: JsonObject): Call {
    const call: Call = { name: partName(name), input, isEnded: client?.calls.get(toolCallId)?.isEnded ?? false }
    calls.set(toolCallId, call)
    if (!client?.calls.has(toolCallId)) send({ type: 'tool-input-available', toolCallId, toolName: call.name, input })
    return call
  }

  function ask(toolCallId: string, call: Call, action: Action): void {
    const approvalId = idOf(toolCallId, action)
    if (call.asked === approvalId) return
    const isChanged = call.asked !== undefined || action.revision > 1
    call.asked = approvalId
    // The client was asked in an earlier stream.
    if (client?.calls.get(toolCallId)?.approvalId === approvalId) return
    if (isChanged) send({ type: 'tool-input-available', toolCallId, toolName: call.name, input: action.arguments as JsonObject })
    request(toolCallId, action)
  }

  function request(toolCallId: string, action: Action, isAutomatic?: true): void {
    const reason = action.revised?.reason ?? action.policy.reason
    const descriptor = isAutomatic ? {} : { approvalDescriptor: cardOf(action) }
    send({
      type: 'tool-approval-request',
      approvalId: idOf(toolCallId, action),
      toolCallId,
      reason,
      ...descriptor,
      ...(isAutomatic && { isAutomatic }),
    })
  }

  function respond(toolCallId: string, call: Call, action: Action, approved: boolean): void {
    const approvalId = call.asked
    if (approvalId === undefined || client?.calls.get(toolCallId)?.approved === approved) return
    const reason = action.votes.findLast((vote) => vote.reason !== undefined)?.reason ?? (approved ? undefined : action.outcome?.text)
    if (approved && action.revision > 1 && action.revised?.why === 'edit') {
      // Shown with what runs, not with what was proposed.
      send({ type: 'tool-input-available', toolCallId, toolName: call.name, input: action.arguments as JsonObject })
      request(toolCallId, action)
      call.asked = idOf(toolCallId, action)
    }
    send({ type: 'tool-approval-response', approvalId: call.asked ?? approvalId, approved, ...(reason !== undefined && { reason }) })
  }

  function endCall(toolCallId: string, call: Call, how: { output: JsonValue } | { error: string } | 'denied'): void {
    if (call.isEnded) return
    call.isEnded = true
    if (how === 'denied') send({ type: 'tool-output-denied', toolCallId })
    else if ('output' in how) send({ type: 'tool-output-available', toolCallId, output: how.output })
    else send({ type: 'tool-output-error', toolCallId, errorText: how.error })
  }

  /** Says what is new about an action since it was said last. */
  function show(toolCallId: string, action: Action, before: Action | undefined): void {
    const call = calls.get(toolCallId)
    if (!call) return
    const { state } = action
    if (state === 'proposed') {
      ask(toolCallId, call, action)
      return
    }
    const wasDecided = before !== undefined && before.state !== 'proposed'
    const isRefused = state === 'declined' || state === 'expired' || state === 'cancelled'
    if (isRefused && !call.isEnded) {
      if (call.asked === undefined) {
        request(toolCallId, action, true)
        call.asked = idOf(toolCallId, action)
      }
      if (!wasDecided) respond(toolCallId, call, action, false)
      endCall(toolCallId, call, 'denied')
      return
    }
    if (!wasDecided) respond(toolCallId, call, action, true)
    if (!isSettled(state)) return
    if (state === 'succeeded') endCall(toolCallId, call, { output: action.result ?? null })
    else endCall(toolCallId, call, { error: action.outcome?.text ?? action.error?.message ?? 'This did not succeed.' })
  }

  for (const action of earlier) {
    const { toolCallId } = action
    if (toolCallId === null) continue
    if (steps.size === 0) {
      stepOf('earlier')
      if (!isKnownStep()) say('text', 'This waits for a decision first. Your message is answered after it.')
    }
    addCall(toolCallId, action.tool, action.arguments as JsonObject).again = ownId
    tracked.show(toolCallId, action)
  }

  return {
    get isBusy() {
      return tracked.isBusy
    },
    take(event: SentEvent) {
      switch (event.type) {
        case 'delta': {
          const { messageId, content, restart } = event.data
          stepOf(messageId)
          if (restart && !isKnownStep()) {
            closeText()
            send({ type: 'reset-step' })
          }
          if (restart) said = ''
          said += content
          return say('text', content)
        }
        case 'reasoning_delta':
          stepOf(event.data.messageId)
          return say('reasoning', event.data.content)
        case 'message': {
          const { id, role, kind, content, toolCalls = [], toolCallId } = event.data.message
          if (role === 'assistant' && kind === 'text') {
            stepOf(id)
            // What was streamed before may be a part of it only, or none.
            if (!content.startsWith(said) && !isKnownStep()) {
              closeText()
              send({ type: 'reset-step' })
              said = ''
            }
            say('text', content.slice(said.length))
            said = content
            closeText()
            for (const call of toolCalls) addCall(call.id, call.name, call.arguments as JsonObject)
          } else if (role === 'system' && kind === 'note') send({ type: 'data-note', id, data: { text: content } })
          else if (role === 'tool' && toolCallId !== undefined) {
            const call = calls.get(toolCallId)
            // Answers of the server itself, which are no actions.
            if (call && !tracked.of(toolCallId)) endCall(toolCallId, call, answerIn(content))
          }
          return
        }
        default:
          return tracked.take(event)
      }
    },
    end(how) {
      closeText()
      if (how.is === 'parked') {
        for (const toolCallId of calls.keys()) {
          const action = tracked.of(toolCallId)
          // The client counts it as answered, and it is not decided: it takes more votes, or this person may not decide.
          const known = client?.calls.get(toolCallId)
          if (action?.state === 'proposed' && known?.approved !== undefined && known.approvalId === idOf(toolCallId, action))
            request(toolCallId, action)
        }
      }
      closeStep()
      if (how.is === 'failed') return send({ type: 'error', errorText: how.error })
      send({ type: 'finish', finishReason: how.is === 'parked' ? 'tool-calls' : 'stop' })
    },
  }
}

/** A call that could not become an action is stored as `{"error": "…"}`. Sent as an output, it would be shown as a success. */
function answerIn(content: string): { output: JsonValue } | { error: string } {
  const parsed = parseJson(content)
  const value = parsed.ok ? parsed.value : undefined
  const isError = value !== null && typeof value === 'object' && 'error' in value && Object.keys(value).length === 1
  return isError && typeof value.error === 'string' ? { error: value.error } : { output: content }
}
