import type { Environment } from '../../packages/server/src/config/index.ts'
import type { RecordedApi } from '../../packages/server/src/models/testing/recordings.ts'

/** The doors to model providers, each with the API that it speaks. */
export const PROVIDERS: readonly { model: string; api: RecordedApi }[] = [
  { model: 'openai/m', api: 'openai-responses' },
  { model: 'openai-chat/m', api: 'openai-chat' },
  { model: 'anthropic/m', api: 'anthropic-messages' },
  { model: 'google/m', api: 'google-generateContent' },
  { model: 'openai-compatible/m', api: 'openai-chat' },
]

/** The variables that send every provider's requests to a stand-in. */
export const providerEnvironment = (baseUrl: string): Environment => ({
  OPENAI_API_KEY: 'key-of-a-test',
  OPENAI_BASE_URL: baseUrl,
  ANTHROPIC_API_KEY: 'key-of-a-test',
  ANTHROPIC_BASE_URL: baseUrl,
  GEMINI_API_KEY: 'key-of-a-test',
  GOOGLE_BASE_URL: baseUrl,
  OPENAI_COMPATIBLE_API_KEY: 'key-of-a-test',
  OPENAI_COMPATIBLE_BASE_URL: baseUrl,
})
