import { type Action, isSettled, type JsonObject, type JsonValue } from '@countersign/core'
import { decidingReason, isSameJson } from '@countersign/core/text'
import { approvalIdOf, cardOf, readApprovalId } from '../threads/approval-id.ts'
import { type Chunk, partName } from './chunks.ts'
import type { ClientMessage } from './read-request.ts'
import { createResultRoom } from './result-room.ts'

interface Call {
  name: string
  /** The arguments that the client shows. */
  input: unknown
  /** Set where approval is requested again, in another message than its own. */
  again?: string | undefined
  /** The approval that was requested from the client last. */
  asked?: string | undefined
  isEnded: boolean
  /** True when its action is known to be settled. */
  isSettled?: true
}

export interface CallWriterOptions {
  send(chunk: Chunk): void
  /** The part of this message that the client has: nothing of it is sent twice. It carries no authority. */
  client: ClientMessage | undefined
}

/** Writes the tool calls of a message, with their approvals and results. */
export interface CallWriter {
  has(toolCallId: string): boolean
  /** @param again The id of the message that asks for it again; default: it is a call of this message's own. */
  add(toolCallId: string, name: string, input: JsonObject, again?: string): void
  /** Says what is new about an action since it was said last. */
  show(toolCallId: string, action: Action, before: Action | undefined): void
  end(toolCallId: string, how: CallEnd): void
  /** Asks once more for each action that the client counts as answered and that still waits. */
  askAgain(actionOf: (toolCallId: string) => Action | undefined): void
}

export type CallEnd = { output: JsonValue } | { error: string } | 'denied'

export function createCallWriter({ send, client }: CallWriterOptions): CallWriter {
  const calls = new Map<string, Call>()
  const room = createResultRoom()

  const idOf = (toolCallId: string, action: Action): string => approvalIdOf(action, calls.get(toolCallId)?.again)

  /** True when an earlier stream asked the client for this revision or a later one: what is sent then is history. */
  function wasAsked(toolCallId: string, { id, revision }: Action): boolean {
    const approvalId = client?.calls.get(toolCallId)?.approvalId
    const asked = approvalId === undefined ? undefined : readApprovalId(approvalId)
    return asked?.actionId === id && asked.revision >= revision
  }

  function ask(toolCallId: string, call: Call, action: Action): void {
    const approvalId = idOf(toolCallId, action)
    if (call.asked === approvalId) return
    if (call.isEnded || wasAsked(toolCallId, action)) return
    if (call.asked !== undefined || action.revision > 1 || !showsArguments(call, action)) showArguments(toolCallId, call, action)
    call.asked = approvalId
    request(toolCallId, action)
  }

  /** The model may leave out what the tool fills in, and people may change the rest: what counts is what runs. */
  const showsArguments = (call: Call, action: Action): boolean => isSameJson(call.input, action.arguments)

  function showArguments(toolCallId: string, call: Call, action: Action): void {
    call.input = action.arguments
    send({ type: 'tool-input-available', toolCallId, toolName: call.name, input: action.arguments as JsonObject })
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
    if (call.isEnded) return
    if (call.asked === undefined) {
      if (approved && !showsArguments(call, action)) showArguments(toolCallId, call, action)
      return
    }
    const shown = idOf(toolCallId, action)
    if (approved && call.asked !== shown) {
      // Another revision than the client was asked for: shown with what runs, whatever the latest change of it was.
      showArguments(toolCallId, call, action)
      request(toolCallId, action)
      call.asked = shown
    }
    const known = client?.calls.get(toolCallId)
    if (known?.approvalId === call.asked && known.approved === approved) return
    const reason = decidingReason(action) ?? (approved ? undefined : action.outcome?.text)
    send({ type: 'tool-approval-response', approvalId: call.asked, approved, ...(reason !== undefined && { reason }) })
  }

  function end(toolCallId: string, how: CallEnd): void {
    const call = calls.get(toolCallId)
    if (!call || call.isEnded) return
    call.isEnded = true
    if (how === 'denied') send({ type: 'tool-output-denied', toolCallId })
    else if ('output' in how) send({ type: 'tool-output-available', toolCallId, output: how.output })
    else send({ type: 'tool-output-error', toolCallId, errorText: how.error })
  }

  return {
    has: (toolCallId) => calls.has(toolCallId),
    add(toolCallId, name, input, again) {
      const known = client?.calls.get(toolCallId)
      const call: Call = {
        ...{ name: partName(name), again, input: known ? known.input : input },
        ...{ asked: known?.approvalId, isEnded: known?.isEnded ?? false },
      }
      calls.set(toolCallId, call)
      if (known) return
      send({ type: 'tool-input-start', toolCallId, toolName: call.name })
      send({ type: 'tool-input-available', toolCallId, toolName: call.name, input })
    },
    show(toolCallId, action, before) {
      const call = calls.get(toolCallId)
      if (!call) return
      const { state } = action
      if (state === 'proposed') return ask(toolCallId, call, action)
      const wasDecided = before !== undefined && before.state !== 'proposed'
      const isRefused = state === 'declined' || state === 'expired' || state === 'cancelled'
      if (isRefused && !call.isEnded) {
        if (call.asked === undefined) {
          request(toolCallId, action, true)
          call.asked = idOf(toolCallId, action)
        }
        if (!wasDecided) respond(toolCallId, call, action, false)
        return end(toolCallId, 'denied')
      }
      if (!wasDecided) respond(toolCallId, call, action, true)
      if (!isSettled(state) || call.isSettled) return
      // Also a result that the client has takes its room of the message.
      call.isSettled = true
      end(toolCallId, state === 'succeeded' ? { output: room.outputOf(action) } : { error: room.errorOf(action) })
    },
    end,
    askAgain(actionOf) {
      for (const toolCallId of calls.keys()) {
        const action = actionOf(toolCallId)
        // The client counts it as answered, and it is not decided: it takes more votes, or this person may not decide.
        const known = client?.calls.get(toolCallId)
        if (action?.state === 'proposed' && known?.approved !== undefined && known.approvalId === idOf(toolCallId, action))
          request(toolCallId, action)
      }
    },
  }
}
