import type { LanguageModelV4Message, LanguageModelV4Prompt, LanguageModelV4ToolResultPart } from '@ai-sdk/provider'
import type { ModelMessage, ToolOutcome } from '@countersign/core'
import { detailOptions } from './reasoning-details.ts'
import { readStepData, type StepPart } from './step-data.ts'
import { type MediaSupport, planMedia } from './tool-media.ts'

type AssistantMessage = Extract<ModelMessage, { role: 'assistant' }>
type PromptAnswer = Extract<LanguageModelV4Message, { role: 'assistant' }>
type AssistantContent = PromptAnswer['content']

export interface PromptOptions {
  /** The model that is called now: `providerData` of other models is not sent to it. */
  model: string
  /** The format of tool call ids that this provider accepts, besides those that it gave itself. */
  callId: RegExp
  /** The media types that it accepts. Default: none. */
  media?: MediaSupport | undefined
}

/**
 * Converts the history to the format of the provider packages.
 *
 * Call ids: every provider pairs a result with its call by one id that both carry (`tool_call_id`, `call_id`, `tool_use_id`,
 * `functionResponse.id`), and none of them looks the id up anywhere else when nothing is stored on its side (`store: false`). So both carry
 * our own ids, and the provider's ids, which repeat or are empty with some providers, stay in `providerCallId`. Reasoning items, thinking
 * blocks and thought signatures are replayed verbatim from `providerData`; where one names a call, it gets the id written here.
 */
export function toPrompt(
  instructions: string,
  messages: readonly ModelMessage[],
  { model, callId, media }: PromptOptions,
): LanguageModelV4Prompt {
  const idOf = wireIds(messages, { model, callId })
  const plan = planMedia(messages, media)
  let results: { toolName: string; outcome: ToolOutcome }[] = []
  const prompt: LanguageModelV4Prompt = []
  if (instructions !== '') prompt.push({ role: 'system', content: instructions })

  for (const [at, message] of messages.entries()) {
    if (message.role === 'user') prompt.push({ role: 'user', content: [{ type: 'text', text: message.content }] })
    else if (message.role === 'assistant') {
      const answer = (message.model === model ? replay(message, idOf) : undefined) ?? plain(message, idOf)
      // A step without output (all reasoning, then a stop) is invalid in every provider's history.
      if (answer.content.some(({ type }) => type !== 'reasoning')) prompt.push(answer)
    } else {
      const result: LanguageModelV4ToolResultPart = {
        type: 'tool-result',
        toolCallId: idOf(message.toolCallId),
        toolName: message.toolName,
        output: plan.output(message.outcome),
      }
      // Anthropic and Gemini require all results of a step in one message.
      const last = prompt.at(-1)
      if (last?.role === 'tool') last.content.push(result)
      else prompt.push({ role: 'tool', content: [result] })
      results.push(message)
      if (messages[at + 1]?.role === 'tool') continue
      prompt.push(...plan.after(results))
      results = []
    }
  }
  return prompt
}

/**
 * Returns the first fault of a history that every provider refuses: a call without its result right after it, a result without a call, an
 * id used twice. Undefined for a valid history.
 */
export function historyProblem(messages: readonly ModelMessage[]): string | undefined {
  const seen = new Set<string>()
  const open = new Set<string>()
  for (const message of messages) {
    if (message.role === 'tool') {
      if (!open.delete(message.toolCallId)) return `a result for ${message.toolCallId}, which was not called right before it`
      continue
    }
    const [missing] = open
    if (missing !== undefined) return `no result for the call ${missing}`
    if (message.role === 'user') continue
    for (const { id } of message.toolCalls) {
      if (seen.has(id)) return `two calls with the id ${id}`
      seen.add(id)
      open.add(id)
    }
  }
  const [missing] = open
  return missing === undefined ? undefined : `no result for the call ${missing}`
}

// Mistral accepts only ids of nine letters or digits. Where an id of another model does not fit, all are numbered by their position in the
// history. A model takes the ids of its own calls, and gateways read their own data in them.
function wireIds(messages: readonly ModelMessage[], { model, callId }: Pick<PromptOptions, 'model' | 'callId'>): (id: string) => string {
  const calls = messages.flatMap((message) =>
    message.role === 'assistant' ? message.toolCalls.map(({ id }) => ({ id, isOwn: message.model === model })) : [],
  )
  if (calls.every(({ id, isOwn }) => isOwn || callId.test(id))) return (id) => id
  const numbered = new Map(calls.map(({ id }, index) => [id, `call${String(index + 1).padStart(5, '0')}`]))
  return (id) => numbered.get(id) ?? id
}

/** Models say a line break before a call. Anthropic refuses the whole conversation because of such a text, also its own. */
const isBlank = (text: string): boolean => text.trim() === ''

function plain(message: AssistantMessage, idOf: (id: string) => string): PromptAnswer {
  const content: AssistantContent = isBlank(message.content) ? [] : [{ type: 'text', text: message.content }]
  for (const call of message.toolCalls) {
    content.push({ type: 'tool-call', toolCallId: idOf(call.id), toolName: call.name, input: call.arguments })
  }
  return { role: 'assistant', content }
}

/** Returns the step as the provider sent it, with our ids and arguments; undefined when the message has changed since. */
function replay(message: AssistantMessage, idOf: (id: string) => string): PromptAnswer | undefined {
  const parts = readStepData(message.providerData)
  if (!parts) return undefined
  const names = parts.flatMap((part) => (part.type === 'call' ? [part.name] : []))
  if (textOf(parts) !== message.content || names.length !== message.toolCalls.length) return undefined
  if (message.toolCalls.some((call, index) => call.name !== names[index])) return undefined

  const calls = message.toolCalls.values()
  const sentIds = new Map<string, string>()
  const content = parts.flatMap((part): AssistantContent => {
    if (part.type === 'reasoning-details') return []
    // With options of its provider, it may carry a signature.
    if (part.type === 'text' && isBlank(part.text) && part.providerOptions === undefined) return []
    if (part.type !== 'call') return [part]
    const call = calls.next().value
    if (!call) return []
    if (part.id !== undefined) sentIds.set(part.id, idOf(call.id))
    const providerOptions = part.providerOptions && { providerOptions: part.providerOptions }
    return [{ type: 'tool-call', toolCallId: idOf(call.id), toolName: call.name, input: call.arguments, ...providerOptions }]
  })
  const details = parts.flatMap((part) => (part.type === 'reasoning-details' ? part.details : []))
  return { role: 'assistant', content, ...(details.length > 0 && { providerOptions: detailOptions(details, sentIds) }) }
}

const textOf = (parts: readonly StepPart[]): string => parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
