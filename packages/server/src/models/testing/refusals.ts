import { readFileSync } from 'node:fs'
import { parse, type ScalarTag } from 'yaml'
import type { RecordedApi } from './recordings.ts'

/** An answer with an HTTP status that is not 200, as a provider sent it. */
export interface Refusal {
  status: number
  headers: Record<string, string>
  body: Uint8Array
}

const FIXTURES = new URL('../../../../../../shared/fixtures/llm/', import.meta.url)

const binary: ScalarTag = { tag: '!binary', resolve: (text: string) => Buffer.from(text, 'base64') }

interface Cassette {
  http_interactions: {
    response: { status: { code: number }; headers: Record<string, string[]>; body: { string: string | Buffer } }
  }[]
}

/** The recorded refusals with a recognizable cause: the file, the API that represents its provider here, and the kind of failure. */
export const RECORDED_REFUSALS: readonly { file: string; api: RecordedApi; code: string; retryable: boolean }[] = [
  ...(
    [
      ['anthropic_claude-haiku-4-5', 'anthropic-messages'],
      ['bedrock_amazon_nova-2-lite-v1_0', 'openai-chat'],
      ['cohere_command-a-03-2025', 'openai-chat'],
      ['deepseek_deepseek-chat', 'openai-chat'],
      ['ollama_cloud_gpt-oss_120b', 'openai-chat'],
      ['openai_gpt-5-nano', 'openai-responses'],
      ['openrouter_claude-haiku-4-5', 'openai-chat'],
      ['perplexity_sonar', 'openai-chat'],
      ['vertexai_gemini-2_5-flash', 'google-generateContent'],
    ] as const
  ).map(([who, api]) => ({
    file: `ruby_llm/chat_real_error_scenarios_${who}_handles_context_length_exceeded_errors.yml`,
    api,
    code: 'model_context_exceeded',
    retryable: false,
  })),
  ...(
    [
      ['anthropic_claude-haiku-4-5', 'anthropic-messages'],
      ['azure_grok-4-1-fast-non-reasoning', 'openai-chat'],
      ['bedrock_amazon_nova-2-lite-v1_0', 'openai-chat'],
      ['cohere_command-a-03-2025', 'openai-chat'],
      ['deepseek_deepseek-chat', 'openai-chat'],
      ['gemini_gemini-2_5-flash', 'google-generateContent'],
      ['mistral_mistral-small-latest', 'openai-chat'],
      ['ollama_cloud_gpt-oss_120b', 'openai-chat'],
      ['openai_gpt-5-nano', 'openai-responses'],
      ['openrouter_claude-haiku-4-5', 'openai-chat'],
      ['perplexity_sonar', 'openai-chat'],
      ['xai_grok-4-1-fast-non-reasoning', 'openai-responses'],
    ] as const
  ).map(([who, api]) => ({
    file: `ruby_llm/chat_error_handling_with_${who}_raises_appropriate_auth_error.yml`,
    api,
    code: 'model_refused_request',
    retryable: false,
  })),
  // For too many requests at once, these two limit the rate and state when to retry.
  ...(
    [
      ['azure_grok-4-1-fast-non-reasoning', 'openai-chat'],
      ['gemini_gemini-2_5-flash', 'google-generateContent'],
    ] as const
  ).map(([who, api]) => ({
    file: `ruby_llm/chat_real_error_scenarios_${who}_handles_context_length_exceeded_errors.yml`,
    api,
    code: 'model_rate_limited',
    retryable: true,
  })),
  {
    file: 'vercel-ai/google/src/__fixtures__/google-429-retry-info.json',
    api: 'google-generateContent',
    code: 'model_rate_limited',
    retryable: true,
  },
  {
    file: 'firebase-gemini/vertexai/unary-failure-quota-exceeded.json',
    api: 'google-generateContent',
    code: 'model_rate_limited',
    retryable: true,
  },
  {
    file: 'vercel-ai/openai/src/responses/__fixtures__/openai-error.1.json',
    api: 'openai-responses',
    code: 'model_rate_limited',
    retryable: false,
  },
  {
    file: 'firebase-gemini/vertexai/streaming-failure-api-key.txt',
    api: 'google-generateContent',
    code: 'model_refused_request',
    retryable: false,
  },
  {
    file: 'firebase-gemini/vertexai/streaming-failure-unknown-model.txt',
    api: 'google-generateContent',
    code: 'model_refused_request',
    retryable: false,
  },
  {
    file: 'firebase-gemini/vertexai/streaming-failure-image-rejected.txt',
    api: 'google-generateContent',
    code: 'model_refused_request',
    retryable: false,
  },
]

/** Returns the recorded answer. A file that is only a body gets the status in its error, or the usual one of its kind. */
export function readRefusal(file: string): Refusal {
  const text = readFileSync(new URL(file, FIXTURES), 'utf8')
  if (!file.endsWith('.yml')) {
    const { error } = JSON.parse(text) as { error: { code: number | string } }
    const status = typeof error.code === 'number' ? error.code : 429
    return { status, headers: {}, body: Buffer.from(text) }
  }
  const { http_interactions } = parse(text, { customTags: [binary] }) as Cassette
  const answer = http_interactions.find(({ response }) => response.status.code >= 400)?.response
  if (!answer) throw new Error(`${file} has no refusal`)
  const headers = Object.fromEntries(
    Object.entries(answer.headers).flatMap(([name, [value]]) => (value === undefined ? [] : [[name, value]])),
  )
  return { status: answer.status.code, headers, body: Buffer.from(answer.body.string) }
}
