import { type JsonObject, parseJson } from '@countersign/core'
import { isSameJson } from '@countersign/core/text'
import type { AgUiEvent } from './events.ts'
import type { Said } from './snapshot.ts'

type Call = NonNullable<Said['toolCalls']>[number]

/** The messages that a page has: those that it sent or was given, and those that the events of a run make on it. */
export interface PageMessages {
  /** Takes an event that is sent to the page. */
  take(event: AgUiEvent): void
  /**
   * Takes back what was streamed of an answer. Its thoughts stay without words, because a page keeps its own thoughts when a snapshot has none.
   * @returns All messages of the page afterwards; undefined when it has nothing of the answer.
   */
  takeBack(messageId: string): readonly Said[] | undefined
  /**
   * Replaces the arguments of calls, where the page has others.
   * @param argumentsOf The current ones of a call; undefined where it keeps those that the page has.
   * @returns All messages of the page afterwards; undefined when it has nothing else than these.
   */
  correct(argumentsOf: (toolCallId: string) => JsonObject | undefined): readonly Said[] | undefined
}

/** The id of the message with the thoughts of an answer. */
export const thoughtsOf = (messageId: string): string => `${messageId}_thoughts`

/** @param held What the page has at the beginning. It is not changed. */
export function trackPageMessages(held: readonly Said[]): PageMessages {
  let messages: Said[] = [...held]
  const change = (id: string, make: (message: Said | undefined) => Said): void => {
    const at = messages.findLastIndex((message) => message.id === id)
    if (at === -1) messages.push(make(undefined))
    else messages[at] = make(messages[at])
  }
  const say = (id: string, role: string, delta: string) =>
    change(id, (message) => {
      // A page may hold anything under the id of an answer.
      const before = typeof message?.content === 'string' ? message.content : ''
      return { ...(message ?? { id, role }), content: before + delta }
    })

  return {
    take(event) {
      switch (event.type) {
        case 'MESSAGES_SNAPSHOT':
          messages = [...event.messages]
          return
        case 'TEXT_MESSAGE_CONTENT':
          return say(event.messageId, 'assistant', event.delta)
        case 'REASONING_MESSAGE_CONTENT':
          return say(event.messageId, 'reasoning', event.delta)
        case 'TOOL_CALL_START': {
          const { toolCallId: id, toolCallName: name, parentMessageId } = event
          const call = { id, type: 'function', function: { name, arguments: '' } }
          return change(parentMessageId, (message) => ({
            ...(message ?? { id: parentMessageId, role: 'assistant' }),
            toolCalls: [...(message?.toolCalls ?? []), call],
          }))
        }
        case 'TOOL_CALL_ARGS': {
          const { toolCallId, delta } = event
          const withDelta = (call: Call) => (call.id === toolCallId ? { ...call, function: { ...call.function, arguments: delta } } : call)
          const owner = messages.findLast(({ toolCalls = [] }) => toolCalls.some(({ id }) => id === toolCallId))
          if (owner) change(owner.id, () => ({ ...owner, toolCalls: owner.toolCalls?.map(withDelta) }))
          return
        }
        case 'TOOL_CALL_RESULT': {
          const { messageId, toolCallId, content } = event
          return change(messageId, () => ({ id: messageId, role: 'tool', toolCallId, content }))
        }
        default:
          return
      }
    },
    takeBack(messageId) {
      const thoughts = thoughtsOf(messageId)
      if (!messages.some(({ id }) => id === messageId || id === thoughts)) return undefined
      messages = messages.flatMap((message) =>
        message.id === messageId ? [] : message.id === thoughts ? [{ ...message, content: '' }] : [message],
      )
      return messages
    },
    correct(argumentsOf) {
      let isChanged = false
      const current = (call: Call): Call => {
        const wanted = withArguments(call, argumentsOf(call.id))
        isChanged ||= wanted !== call
        return wanted
      }
      const corrected = messages.map((message) => (message.toolCalls ? { ...message, toolCalls: message.toolCalls.map(current) } : message))
      if (!isChanged) return undefined
      messages = corrected
      return messages
    },
  }
}

/** Returns the call with these arguments: the same object where it has them already, or where they are undefined. */
export function withArguments<C extends Call>(call: C, wanted: JsonObject | undefined): C {
  if (wanted === undefined || isGiven(call, wanted)) return call
  return { ...call, function: { ...call.function, arguments: JSON.stringify(wanted) } }
}

function isGiven(call: Call, wanted: JsonObject): boolean {
  const text = call.function?.arguments
  const given = typeof text === 'string' ? parseJson(text) : undefined
  return given?.ok === true && isSameJson(given.value, wanted)
}
