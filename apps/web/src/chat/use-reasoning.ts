import type { StreamingMessage } from '@countersign/client'
import { useRef } from 'react'

/** Returns the model's reasoning for each message received while this page was open. Stored messages do not include it. */
export function useReasoning(streaming: readonly StreamingMessage[]): ReadonlyMap<string, string> {
  const kept = useRef(new Map<string, string>())
  for (const { messageId, reasoning } of streaming) if (reasoning) kept.current.set(messageId, reasoning)
  return kept.current
}
