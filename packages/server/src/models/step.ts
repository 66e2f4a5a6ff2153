import type { JSONValue, LanguageModelV4StreamPart, LanguageModelV4Usage, SharedV4ProviderMetadata } from '@ai-sdk/provider'
import type { JsonObject, JsonValue, ModelEvent, Usage } from '@countersign/core'
import { readJson } from './json.ts'
import { detailsOf } from './reasoning-details.ts'
import { type StepPart, writeStepData } from './step-data.ts'

type CallEvent = Extract<ModelEvent, { type: 'tool_call' }>
type Block = Extract<StepPart, { type: 'text' | 'reasoning' }>
type CallPart = Extract<StepPart, { type: 'call' }>
type Finish = Extract<LanguageModelV4StreamPart, { type: 'finish' }>['finishReason']

/** Accumulates the parts of a provider's stream. */
export interface Step {
  /** Takes one part and returns the events that may be emitted at once. */
  take(part: LanguageModelV4StreamPart): ModelEvent[]
  /** The last finish the provider sent. */
  readonly finish: Finish | undefined
  readonly usage: Usage | undefined
  readonly hasText: boolean
  /** Names of calls that began but were never completed. */
  readonly openCalls: string[]
  end(): { calls: CallEvent[]; providerData: JsonValue | undefined }
}

/**
 * Assembles a provider's stream parts. Calls are identified by keys created here; the provider's ids are only looked up among the calls
 * that are still open, oldest first, because they repeat (`functions.add:0`) or are missing.
 */
export function collectStep(): Step {
  const parts: StepPart[] = []
  const blocks = new Map<string, Block>()
  const open: { id: string; key: string; name: string }[] = []
  const calls: { event: CallEvent; part: CallPart }[] = []
  let details: JsonObject[] = []
  let started = 0
  let finish: Finish | undefined
  let usage: Usage | undefined

  const start = (id: string, name: string): ModelEvent => {
    const key = `call-${++started}`
    open.push({ id, key, name })
    return { type: 'tool_call_start', key, providerCallId: id, name }
  }

  // A hosted shell looks like one of our calls until its result arrives in the same stream: the provider executed it, and it must not run
  // here as well.
  const moveToProvider = (toolCallId: string, toolName: string): void => {
    const index = calls.findIndex(({ event }) => event.providerCallId === toolCallId && event.name === toolName)
    const [call] = index === -1 ? [] : calls.splice(index, 1)
    if (!call) return
    const input = (readJson(call.event.argumentsText) ?? {}) as JsonValue
    parts[parts.indexOf(call.part)] = { type: 'tool-call', toolCallId, toolName, input, providerExecuted: true }
  }

  const take = (part: LanguageModelV4StreamPart): ModelEvent[] => {
    switch (part.type) {
      case 'text-start':
      case 'reasoning-start': {
        const block: Block = part.type === 'text-start' ? { type: 'text', text: '' } : { type: 'reasoning', text: '' }
        addOptions(block, part.providerMetadata)
        blocks.set(`${block.type} ${part.id}`, block)
        parts.push(block)
        return []
      }
      case 'text-delta':
      case 'text-end':
      case 'reasoning-delta':
      case 'reasoning-end': {
        const type = part.type.startsWith('text') ? 'text' : 'reasoning'
        const block = blocks.get(`${type} ${part.id}`)
        if (block) addOptions(block, part.providerMetadata)
        if (!('delta' in part) || part.delta === '') return []
        if (block) block.text += part.delta
        return [{ type, delta: part.delta }]
      }
      case 'tool-input-start':
        return part.providerExecuted ? [] : [start(part.id, part.toolName)]
      case 'tool-call': {
        const { toolCallId, toolName, input, providerMetadata } = part
        if (part.providerExecuted) {
          const value = (readJson(input) ?? input) as JsonValue
          parts.push(addOptions({ type: 'tool-call', toolCallId, toolName, input: value, providerExecuted: true }, providerMetadata))
          return []
        }
        const isThis = (call: { id: string; name: string }) => call.id === toolCallId && call.name === toolName
        const events = open.some(isThis) ? [] : [start(toolCallId, toolName)]
        const [call] = open.splice(open.findIndex(isThis), 1)
        if (!call) return events
        const kept: CallPart = addOptions({ type: 'call', name: toolName }, providerMetadata)
        parts.push(kept)
        calls.push({
          event: { type: 'tool_call', key: call.key, providerCallId: toolCallId, name: toolName, argumentsText: input },
          part: kept,
        })
        return events
      }
      case 'tool-result': {
        if (part.preliminary) return []
        const output = { type: part.isError ? ('error-json' as const) : ('json' as const), value: toJson(part.result) }
        const { toolCallId, toolName } = part
        moveToProvider(toolCallId, toolName)
        parts.push(addOptions({ type: 'tool-result', toolCallId, toolName, output }, part.providerMetadata))
        return []
      }
      case 'custom':
        // This comes from the package, about the answer's id and usage, and not from the provider.
        if (part.kind !== 'anthropic.message_start') parts.push(addOptions({ type: 'custom', kind: part.kind }, part.providerMetadata))
        return []
      case 'finish':
        finish = part.finishReason
        usage = toUsage(part.usage)
        details = detailsOf(part.providerMetadata)
        return []
      // Sources, files, metadata, pings and the packages' own notes are of no use to the agent, and no provider expects them back.
      default:
        return []
    }
  }

  const end = (): ReturnType<Step['end']> => {
    const named = new Set(details.map(({ id }) => id))
    for (const { event, part } of calls) if (named.has(event.providerCallId)) part.id = event.providerCallId
    if (details.length > 0) parts.push({ type: 'reasoning-details', details })
    return { calls: calls.map(({ event }) => event), providerData: writeStepData(parts) }
  }

  return {
    take,
    get finish() {
      return finish
    },
    get usage() {
      return usage
    },
    get hasText() {
      return parts.some((part) => part.type === 'text' && part.text.trim() !== '')
    },
    get openCalls() {
      return open.map((call) => call.name)
    },
    end,
  }
}

function addOptions<Part extends Exclude<StepPart, { type: 'reasoning-details' }>>(
  part: Part,
  metadata: SharedV4ProviderMetadata | undefined,
): Part {
  for (const [provider, options] of Object.entries(metadata ?? {})) {
    part.providerOptions ??= {}
    part.providerOptions[provider] = { ...part.providerOptions[provider], ...(toJson(options) as Record<string, JsonValue>) }
  }
  return part
}

const toJson = (value: JSONValue): JsonValue => JSON.parse(JSON.stringify(value)) as JsonValue

/** More than any model reads or says in one step. Sums of it still fit into a database. */
const MAX_TOKENS = 1_000_000_000

/**
 * Returns what the provider says it counted; undefined where it says nothing, or what cannot be true: then it is estimated. A count that is
 * no whole number could not be stored, and one below zero would lower the total that a budget limits.
 */
function toUsage({ inputTokens, outputTokens }: LanguageModelV4Usage): Usage | undefined {
  if (inputTokens.total === undefined && outputTokens.total === undefined) return undefined
  const usage = {
    inputTokens: Math.ceil(inputTokens.total ?? 0),
    cachedInputTokens: Math.ceil(inputTokens.cacheRead ?? 0),
    ...(inputTokens.cacheWrite !== undefined && { cacheWriteTokens: Math.ceil(inputTokens.cacheWrite) }),
    outputTokens: Math.ceil(outputTokens.total ?? 0),
  }
  return Object.values(usage).every((count) => count >= 0 && count <= MAX_TOKENS) ? usage : undefined
}
