import {
  InvalidResponseDataError,
  type LanguageModelV4,
  type LanguageModelV4FunctionTool,
  type SharedV4ProviderOptions,
} from '@ai-sdk/provider'
import type { Model, ModelEvent, ModelRequest } from '@countersign/core'
import { isObject } from '@countersign/core/text'
import { foreignError, hasForeignError, modelError, noStreamError, toModelError, unsentError } from './errors.ts'
import { historyProblem, toPrompt } from './history.ts'
import { joinNames } from './join-names.ts'
import { readJson } from './json.ts'
import type { CacheMarks } from './prompt-cache.ts'
import { collectStep, type Step } from './step.ts'
import type { MediaSupport } from './tool-media.ts'
import { type WireReport, watchWire } from './watch.ts'

export interface AiSdkModelOptions {
  /** `provider/name`. */
  id: string
  /** Returns the provider's model around our `fetch`; called for every step, so that each step watches its own connection. */
  connect(fetch: typeof globalThis.fetch): LanguageModelV4
  /** Sends its requests. */
  fetch: typeof globalThis.fetch
  callId: RegExp
  /** True for Chat Completions, the one API whose answers may end without a reason. Default: false. */
  isChat?: boolean
  /** The media types that it accepts in messages. Default: none. */
  media?: MediaSupport
  providerOptions?: SharedV4ProviderOptions
  cache?: CacheMarks
  timeoutMs: number
}

/**
 * Creates a model behind an AI SDK provider package. One step is one HTTP request: the packages' `doStream` sends once, and nothing here
 * retries; `retryable` of an `error` tells the caller whether a retry makes sense. (Gemini's `CONTINUATION` is the one second request: it
 * continues the same answer and is never a retry.)
 *
 * Text and the start of a call are emitted at once. Calls are emitted together with the `finish`, and only when the provider itself ended
 * the step completely: before that, the arguments of a call may be incomplete.
 */
export function aiSdkModel(options: AiSdkModelOptions): Model {
  return {
    id: options.id,
    async *stream(request) {
      const problem = historyProblem(request.messages)
      if (problem !== undefined) return yield unsentError(options.id, problem)
      const watch = watchWire(options)
      const stop = new AbortController()
      const signal = AbortSignal.any([request.signal, stop.signal])
      try {
        for await (const event of runStep(options, request, watch, signal)) yield event
      } catch (error) {
        if (request.signal.aborted) yield modelError('model_error', `the call of ${options.id} was cancelled`)
        else yield toModelError(options.id, error, watch.report)
      } finally {
        stop.abort()
      }
    },
  }
}

async function* runStep(
  options: AiSdkModelOptions,
  request: ModelRequest,
  watch: ReturnType<typeof watchWire>,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  const prompt = toPrompt(request.instructions, request.messages, {
    model: options.id,
    callId: options.callId,
    media: options.media,
  })
  const tools = request.tools.map(
    ({ name, description, inputSchema }): LanguageModelV4FunctionTool => ({ type: 'function', name, description, inputSchema }),
  )
  options.cache?.mark?.(prompt, tools)
  const names = tools.map(({ name }) => name)
  const { stream } = await options.connect(options.isChat ? joinNames(watch.fetch, names) : watch.fetch).doStream({
    prompt,
    tools,
    abortSignal: signal,
    providerOptions: optionsFor(options, request.conversation),
  })

  const step = collectStep()
  for await (const part of stream) {
    if (part.type === 'error') {
      // One package reports a missing finish reason as an error, the other as a finish. Both are handled at the end.
      if (InvalidResponseDataError.isInstance(part.error) && endsWithoutReason(watch.report)) continue
      yield toModelError(options.id, part.error, watch.report)
      return
    }
    if (part.type === 'tool-approval-request') {
      // The provider requests approval for a tool of its own. The tool was not offered by Countersign and cannot be gated, so it is not
      // approved.
      yield modelError('model_error', `${options.id} asked to approve a tool of its own; only tools configured here can be approved`)
      return
    }
    yield* step.take(part)
  }
  request.signal.throwIfAborted()
  yield* conclude(options.id, step, watch.report)
}

function optionsFor({ providerOptions, cache }: AiSdkModelOptions, conversation: string | undefined): SharedV4ProviderOptions {
  const all: SharedV4ProviderOptions = { ...providerOptions }
  for (const [provider, options] of Object.entries((conversation && cache?.options?.(conversation)) || {})) {
    all[provider] = { ...all[provider], ...options }
  }
  return all
}

/** Returns the end of a step: its calls and the finish if the provider ended it completely, an error if it did not end it at all. */
function conclude(model: string, step: Step, report: WireReport): ModelEvent[] {
  const { finish } = step
  if (hasForeignError(report)) return [foreignError(model, report)]
  if (endsWithoutReason(report)) return concludeWithoutReason(model, step, report)
  if (!finish || finish.unified === 'interrupted' || finish.unified === 'error') {
    if (report.events === 0) return [noStreamError(model, report)]
    return finish?.unified === 'error'
      ? [modelError('model_error', `${model} could not finish: ${finish.raw ?? 'no reason given'}`, true)]
      : [modelError('model_broken_stream', `the answer of ${model} ended without a finish`)]
  }
  const usage = step.usage && { usage: step.usage }
  switch (finish.unified) {
    case 'length':
      return [{ type: 'finish', reason: 'length', ...usage }]
    case 'content-filter':
      return [{ type: 'finish', reason: 'content_filter', ...usage }]
    case 'other':
      return [{ type: 'finish', reason: 'other', ...usage }]
  }
  // Anthropic: a long turn of its own tools was paused and has not ended.
  if (finish.raw === 'pause_turn') return [{ type: 'finish', reason: 'other', note: PAUSED, ...usage }]
  return concludeWhole(model, step, report)
}

const PAUSED = 'The provider paused this answer, so it may not be complete. Send a message to continue.'

/** OpenAI chat only: the provider closed the answer without a finish reason. */
const endsWithoutReason = ({ closed, hasFinishReason }: WireReport): boolean => closed && !hasFinishReason

/**
 * Accepts the step as complete where that can be checked: every call has an object for its arguments, and without calls there is a text.
 */
function concludeWithoutReason(model: string, step: Step, report: WireReport): ModelEvent[] {
  const events = concludeWhole(model, step, report)
  if (events.at(-1)?.type === 'error') return events
  const calls = events.filter((event) => event.type === 'tool_call')
  if (calls.length === 0 && !step.hasText) return [modelError('model_broken_stream', `the answer of ${model} ended without a finish`)]
  const cut = calls.find(({ argumentsText }) => !isObject(readJson(argumentsText)))
  if (cut) return [modelError('model_broken_stream', `${model} left a tool call unfinished: ${cut.name}`)]
  return events.map((event) => (event.type === 'finish' ? { ...event, note: NO_REASON } : event))
}

const NO_REASON = 'The model did not say why it ended its answer. The answer is whole as far as we can tell, so it is used.'

function concludeWhole(model: string, step: Step, report: WireReport): ModelEvent[] {
  const usage = step.usage && { usage: step.usage }
  if (report.callAfterFinish || step.openCalls.length > 0) {
    const names = step.openCalls.length > 0 ? `: ${step.openCalls.join(', ')}` : ''
    return [modelError('model_broken_stream', `${model} left a tool call unfinished${names}`)]
  }
  const { calls, providerData } = step.end()
  if (report.argumentCharacters > calls.reduce((sum, call) => sum + call.argumentsText.length, 0)) {
    return [modelError('model_broken_stream', `${model} sent arguments that belong to none of its tool calls`)]
  }
  const reason = calls.length > 0 ? 'tool_calls' : 'stop'
  return [...calls, { type: 'finish', reason, ...usage, ...(providerData !== undefined && { providerData }) }]
}
