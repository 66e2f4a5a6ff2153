import { setTimeout as delay } from 'node:timers/promises'
import {
  type FinishReason,
  type JsonObject,
  type Model,
  type ModelErrorCode,
  type ModelEvent,
  type ModelMessage,
  type ModelRequest,
  toolResultValue,
  type Usage,
} from '@countersign/core'
import { modelError } from './errors.ts'

/** The output of a scripted model in one step. */
export interface ScriptReply {
  reasoning?: string | undefined
  text?: string | undefined
  /** `arguments` as a text is sent verbatim, so that a script can also produce invalid calls. */
  calls?: { tool: string; arguments: JsonObject | string }[] | undefined
  /** The step ends with this error, after its text. */
  error?: string | { code: ModelErrorCode; message: string; retryable: boolean } | undefined
  /** Default: `tool_calls` with calls, `stop` without. `none` ends the stream without a finish. */
  finish?: FinishReason | 'none' | undefined
  /** Token usage of the step. Without it, the step reports none, like some providers. */
  usage?: ScriptUsage | undefined
  /** Wait before each word. Default 0. */
  chunkDelayMs?: number | undefined
}

export interface ScriptUsage {
  inputTokens: number
  cachedInputTokens?: number | undefined
  cacheWriteTokens?: number | undefined
  outputTokens: number
}

/** One step of a script: the expected request and the output. */
export interface ScriptStep extends ScriptReply {
  /**
   * The text that the last user message and the last tool result must contain; `/…/i` is a regular expression. The tool result is matched
   * in its JSON text.
   */
  expect?: { lastUser?: string | undefined; lastToolResult?: string | undefined } | undefined
}

export type Script = { steps: ScriptStep[] } | { reply: (request: ModelRequest) => ScriptReply }

export interface ScriptedModel extends Model {
  /** @throws Error when steps of the script were never requested. */
  assertDone(): void
}

/** A script in a module: `export default defineScript({ steps: [{ text: 'Hello' }] })`. */
export const defineScript = (script: Script): Script => script

/**
 * Creates a model that plays a script, for tests and demonstrations without a provider. The step is chosen by the number of assistant
 * messages in the request, so that it survives a restart; a request that does not match the step, or is past the last one, is a
 * `model_error`. With `reply` the answer is a function of the request alone.
 * @example
 * const model = scriptedModel({ id: 'scripted/refund', steps: [
 *   { expect: { lastUser: 'refund' }, calls: [{ tool: 'refund', arguments: { orderId: 'ORD-001' } }] },
 *   { expect: { lastToolResult: '"declined":true' }, text: 'Fine, no refund.' },
 * ] })
 */
export function scriptedModel(options: { id: string } & Script): ScriptedModel {
  const asked = new Set<number>()
  return {
    id: options.id,
    async *stream(request) {
      try {
        const index = request.messages.filter((message) => message.role === 'assistant').length
        asked.add(index)
        yield* say('reply' in options ? options.reply(request) : stepAt(options.steps, index, request), request.signal)
      } catch (error) {
        yield modelError('model_error', `${options.id}: ${error instanceof Error ? error.message : String(error)}`)
      }
    },
    assertDone() {
      if ('reply' in options) return
      const left = options.steps.flatMap((_, index) => (asked.has(index) ? [] : [index + 1]))
      if (left.length > 0) throw new Error(`${options.id}: the script has steps that were never asked for: ${left.join(', ')}`)
    },
  }
}

function stepAt(steps: readonly ScriptStep[], index: number, request: ModelRequest): ScriptStep {
  const step = steps[index]
  if (!step) throw new Error(`the script has ${steps.length} steps and was asked for step ${index + 1}`)
  const { lastUser, lastToolResult } = step.expect ?? {}
  for (const [wanted, what, found] of [
    [lastUser, 'the last user message', lastUserText(request.messages)],
    [lastToolResult, 'the last tool result', lastToolText(request.messages)],
  ] as const) {
    if (wanted === undefined || (found !== undefined && fits(found, wanted))) continue
    throw new Error(`step ${index + 1} expects ${what} to have ${wanted}, found ${found ?? 'none'}`)
  }
  return step
}

function fits(text: string, wanted: string): boolean {
  const [, source, flags] = /^\/(.+)\/([a-z]*)$/s.exec(wanted) ?? []
  return source === undefined ? text.includes(wanted) : new RegExp(source, flags).test(text)
}

const lastUserText = (messages: readonly ModelMessage[]) => messages.findLast((message) => message.role === 'user')?.content

function lastToolText(messages: readonly ModelMessage[]): string | undefined {
  const last = messages.findLast((message) => message.role === 'tool')
  return last && JSON.stringify(toolResultValue(last.outcome))
}

async function* say(reply: ScriptReply, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  const { reasoning = '', text = '', calls = [], error, finish, usage, chunkDelayMs = 0 } = reply
  for (const [type, whole] of [
    ['reasoning', reasoning],
    ['text', text],
  ] as const) {
    for (const delta of whole.match(/\S+\s*|\s+/g) ?? []) {
      if (chunkDelayMs > 0) await delay(chunkDelayMs, undefined, { signal })
      signal.throwIfAborted()
      yield { type, delta }
    }
  }
  for (const [index, { tool, arguments: given }] of calls.entries()) {
    const key = `call-${index + 1}`
    yield { type: 'tool_call_start', key, name: tool }
    yield { type: 'tool_call', key, name: tool, argumentsText: typeof given === 'string' ? given : JSON.stringify(given) }
  }
  if (typeof error === 'string') yield modelError('model_error', error)
  else if (error) yield modelError(error.code, error.message, error.retryable)
  else if (finish !== 'none') {
    yield { type: 'finish', reason: finish ?? (calls.length > 0 ? 'tool_calls' : 'stop'), ...(usage && { usage: asUsage(usage) }) }
  }
}

const asUsage = ({ inputTokens, cachedInputTokens = 0, cacheWriteTokens, outputTokens }: ScriptUsage): Usage => ({
  inputTokens,
  cachedInputTokens,
  ...(cacheWriteTokens !== undefined && { cacheWriteTokens }),
  outputTokens,
})
