import type { JsonObject, JsonValue } from '../json/value.ts'
import type { LookUp } from '../wire/session.ts'
import type { JsonSchema } from './tool.ts'

/** A tool as a model is offered it. */
export interface ModelTool {
  name: string
  description: string
  inputSchema: JsonSchema
}

/** One tool call in the history. `id` is unique within the history; `name` is the model's name of the tool. */
export interface ModelToolCall {
  id: string
  name: string
  arguments: JsonObject
}

/** How a tool call ended, for the model. The adapter words it in the provider's way. */
export type ToolOutcome =
  | { type: 'output'; value: JsonValue }
  | { type: 'declined'; reason: string }
  | { type: 'error'; message: string }
  | { type: 'outcome_unknown'; message: string }
  /** A person changed the arguments before they approved: `outcome` is that of what really ran. */
  | { type: 'edited'; argumentsRun: JsonObject; by: string; outcome: EditedOutcome }

/** How an action that a person had edited ended. If it did not run, the outcome is `declined` as usual. */
export type EditedOutcome = Extract<ToolOutcome, { type: 'output' | 'error' | 'outcome_unknown' }>

/** The result of a tool call as models, histories and events have it: the output as it is, everything else an object that says what happened. */
export function toolResultValue(outcome: ToolOutcome): JsonValue {
  switch (outcome.type) {
    case 'output':
      return outcome.value
    case 'declined':
      return { declined: true, reason: outcome.reason }
    case 'error':
      return { error: outcome.message }
    case 'outcome_unknown':
      return { outcome_unknown: true, message: outcome.message }
    case 'edited': {
      const { argumentsRun, by, outcome: ran } = outcome
      const result = ran.type === 'output' ? { result: ran.value } : (toolResultValue(ran) as JsonObject)
      return { edited: true, by, arguments_run: argumentsRun, ...result }
    }
  }
}

export type ModelMessage =
  | { role: 'user'; content: string }
  | {
      role: 'assistant'
      content: string
      toolCalls: ModelToolCall[]
      /** The model (`openai/gpt-5-mini`) that said this, and what its adapter wants back verbatim (signatures, reasoning, item ids). */
      model?: string
      providerData?: JsonValue
    }
  | { role: 'tool'; toolCallId: string; toolName: string; outcome: ToolOutcome }

export interface ModelRequest {
  instructions: string
  /** Valid for every provider: each tool call is followed by exactly one result before anything else. */
  messages: readonly ModelMessage[]
  tools: readonly ModelTool[]
  signal: AbortSignal
  /** The same for all requests of one conversation: a provider finds by it what it kept of the one before. */
  conversation?: string
  /** The agent by its name in the configuration. */
  agent?: string
  /** The author of the newest message in the history. */
  user?: { id: string; name: string }
}

export interface Usage {
  /** All of the request, with what was read from the provider's cache and what was written into it. */
  inputTokens: number
  cachedInputTokens: number
  /** Absent where the provider does not tell. */
  cacheWriteTokens?: number
  outputTokens: number
}

/** A model that was not the one to answer, and why. */
export interface PassedOver {
  model: string
  code: ModelErrorCode
}

/**
 * Why a step ended. Only `stop` and `tool_calls` are whole: after any other reason no call of the step may become an action.
 */
export type FinishReason = 'stop' | 'tool_calls' | 'length' | 'content_filter' | 'other'

/**
 * The events of a model's answer, in order. A stream ends with exactly one `finish` or one `error`; a stream that ends without either is
 * broken, and the agent treats it so.
 */
export type ModelEvent =
  | { type: 'text'; delta: string }
  | { type: 'reasoning'; delta: string }
  /** The name of a call is known; `key` tells calls of this step apart and is nothing else. */
  | { type: 'tool_call_start'; key: string; providerCallId?: string; name: string }
  /** A whole call. `argumentsText` is what the model wrote: unparsed, untrusted, possibly empty for a tool without arguments. */
  | { type: 'tool_call'; key: string; providerCallId?: string; name: string; argumentsText: string }
  /**
   * All that a remote brain looked up by itself in this step: untrusted, of any size, and nothing for us to do. `model` is who looked it
   * up, where several could.
   */
  | { type: 'look_ups'; lookUps: LookUp[]; model?: string }
  /** The text of this step so far is void: another model answers from the start. */
  | { type: 'restart' }
  /**
   * `model` is who answered and `passedOver` who should have before it, where several could. `note` is for people: what they should
   * know about an answer that is used.
   */
  | {
      type: 'finish'
      reason: FinishReason
      usage?: Usage
      providerData?: JsonValue
      note?: string
      model?: string
      passedOver?: PassedOver[]
    }
  /** `retryAfterMs` is how long the provider wants to be left alone. `model` is who failed, where several were asked: the last of them. */
  | { type: 'error'; code: ModelErrorCode; message: string; retryable: boolean; retryAfterMs?: number; model?: string }

export const MODEL_ERROR_CODES = [
  'model_unreachable',
  'model_overloaded',
  /** Not `retryable` where waiting does not help: the quota is used up. */
  'model_rate_limited',
  /** The conversation is larger than the model can read. */
  'model_context_exceeded',
  /** The request, the key or the model's name: something in our configuration. */
  'model_refused_request',
  /** A content filter stopped it. Only where that lets another model answer; else it is a `finish`. */
  'model_filtered',
  'model_broken_stream',
  'model_error',
] as const
export type ModelErrorCode = (typeof MODEL_ERROR_CODES)[number]

/** A model: one step per call. It never throws for what the provider does: that is an `error` event. */
export interface Model {
  /** `provider/name`, as in the configuration. */
  readonly id: string
  stream(request: ModelRequest): AsyncIterable<ModelEvent>
}
