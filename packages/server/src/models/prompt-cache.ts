import type { LanguageModelV4FunctionTool, LanguageModelV4Prompt, SharedV4ProviderOptions } from '@ai-sdk/provider'

/** How long Anthropic caches what it read: its two choices, or not at all. */
export type CacheTime = '5m' | '1h' | 'off'

/** The caching options of a request. */
export interface CacheMarks {
  /** Marks the positions in a request up to which the provider caches. */
  mark?(prompt: LanguageModelV4Prompt, tools: LanguageModelV4FunctionTool[]): void
  /** Returns options for the whole request, by the conversation it belongs to. */
  options?(conversation: string): SharedV4ProviderOptions
}

/**
 * Anthropic caches a prefix of a request (tools, system, messages) up to each of at most four marks, and finds it again by its bytes. The
 * marks are at the end of the tools, of the instructions, of this request, and of the request before: each step writes the mark that the
 * next one reads, whether it comes at once or after an approval. (From a mark Anthropic looks back over 20 blocks only, which a step of ten
 * parallel calls already fills: hence the mark at the end of the request before.)
 */
export function anthropicCache(time: CacheTime): CacheMarks {
  if (time === 'off') return {}
  const anthropic = { cacheControl: { type: 'ephemeral', ...(time === '1h' && { ttl: time }) } }
  return {
    mark(prompt, tools) {
      markLast(tools)
      markLast(prompt.filter((message) => message.role === 'system'))
      const answer = prompt.findLastIndex((message) => message.role === 'assistant')
      for (const message of [prompt[answer - 1], prompt.at(-1)]) {
        if (message?.role === 'user' || message?.role === 'tool') markLast(message.content)
      }
    },
  }

  function markLast(parts: readonly { providerOptions?: SharedV4ProviderOptions }[]): void {
    const last = parts.at(-1)
    if (last) last.providerOptions = { ...last.providerOptions, anthropic: { ...last.providerOptions?.anthropic, ...anthropic } }
  }
}

/** OpenAI caches automatically; requests with the same key are routed to the same cache. */
export const openaiCache = (time: CacheTime): CacheMarks =>
  time === 'off' ? {} : { options: (conversation) => ({ openai: { promptCacheKey: conversation } }) }
