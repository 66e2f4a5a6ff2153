import type { ModelErrorCode } from '@countersign/core'
import { readRetryAfter as readHeader } from '@countersign/toolkit/internal'

/** The known parts of a refusal: the HTTP status, or the one in its body, and its text, including the body's. */
export interface Refusal {
  status?: number | undefined
  text: string
  /** Whether the provider's package considers it retryable. */
  retryable?: boolean | undefined
}

/** Longer bodies state their subject at the start. */
const MAX_READ_CHARACTERS = 20_000

// Providers have no common code for these. Each pattern matches answers that were recorded or are documented (classify.test.ts).
const CONTEXT_EXCEEDED =
  /context_length_exceeded|context[ _-](?:length|window|limit|size)|prompt (?:is )?too long|too many tokens|too_many_(?:prompt_)?tokens|input token count|input tokens exceed|tokens? exceeds? (?:the )?max|maximum (?:context|prompt) length|all messages is too long|request_too_large/i
const QUOTA_USED_UP = /insufficient_quota|credit balance|billing_(?:error|hard_limit)|insufficient balance|payment required|out of credits/i
const TOO_LARGE_FOR_THE_RATE = /request too large for .* (?:tokens per|tpm)/i
const RATE_LIMITED = /rate_limit|ratelimit|RESOURCE_EXHAUSTED|too many requests/i
const OVERLOADED = /overloaded|"status":\s*"UNAVAILABLE"|service_unavailable|engine_overloaded/i
const KEY_REFUSED = /api[ _]key|authentication_error|permission_error|invalid_api_key/i

/**
 * Returns the kind of failure of a provider's refusal. The text is matched before the status where providers use one status for several
 * failures: a conversation that is too long is a 400 or a 413, an exhausted quota a 429 or a 400.
 */
export function classify({ status, text, retryable }: Refusal): { code: ModelErrorCode; retryable: boolean } {
  const words = text.slice(0, MAX_READ_CHARACTERS)
  if (status === 401 || status === 403) return { code: 'model_refused_request', retryable: false }
  if (status === 402 || QUOTA_USED_UP.test(words)) return { code: 'model_rate_limited', retryable: false }
  // Groq sends this as a 413.
  if (TOO_LARGE_FOR_THE_RATE.test(words)) return { code: 'model_rate_limited', retryable: false }
  if (status === 429) return { code: 'model_rate_limited', retryable: retryable !== false }
  if (status === 413) return { code: 'model_context_exceeded', retryable: false }
  const isRefused = status === undefined || (status >= 400 && status < 500 && status !== 408)
  if (isRefused && KEY_REFUSED.test(words)) return { code: 'model_refused_request', retryable: false }
  if (isRefused && CONTEXT_EXCEEDED.test(words)) return { code: 'model_context_exceeded', retryable: false }
  if (status === 503 || status === 529 || (status === undefined && OVERLOADED.test(words))) {
    return { code: 'model_overloaded', retryable: true }
  }
  if (status === undefined) {
    if (RATE_LIMITED.test(words)) return { code: 'model_rate_limited', retryable: retryable ?? true }
    return { code: 'model_error', retryable: retryable ?? false }
  }
  if (status >= 500 || status === 408 || status === 409 || retryable) return { code: 'model_error', retryable: retryable ?? true }
  return { code: 'model_refused_request', retryable: false }
}

const SECONDS = /^\d+(?:\.\d+)?$/

/**
 * Returns how long the provider asks clients to wait: its `retry-after` (seconds or a date), `retry-after-ms`, or the delay in Gemini's
 * body. Undefined when it states none.
 */
export function readRetryAfter(headers: Readonly<Record<string, string>> | undefined, body: string, nowMs: number): number | undefined {
  const milliseconds = headers?.['retry-after-ms']
  // Azure sends 0 here beside a retry-after of a second.
  if (milliseconds !== undefined && SECONDS.test(milliseconds) && Number(milliseconds) > 0) return Math.ceil(Number(milliseconds))
  const asked = readHeader(headers ?? {}, nowMs)
  if (asked !== undefined) return asked
  const delay = /"retryDelay":\s*"(\d+(?:\.\d+)?)s"/.exec(body)?.[1]
  return delay === undefined ? undefined : Math.ceil(Number(delay) * 1000)
}
