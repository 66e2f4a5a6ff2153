import { type ModelMessage, type ModelRequest, type ModelTool, resultWithoutMedia, type Usage } from '@countersign/core'
import type { ModelCallRow, RunRow } from '../store/index.ts'
import type { Budget } from './agent.ts'

/** The tokens of one step. `isEstimated` when the provider did not say. */
export interface StepUsage extends Usage {
  isEstimated: boolean
}

/** English prose and JSON have about this many in what providers call a token. Other languages have fewer: there an estimate is low. */
const CHARACTERS_PER_TOKEN = 4

// Messages and schemas are the same objects in every step of a session: each is measured once.
const sizes = new WeakMap<object, number>()

function sizeOf(value: ModelMessage | ModelTool['inputSchema']): number {
  const known = sizes.get(value)
  if (known !== undefined) return known
  const size = JSON.stringify(isToolResult(value) ? resultWithoutMedia(value.outcome) : value).length
  sizes.set(value, size)
  return size
}

/** Of these only the text is counted: a model does not get a picture, or pays for its pixels, not for its Base64. */
const isToolResult = (value: ModelMessage | ModelTool['inputSchema']): value is Extract<ModelMessage, { role: 'tool' }> =>
  'role' in value && value.role === 'tool'

/** Estimates the tokens of a step from its characters, for a provider that does not say. @param saidCharacters Of text and arguments. */
export function estimateUsage({ instructions, messages, tools }: ModelRequest, saidCharacters: number): StepUsage {
  let sent = instructions.length
  for (const message of messages) sent += sizeOf(message)
  for (const { name, description, inputSchema } of tools) sent += name.length + description.length + sizeOf(inputSchema)
  const tokens = (characters: number) => Math.ceil(characters / CHARACTERS_PER_TOKEN)
  return { inputTokens: tokens(sent), cachedInputTokens: 0, outputTokens: tokens(saidCharacters), isEstimated: true }
}

type UsageColumn = 'input_tokens' | 'cached_input_tokens' | 'cache_write_tokens' | 'output_tokens' | 'estimated'

/** A step's usage as the columns have it. */
export const usageColumns = (usage: StepUsage | undefined): Pick<ModelCallRow, UsageColumn> => ({
  input_tokens: usage?.inputTokens ?? 0,
  cached_input_tokens: usage?.cachedInputTokens ?? 0,
  cache_write_tokens: usage?.cacheWriteTokens ?? 0,
  output_tokens: usage?.outputTokens ?? 0,
  estimated: usage?.isEstimated ? 1 : 0,
})

/** Returns why a run may make no further model call; undefined while it may. The row holds the tokens of all its steps. */
export function whyExhausted(run: RunRow, budget: Budget): string | undefined {
  const { input_tokens: input, output_tokens: output } = run
  for (const [counted, most, what] of [
    [input, budget.inputTokens, 'input tokens'],
    [output, budget.outputTokens, 'output tokens'],
    [input + output, budget.totalTokens, 'tokens'],
  ] as const) {
    if (most === undefined || counted < most) continue
    const about = run.estimated_steps > 0 ? 'about ' : ''
    return `Stopped after ${about}${counted} ${what}: ${most} is the most that this agent may use for one message.`
  }
  return undefined
}

/** A run's usage with its last step, as programs are told it. */
export function totalUsage(run: RunRow, last: StepUsage) {
  return {
    inputTokens: run.input_tokens + last.inputTokens,
    cachedInputTokens: run.cached_input_tokens + last.cachedInputTokens,
    cacheWriteTokens: run.cache_write_tokens + (last.cacheWriteTokens ?? 0),
    outputTokens: run.output_tokens + last.outputTokens,
    ...((run.estimated_steps > 0 || last.isEstimated) && { estimated: true as const }),
  }
}
