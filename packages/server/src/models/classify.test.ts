import { expect, test } from 'vitest'
import { classify, readRetryAfter } from './classify.ts'

// Written by hand from the providers' documentation; recorded refusals are in refusals.test.ts.
const DOCUMENTED: [what: string, status: number | undefined, text: string, code: string, retryable: boolean][] = [
  ['Anthropic: overloaded', 529, '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}', 'model_overloaded', true],
  ['Anthropic: overloaded, in the stream', undefined, '{"type":"overloaded_error","message":"Overloaded"}', 'model_overloaded', true],
  ['Anthropic: rate limit, in the stream', undefined, '{"type":"rate_limit_error","message":"slow down"}', 'model_rate_limited', true],
  ['Anthropic: internal', 500, '{"error":{"type":"api_error","message":"Internal server error"}}', 'model_error', true],
  [
    'Anthropic: no credit',
    400,
    '{"error":{"type":"invalid_request_error","message":"Your credit balance is too low"}}',
    'model_rate_limited',
    false,
  ],
  [
    'Anthropic: too large',
    413,
    '{"error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}',
    'model_context_exceeded',
    false,
  ],
  [
    'Anthropic: with its answer too long',
    400,
    'input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000',
    'model_context_exceeded',
    false,
  ],
  [
    'Anthropic: may not',
    403,
    '{"error":{"type":"permission_error","message":"Your API key does not have permission"}}',
    'model_refused_request',
    false,
  ],
  ['Anthropic: no such model', 404, '{"error":{"type":"not_found_error","message":"model: claude-9"}}', 'model_refused_request', false],
  ['OpenAI: rate limit', 429, '{"error":{"code":"rate_limit_exceeded","message":"Rate limit reached"}}', 'model_rate_limited', true],
  [
    'OpenAI: quota used up',
    429,
    '{"error":{"code":"insufficient_quota","message":"You exceeded your current quota"}}',
    'model_rate_limited',
    false,
  ],
  [
    'OpenAI: more than a minute allows',
    429,
    'Request too large for gpt-5 in organization on tokens per min (TPM): Limit 30000',
    'model_rate_limited',
    false,
  ],
  ['OpenAI: busy', 503, '{"error":{"message":"The engine is currently overloaded, please try again later"}}', 'model_overloaded', true],
  ['OpenAI: context', 400, '{"error":{"code":"context_length_exceeded","message":"..."}}', 'model_context_exceeded', false],
  [
    'OpenAI: a wrong parameter',
    400,
    '{"error":{"message":"Unsupported parameter: temperature","param":"temperature"}}',
    'model_refused_request',
    false,
  ],
  [
    'Gemini: overloaded',
    503,
    '{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}',
    'model_overloaded',
    true,
  ],
  ['Gemini: too slow', 504, '{"error":{"code":504,"status":"DEADLINE_EXCEEDED"}}', 'model_error', true],
  [
    'Groq: more than a minute allows, as a 413',
    413,
    'Request too large for model `x` on tokens per minute (TPM): Limit 6000',
    'model_rate_limited',
    false,
  ],
  [
    'xAI: context',
    400,
    "This model's maximum prompt length is 131072 but the request contains 200000 tokens.",
    'model_context_exceeded',
    false,
  ],
  ['llama.cpp: context', 400, 'the request exceeds the available context size', 'model_context_exceeded', false],
  ['DeepSeek: no balance', 402, '{"error":{"message":"Insufficient Balance"}}', 'model_rate_limited', false],
  ['a gateway', 502, '<html>Bad Gateway</html>', 'model_error', true],
  ['no reason at all', undefined, 'something', 'model_error', false],
]

test.each(DOCUMENTED)('%s', (_, status, text, code, retryable) => {
  expect(classify({ status, text })).toEqual({ code, retryable })
})

test('what is said about the length of an answer or a parameter is not taken for a conversation that is too long', () => {
  for (const text of [
    'max_tokens is too large: 100000. This model supports at most 16384 completion tokens',
    'Invalid schema for function refund: context must be an object',
    'messages: text content blocks must be non-empty',
  ]) {
    expect(classify({ status: 400, text }).code, text).toBe('model_refused_request')
  }
})

test('how long a provider wants to be left alone is read from wherever it says so', () => {
  const now = Date.UTC(2026, 0, 1)
  expect(readRetryAfter({ 'retry-after': '2' }, '', now)).toBe(2_000)
  expect(readRetryAfter({ 'retry-after-ms': '250', 'retry-after': '1' }, '', now)).toBe(250)
  expect(readRetryAfter({ 'retry-after-ms': '0', 'retry-after': '1' }, '', now)).toBe(1_000)
  expect(readRetryAfter({ 'retry-after': new Date(now + 7_000).toUTCString() }, '', now)).toBe(7_000)
  expect(readRetryAfter({ 'retry-after': new Date(now - 7_000).toUTCString() }, '', now)).toBe(0)
  expect(readRetryAfter(undefined, '{"details":[{"retryDelay": "34.4s"}]}', now)).toBe(34_400)
  expect(readRetryAfter({ 'retry-after': 'soon' }, '{}', now)).toBeUndefined()
})
