import type { LanguageModelV4FunctionTool, LanguageModelV4Prompt, SharedV4ProviderOptions } from '@ai-sdk/provider'

/** How long Anthropic is to keep what it read: its two choices, or not at all. */
export type CacheTime = '5m' | '1h' | 'off'

/** What of a request the provider is told about caching. */
export interface CacheMarks {
  /** Marks the places in a request up to which the provider shall keep what it read. */
  mark?(prompt: LanguageModelV4Prompt, tools: LanguageModelV4FunctionTool[]): void
  /** Options for the whole request, by the conversation it belongs to. */
  options?(conversation: string): SharedV4ProviderOptions
}

/**
 * Anthropic keeps a prefix of a request (tools, system, messages) up to each of at most four marks, and finds it again by its bytes. The
 * marks stand at the end of the tools, of the instructions, of this request, and of the request before: each step writes the mark that the
 * next one reads, whether it comes at once or after an approval. (From a mark Anthropic looks back over 20 blocks only, which a step of ten
 * parallel calls already fills: hence the one at the end of the request before.)
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

/** OpenAI caches by itself; requests with the same key go where the prefix is. */
export const openaiCache = (time: CacheTime): CacheMarks =>
  time === 'off' ? {} : { options: (conversation) => ({ openai: { promptCacheKey: conversation } }) }
